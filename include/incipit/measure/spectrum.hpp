// SPDX-License-Identifier: MIT
/// @file
/// @brief Norms, ranks and the concentration of a matrix, from its singular values.
#pragma once

#include <incipit/linalg/singular_values.hpp>
#include <incipit/measure/defined.hpp>

#include <cmath>

namespace incipit::inline INCIPIT_ABI::measure {

/// @brief What the singular values S_1 >= S_2 >= ... >= 0 of a matrix say about it.
struct Spectrum {
  double nuclear = 0;     ///< sum S
  double largest = 0;     ///< S_1
  double smallest = 0;    ///< S_n
  double frobenius = 0;   ///< sqrt(sum S^2)
  Defined<double> ratio;  ///< S_1 / sum S, in (0, 1]; 1 at rank one; 0 and undefined for the zero matrix
  Defined<double>
      effective_rank;           ///< exp(-sum p log p), p = S / sum S, 0 log 0 = 0; 0 and undefined for the zero matrix
  Defined<double> stable_rank;  ///< sum S^2 / S_1^2; 0 and undefined for the zero matrix
};

/// @brief Summary of singular values `s` (n), in any order; an empty spectrum counts as that of a zero matrix.
/// @throws InvalidArgument for a negative value, NonFiniteError for a NaN or an infinity, naming the index.
/// @par Source effective rank: Roy & Vetterli 2007; ratio: Li, Li, Zhou (ACL 2025).
template <class Derived>
Spectrum spectrum(const Eigen::MatrixBase<Derived>& s) {
  Spectrum out;
  linalg::require_ok(linalg::check_finite(s), "singular values");
  const Col<double> values = s.reshaped().template cast<double>();
  for (Extent i = 0; i < values.size(); ++i)
    require(values(i) >= 0, "singular value " + std::to_string(i), values(i), ">= 0");
  if (values.size() > 0) {
    out.largest = values.maxCoeff();
    out.smallest = values.minCoeff();
  }
  if (!(out.largest > 0)) {
    out.ratio = out.effective_rank = out.stable_rank = {0, false};
    return out;
  }
  const Col<double> scaled = values / out.largest;  // in [0, 1], so neither squares nor sums leave the range
  const double sum = scaled.sum(), squares = scaled.squaredNorm();
  out.nuclear = sum * out.largest;
  out.frobenius = std::sqrt(squares) * out.largest;
  out.ratio = {1 / sum, true};
  out.stable_rank = {squares, true};
  double entropy = 0;
  for (const double x : scaled)
    if (x > 0) entropy -= x / sum * std::log(x / sum);
  out.effective_rank = {std::exp(entropy), true};
  return out;
}

/// @brief Summary of the singular values of `a` (R, C).
/// @throws NonFiniteError naming the entry as `name(row,col)`. @par Cost that of linalg::singular_values.
template <class Derived>
Spectrum spectrum_of(const Eigen::MatrixBase<Derived>& a, std::string_view name = "matrix") {
  return spectrum(linalg::singular_values(a, name));
}

/// @brief |measured - reference|_F / |reference|_F; undefined (value 0) if the reference is zero and `measured` is not,
/// 0 if both are.
/// @throws ShapeError for different shapes; NonFiniteError naming the entry.
template <class A, class B>
Defined<double> relative_frobenius_error(const Eigen::MatrixBase<A>& measured, const Eigen::MatrixBase<B>& reference) {
  require_size("rows of measured", measured.rows(), reference.rows());
  require_size("columns of measured", measured.cols(), reference.cols());
  linalg::require_ok(linalg::check_finite(measured), "measured");
  linalg::require_ok(linalg::check_finite(reference), "reference");
  const Mat<double> want = reference.template cast<double>();
  const Mat<double> difference = measured.template cast<double>() - want;
  const double error = difference.stableNorm(), norm = want.stableNorm();
  if (norm > 0) return {error / norm, true};
  return {0, !(error > 0)};
}

}  // namespace incipit::inline INCIPIT_ABI::measure
