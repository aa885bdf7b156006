// SPDX-License-Identifier: MIT
/// @file
/// @brief Directions in which Adam first moves embeddings: signs of Gaussian rows, hence an arcsine of cosines.
#pragma once

#include <incipit/theory/assumption.hpp>
#include <incipit/theory/row_cosines.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace incipit::inline INCIPIT_ABI::theory {

/// @brief Cosines between embedding displacements of different tokens while Adam's gradients keep their signs.
/// @details Each entry then moves by the learning rate times \f$ -\mathrm{sign} \f$ of its gradient, so \f$ dw_s \f$
/// points along \f$ \mathrm{sign}(C_s W_2^T W_1^T) \f$. Over a Gaussian W_1 the rows are jointly Gaussian, entry by
/// entry independent, and \f$ \cos(dw_s, dw_t) \to \tfrac2\pi \arcsin\cos(C_s W_2^T, C_t W_2^T) \f$ as m grows.
/// @par Shapes rows: (n, D), the rows of C of the tokens compared; hidden: (m, f); output: (f, D); results: (n, n).
/// @par Source ours, docs/derivations/arcsine_law.md; \f$ C_s W_2^T W_1^T \f$ is Proposition 1 of the paper.
class ArcsineLaw {
 public:
  /// @throws ShapeError if shapes do not chain; InvalidArgument if a row is zero.
  ArcsineLaw(Mat<double> rows, In<Mat<double>> hidden, In<Mat<double>> output) : rows_(std::move(rows)) {
    require_size("output.cols()", output.cols(), rows_.cols());
    require_size("output.rows()", output.rows(), hidden.cols());
    require<ShapeError>(rows_.rows() >= 1 && hidden.size() >= 1, "rows, hidden", rows_.rows(), "at least one token and one weight");
    m_ = static_cast<double>(hidden.rows());
    f_ = static_cast<double>(hidden.cols());
    const Mat<double> pulls = rows_ * output.transpose();
    gradient_ = pulls * hidden.transpose();
    plain_ = row_cosines(pulls);
    wide_plain_ = row_cosines(rows_);
  }

  /// The law given W_2: \f$ \tfrac2\pi\arcsin\cos(C_s W_2^T, C_t W_2^T) \f$.
  Mat<double> cosines() const { return arcsine(plain_); }
  /// The law of wide f: \f$ \tfrac2\pi\arcsin\cos(P^s-u, P^t-u) \f$, from the data alone.
  Mat<double> wide_cosines() const { return arcsine(wide_plain_); }
  /// What the gradient flow would do, for comparison: \f$ \cos(C_s W_2^T, C_t W_2^T) \f$, no arcsine.
  Mat<double> plain_cosines() const { return plain_; }
  /// The same for wide f: \f$ \cos(P^s-u, P^t-u) \f$.
  Mat<double> wide_plain_cosines() const { return wide_plain_; }
  /// Given W_1 as well, exact: cosines of the rows of \f$ \mathrm{sign}(C W_2^T W_1^T) \f$.
  Mat<double> sign_cosines() const {
    const Mat<double> signs = gradient_.unaryExpr([](double g) { return static_cast<double>((g > 0) - (g < 0)); });
    return row_cosines(signs);
  }

  /// Standard deviation of each cosine over W_1 given W_2: \f$ \sqrt{(1-c^2)/m} \f$, c from cosines().
  Mat<double> deviation() const { return ((1 - cosines().array().square()) / m_).cwiseMax(0.0).sqrt(); }
  /// Standard deviation around wide_cosines() over both, to leading order:
  /// \f$ \sqrt{(1-c^2)/m + (4/\pi^2)(1-\cos^2)/f} \f$.
  Mat<double> wide_deviation() const {
    const double k = 4 / (std::numbers::pi * std::numbers::pi);
    return ((1 - wide_cosines().array().square()) / m_ + k * (1 - wide_plain_.array().square()) / f_)
        .cwiseMax(0.0)
        .sqrt();
  }
  /// Bound of the rms error over pairs: \f$ 2\sqrt{1/m + 1/f} \f$, twice the largest deviation possible.
  double bound() const { return 2 * std::sqrt(1 / m_ + 1 / f_); }

  /// @brief Adam divides by |gradient| + eps, so eps must be far below the gradients.
  /// @param eps Adam's epsilon. @param slope0 act'(0), a factor of the gradient. @throws InvalidArgument if eps < 0.
  std::vector<Assumption> assumptions(double eps, double slope0 = 1) const {
    require(eps >= 0, "eps", eps, "at least 0");
    std::vector<double> sizes(static_cast<std::size_t>(gradient_.size()));
    std::transform(gradient_.data(), gradient_.data() + gradient_.size(), sizes.begin(),
                   [slope0](double g) { return std::abs(slope0 * g); });
    const auto below = std::count_if(sizes.begin(), sizes.end(), [eps](double g) { return g < eps; });
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    return {{"eps over the median |gradient|", eps / *middle, 0.01},
            {"share of |gradient| entries below eps", static_cast<double>(below) / static_cast<double>(sizes.size()),
             0.01}};
  }

 private:
  static Mat<double> arcsine(const Mat<double>& c) { return c.array().asin() * (2 / std::numbers::pi); }
  Mat<double> rows_, gradient_, plain_, wide_plain_;
  double m_ = 0, f_ = 0;
};

}  // namespace incipit::inline INCIPIT_ABI::theory
