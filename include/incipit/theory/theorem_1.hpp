// SPDX-License-Identifier: MIT
/// @file
/// @brief Theorem 1 with its constants computed: the embedding of a reasoning anchor after a short training is a bump
/// over the labels plus noise; inner products, with explicit bounds.
#pragma once

#include <incipit/data/last_token.hpp>
#include <incipit/linalg/singular_values.hpp>
#include <incipit/theory/label_law.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace incipit::inline INCIPIT_ABI::theory {

/// Sizes of the one-layer transformer besides its vocabulary.
struct TransformerSizes {
  Extent width;   ///< m, also the label space
  Extent key;     ///< k, of queries, keys and values
  Extent hidden;  ///< f, of the feed-forward
};

/// @brief Which share of the samples moves a token: the factor C1 over the time.
enum class TokenShare {
  last,    ///< P(last = s), exact: the residual stream carries the last token
  average  ///< r_s / L, as published
};

/// @brief By how much inner products of trained embeddings may differ from those of the predicted rows.
struct InnerProductBound {
  double
      normal;    ///< \f$ |\langle A_s,A_t\rangle - \langle B_s,B_t\rangle| \f$: exact law against bump; no chance in it
  double noise;  ///< from the initial embedding and the prediction's own noise
  double weights;  ///< from \f$ W_f \f$ and \f$ W_{VO} \f$, which the theorem leaves out
  /// The whole bound.
  double total() const { return normal + noise + weights; }
};

/// @brief \f$ \tilde w_{s,j} = C_1 (C_2 e^{-(j-s-E S)^2/(2\sigma_P)} - \tfrac1m) + N(0, \sigma^2) \f$ for the
/// reasoning anchors after time t of gradient flow from a small initialization.
/// @details S = Z + A_2 + .. + A_q, \f$ \sigma_P = \mathrm{Var}\,S \f$ (a variance, as the exponent has it),
/// \f$ C_2 = (2\pi\sigma_P)^{-1/2} \f$, \f$ C_1 = t\,P(last=s) \f$ (as published \f$ t\,r_s/L \f$), \f$ \sigma =
/// D^{-\gamma} \f$, the scale of the embedding (the paper writes \f$ m^{-\gamma} \f$). `exact_row` has the exact law in
/// place of the bump. Statistics are those of the population, averaged over mappings.
/// @par Source A.12-A.14; constants ours, docs/derivations/theorem_1.md. @par Checked tests/theory/theorem_1_test.cpp
class Theorem1 {
 public:
  /// @throws those of AnchorTask::validate; InvalidArgument if the width is below D or t < 0.
  Theorem1(const AnchorTask& task, TransformerSizes sizes, double gamma, FlowTime t,
           TokenShare share = TokenShare::last)
      : task_(task),
        law_(data::expected_last_token_statistics(task, sizes.width)),
        companions_(companion_law(task)),
        sizes_(sizes),
        gamma_(gamma),
        time_(t.value),
        share_(share) {
    require(sizes.key >= 1, "sizes.key", sizes.key, "at least 1");
    require(sizes.hidden >= 1, "sizes.hidden", sizes.hidden, "at least 1");
    require_non_negative("gamma", gamma);
    require_non_negative("t", t.value);
  }

  /// C1 of a token: t times its share. @throws IndexError for an id outside the vocabulary.
  double c1(Id s) const {
    require<IndexError>(s >= 0 && s < law_.vocab(), "s", s, "a token");
    return time_ * (share_ == TokenShare::last ? law_.last[s] : law_.occurrences[s] / static_cast<double>(law_.length));
  }
  /// C2 = \f$ (2\pi\sigma_P)^{-1/2} \f$.
  double c2() const { return 1 / std::sqrt(2 * std::numbers::pi * sigma_p()); }
  /// \f$ \sigma_P = (N_Z^2-1)/12 + (q-1)(N_A^2-1)/12 \f$.
  double sigma_p() const {
    const double keys = static_cast<double>(task_.keys.size()), anchors = static_cast<double>(task_.reasoning.size());
    return (keys * keys - 1 + static_cast<double>(task_.q - 1) * (anchors * anchors - 1)) / 12;
  }
  /// By how much the bump of s is moved from s: \f$ E S = (z_{min}+z_{max})/2 + (q-1)(a_{min}+a_{max})/2 \f$.
  double shift() const {
    return (task_.keys.first + task_.keys.last) / 2.0 +
           static_cast<double>(task_.q - 1) * (task_.reasoning.first + task_.reasoning.last) / 2.0;
  }
  /// Standard deviation of the noise, \f$ D^{-\gamma} \f$.
  double noise() const { return std::pow(static_cast<double>(law_.vocab()), -gamma_); }
  /// The paper's, \f$ m^{-\gamma} \f$.
  double published_noise() const { return std::pow(static_cast<double>(sizes_.width), -gamma_); }

  /// The bump of a reasoning anchor without its noise, (1, m). @throws IndexError for another token.
  Row<double> normal_row(Id s) const {
    require<IndexError>(task_.reasoning.contains(s), "s", s, "a reasoning anchor, " + task_.reasoning.text());
    Row<double> row(sizes_.width);
    for (Extent j = 0; j < row.size(); ++j) {
      const double x = static_cast<double>(j - s) - shift();
      row[j] = c1(s) * (c2() * std::exp(-x * x / (2 * sigma_p())) - 1 / static_cast<double>(sizes_.width));
    }
    return row;
  }
  /// The exact law in its place, for every token: \f$ t\,P(last=s)\,(\hat P^s-u) \f$, (1, m).
  Row<double> exact_row(Id s) const {
    require<IndexError>(s >= 0 && s < law_.vocab(), "s", s, "a token");
    return time_ * law_.last_correlation.row(s);
  }
  /// Expected inner products of the bumps of all reasoning anchors, \f$ m\sigma^2 \f$ on the diagonal included.
  Mat<double> normal_inner_products() const {
    Mat<double> rows(task_.reasoning.size(), sizes_.width);
    for (Extent i = 0; i < rows.rows(); ++i) rows.row(i) = normal_row(task_.reasoning.first + static_cast<Id>(i));
    return with_noise(rows);
  }
  /// Expected inner products of trained embeddings from the exact law, for any tokens, the diagonal included.
  Mat<double> exact_inner_products(IdRange tokens) const {
    require<IndexError>(tokens.first >= 0 && tokens.last < law_.vocab() && tokens.size() >= 1, "tokens", tokens.text(),
                        "a range of tokens");
    return with_noise(time_ * law_.last_correlation.middleRows(tokens.first, tokens.size()));
  }
  /// Total variation between the law of S and the normal law of its moments, rounded to integers.
  double total_variation() const {
    return theory::total_variation(companions_, rounded_normal_law(companions_.mean(), companions_.variance()));
  }

  /// @brief Bound (13) with constants: how far inner products of training are from those of the bumps with their noise
  /// (s = t: both minus \f$ m\sigma^2 \f$), with probability at least 1 - delta.
  /// @details To leading order in the embedding, for one pair; divide delta by the number of pairs for all. With
  /// \f$ x = \ln(20/\delta),\ z = \sqrt{2x},\ \chi_n = n+2\sqrt{nx}+2x \f$, exact rows A, bumps B,
  /// \f$ \varphi = |act'(0)|\sqrt{\chi_f\chi_m}(mf)^{-\gamma},\ \kappa = \sqrt{\chi_k\chi_m}(mk)^{-\gamma} \f$ and
  /// \f$ e_s = |A_s|\varphi + t|\bar C_s|(1+\varphi)\kappa \f$: noise
  /// \f$ \sigma z(|A_s|+e_s+|A_t|+e_t+|B_s|+|B_t|) + 2\sigma^2 z\sqrt{\chi_m} \f$ (s = t: \f$ 2\sigma^2(\chi_m-m) \f$),
  /// weights \f$ e_s|A_t|+|A_s|e_t+e_se_t \f$.
  /// @param s a reasoning anchor. @param t another, or the same. @param delta chance of failure. @param slope0 act'(0).
  /// @throws IndexError unless both are reasoning anchors; InvalidArgument unless 0 < delta < 1.
  InnerProductBound bound(Id s, Id t, double delta, double slope0 = 1) const {
    return limits(s, t, normal_row(s), normal_row(t), delta, slope0);
  }
  /// @brief The same with the exact rows as the prediction, B = A: nothing is left of `normal`. For any two tokens.
  /// @throws those of bound.
  InnerProductBound exact_bound(Id s, Id t, double delta, double slope0 = 1) const {
    return limits(s, t, exact_row(s), exact_row(t), delta, slope0);
  }

  /// @brief What the prediction rests on: logits small at time t; a time before the other matrices grow, which is by
  /// \f$ e^x, x = \tfrac{t^2}2 \|\hat C\|_2 \max(\|\hat C\|_2, \|\bar C\|_2) \f$ at most (act'(0) up to 1); noise of
  /// the embedding small against the signal; a label law that is nearly normal; and a C1 that is the true share.
  std::vector<Assumption> assumptions() const {
    double largest = 0, signal = 0, frequency = 0;
    const double last = linalg::singular_values(law_.last_correlation, "last_correlation")[0],
                 average = linalg::singular_values(law_.average_correlation, "average_correlation")[0];
    for (Id s = task_.reasoning.first; s <= task_.reasoning.last; ++s) {
      largest = (std::max)(largest, exact_row(s).cwiseAbs().maxCoeff());
      signal = (std::max)(signal, exact_row(s).norm());
      frequency = (std::max)(frequency, std::abs(c1(s) - time_ * law_.last[s]) / (time_ * law_.last[s]));
    }
    return {{"logits stay small: max|t P(last=s) (P^s - u)|", largest, 0.1},
            {"the other matrices rest: t^2 |C_last| max(|C_last|, |C_average|) / 2",
             time_ * time_ * last * (std::max)(last, average) / 2, 0.5},
            {"noise of the embedding over the signal: sqrt(m) sigma / |A|",
             std::sqrt(static_cast<double>(sizes_.width)) * noise() / signal, 0.1},
            {"the label law is normal: total variation", total_variation(), 0.05},
            {"C1 is the share of the last position", time_ > 0 ? frequency : 0.0, 0.05}};
  }
  /// Statistics of the population behind the rows.
  const data::LastTokenStatistics& statistics() const { return law_; }

 private:
  InnerProductBound limits(Id s, Id t, const Row<double>& b_s, const Row<double>& b_t, double delta,
                           double slope0) const {
    require(delta > 0 && delta < 1, "delta", delta, "between 0 and 1");
    const double x = std::log(20 / delta), z = std::sqrt(2 * x), sigma = noise();
    const double m = static_cast<double>(sizes_.width), chi = spread(m, x);
    const double phi = std::abs(slope0) * product_norm(static_cast<double>(sizes_.hidden), x),
                 kappa = product_norm(static_cast<double>(sizes_.key), x);
    const auto left_out = [&](Id token) {
      return exact_row(token).norm() * phi + time_ * law_.average_correlation.row(token).norm() * (1 + phi) * kappa;
    };
    const double e_s = left_out(s), e_t = left_out(t), a_s = exact_row(s).norm(), a_t = exact_row(t).norm();
    return {std::abs(exact_row(s).dot(exact_row(t)) - b_s.dot(b_t)),
            sigma * z * (a_s + e_s + a_t + e_t + b_s.norm() + b_t.norm()) +
                2 * sigma * sigma * (s == t ? chi - m : z * std::sqrt(chi)),
            e_s * a_t + a_s * e_t + e_s * e_t};
  }
  /// Upper bound of a chi-square variable with n degrees of freedom, with probability 1 - exp(-x).
  static double spread(double n, double x) { return n + 2 * std::sqrt(n * x) + 2 * x; }
  /// Bound of |v A B| / |v| for a fixed v and A (m, n), B (n, m) of the initialization, with probability 1 - 2exp(-x).
  double product_norm(double n, double x) const {
    const double m = static_cast<double>(sizes_.width);
    return std::sqrt(spread(n, x) * spread(m, x)) * std::pow(m * n, -gamma_);
  }
  Mat<double> with_noise(const Mat<double>& rows) const {
    Mat<double> products = rows * rows.transpose();
    products.diagonal().array() += static_cast<double>(sizes_.width) * noise() * noise();
    return products;
  }

  AnchorTask task_;
  data::LastTokenStatistics law_;
  IntegerLaw companions_;
  TransformerSizes sizes_;
  double gamma_, time_;
  TokenShare share_;
};

/// @brief The instance that the paper plots, its constants as they stand: \f$ e^{-(i-s)^2/12} - \tfrac1m \f$ for
/// reasoning anchors, \f$ e^{-(i-s)^2/12} \f$ for keys, noise \f$ N(0, m^{-2\gamma}) \f$.
/// @details A picture, not the computed theorem: 12 stands where the moments give \f$ 2\sigma_P \f$ (1683 in the
/// paper's setting), nothing is shifted by E S, and the noise is not that of an embedding of D rows.
struct PaperInstance {
  Extent width;  ///< m
  double gamma;  ///< initialization rate
  /// The exponent's denominator.
  static constexpr double exponent = 12;

  /// Row of a key without noise, (1, m).
  Row<double> key(Id s) const {
    require(width >= 1, "width", width, "at least 1");
    Row<double> row(width);
    for (Extent i = 0; i < width; ++i) {
      const double x = static_cast<double>(i - s);
      row[i] = std::exp(-x * x / exponent);
    }
    return row;
  }
  /// Row of a reasoning anchor without noise, (1, m).
  Row<double> reasoning(Id s) const { return key(s).array() - 1 / static_cast<double>(width); }
  /// Standard deviation of the noise, \f$ m^{-\gamma} \f$.
  double noise() const { return std::pow(static_cast<double>(width), -gamma); }
};

}  // namespace incipit::inline INCIPIT_ABI::theory
