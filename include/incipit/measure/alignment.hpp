// SPDX-License-Identifier: MIT
/// @file
/// @brief The leading mode of a weight matrix, and which rows it captures.
#pragma once

#include <incipit/linalg/singular_vectors.hpp>
#include <incipit/measure/cosine.hpp>
#include <incipit/measure/spectrum.hpp>

namespace incipit::inline INCIPIT_ABI::measure {

/// @brief S_1 / S_2 of descending singular values: how far the first mode stands above the rest.
/// @details Undefined if there is no second value or it is zero.
template <class Derived>
Defined<double> leading_ratio(const Eigen::MatrixBase<Derived>& values) {
  if (values.size() < 2 || !(values.coeff(1) > 0)) return {0, false};
  return {static_cast<double>(values.coeff(0)) / static_cast<double>(values.coeff(1)), true};
}

/// @brief The leading mode of a weight W (R, C) that maps rows x to x W: x along `input` becomes S_1 times `output`.
struct LeadingMode {
  Spectrum spectrum;      ///< of all singular values
  Defined<double> ratio;  ///< S_1 / S_2
  Row<double> input;      ///< (R), top left singular vector, |input| = 1, sign by canonical_sign
  Row<double> output;     ///< (C), top right singular vector: input W = S_1 output
};

/// @brief The leading mode of `w` (R, C), computed in double.
/// @details If S_1 = S_2 the mode is not unique: look at `ratio` first. That of the zero matrix means nothing.
/// @throws ShapeError for an empty matrix; NonFiniteError naming the entry. @par Cost that of linalg::singular_vectors.
template <class Derived>
LeadingMode leading_mode(const Eigen::MatrixBase<Derived>& w, std::string_view name = "matrix") {
  require<ShapeError>(w.size() > 0, name, w.size(), "a matrix with entries");
  const auto svd = linalg::singular_vectors(w.template cast<double>(), name);
  return {spectrum(svd.values), leading_ratio(svd.values), svd.left.col(0).transpose(), svd.right.col(0).transpose()};
}

/// @brief |cos(x_n, direction)| for every row of `x` (N, C), in [0, 1]; undefined where row or direction is zero.
/// @details Neither the sign of the direction nor any length matters.
/// @throws ShapeError unless the direction has C entries; NonFiniteError naming the entry. @par Cost 2 N C FLOPs.
template <class A, class B>
std::vector<Defined<double>> alignments(const Eigen::MatrixBase<A>& x, const Eigen::MatrixBase<B>& direction) {
  require_size("direction", direction.size(), x.cols());
  Row<double> unit = direction.reshaped().transpose().template cast<double>();
  const bool points = detail::normalize<double>(unit, "direction", 0);
  std::vector<Defined<double>> out(static_cast<std::size_t>(x.rows()), {0, false});
  for (Extent n = 0; n < x.rows(); ++n) {
    Row<double> row = x.row(n).template cast<double>();
    if (!detail::normalize<double>(row, "x", n) || !points) continue;
    out[static_cast<std::size_t>(n)] = {(std::min)(std::abs(row.dot(unit)), 1.0), true};
  }
  return out;
}

/// @brief Mean of |cos(x_s, direction)| over a group of rows s, such as the tokens of one kind in an embedding table.
/// @details Zero rows are skipped and counted. For a random direction in C dimensions the mean is about sqrt(2/(pi C)).
/// @throws IndexError naming a row outside [0, N); else as alignments.
template <class A, class B>
DefinedMean alignment(const Eigen::MatrixBase<A>& x, std::span<const Id> group, const Eigen::MatrixBase<B>& direction) {
  std::vector<Defined<double>> values;
  const auto all = alignments(x, direction);
  for (std::size_t i = 0; i < group.size(); ++i) {
    require<IndexError>(group[i] >= 0 && group[i] < x.rows(), "group", group[i], "a row of x");
    values.push_back(all[static_cast<std::size_t>(group[i])]);
  }
  return mean_defined(values);
}

}  // namespace incipit::inline INCIPIT_ABI::measure
