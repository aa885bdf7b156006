// SPDX-License-Identifier: MIT
/// @file
/// @brief Cosines between vectors, and what is read off a matrix of them.
#pragma once

#include <incipit/core/finite.hpp>
#include <incipit/measure/defined.hpp>

#include <algorithm>
#include <map>

namespace incipit::inline INCIPIT_ABI::measure {

namespace detail {
/// x / |x|, safe at any scale; false and x = 0 for the zero vector. Throws NonFiniteError for the row named.
template <Real T>
bool normalize(Eigen::Ref<Row<T>> x, std::string_view name, Extent row) {
  for (Extent j = 0; j < x.size(); ++j)
    if (!is_finite(x(j))) [[unlikely]]
      throw NonFiniteError(std::string(name) + "(" + std::to_string(row) + "," + std::to_string(j) + ")",
                           "a NaN or an infinity", "finite entries");
  const T largest = x.size() ? T(x.cwiseAbs().maxCoeff()) : T(0);
  if (!(largest > T(0))) return false;
  x /= largest;  // a plain norm would underflow or overflow when squared
  x /= x.norm();
  return true;
}
}  // namespace detail

/// @brief Cosine of the angle between two vectors, in [-1, 1]; 0 and undefined if one of them is zero.
/// @details Each vector is normalised first, so the result depends on direction only, however tiny or huge the entries.
/// @throws ShapeError for different lengths; NonFiniteError naming the entry.
template <class A, class B>
Defined<typename A::Scalar> cosine(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  using T = typename A::Scalar;
  require_size("b", b.size(), a.size());
  Row<T> x = a.reshaped().transpose(), y = b.reshaped().transpose();
  const bool has_a = detail::normalize<T>(x, "a", 0), has_b = detail::normalize<T>(y, "b", 0);
  if (!has_a || !has_b) return {T(0), false};
  return {(std::clamp)(T(x.dot(y)), T(-1), T(1)), true};
}

/// @brief Cosines between all pairs of rows.
template <Real T>
struct CosineMatrix {
  Mat<T> values;                  ///< (N, N), exactly symmetric, in [-1, 1]; 1 on the diagonal; 0 for zero rows
  std::vector<Extent> zero_rows;  ///< rows that are zero, whose cosines are undefined
};

/// @brief Cosines between all pairs of rows of `x` (N, C).
/// @throws NonFiniteError naming the entry as `name(row,col)`. @par Cost 2 N^2 C FLOPs.
template <class Derived>
CosineMatrix<typename Derived::Scalar> cosine_matrix(const Eigen::MatrixBase<Derived>& x,
                                                     std::string_view name = "matrix") {
  using T = typename Derived::Scalar;
  Mat<T> unit = x;
  CosineMatrix<T> out;
  for (Extent i = 0; i < unit.rows(); ++i)
    if (!detail::normalize<T>(unit.row(i), name, i)) out.zero_rows.push_back(i);
  const Extent n = unit.rows();
  out.values.noalias() = unit * unit.transpose();
  out.values = out.values.cwiseMax(T(-1)).cwiseMin(T(1)).eval();
  out.values.template triangularView<Eigen::StrictlyUpper>() = out.values.transpose().eval();
  out.values.diagonal().setOnes();
  for (const Extent i : out.zero_rows) out.values(i, i) = T(0);
  if (n == 0) out.values.resize(0, 0);
  return out;
}

/// @brief One point of a profile: pairs at one distance.
struct ProfilePoint {
  Extent distance;  ///< |s - t| of the pairs
  double mean;      ///< mean cosine
  Extent count;     ///< number of unordered pairs
};

/// @brief Mean of a symmetric matrix by the distance |s - t| of the tokens that its rows stand for.
/// @param cosines (N, N); only the upper triangle is read, the diagonal is left out.
/// @param tokens (N), the token of each row; empty means 0 .. N-1.
/// @return one point for each distance that occurs, ascending.
/// @throws ShapeError unless square and `tokens` fits.
template <class Derived>
std::vector<ProfilePoint> distance_profile(const Eigen::MatrixBase<Derived>& cosines, std::span<const Id> tokens = {}) {
  const Extent n = cosines.rows();
  require_size("columns of cosines", cosines.cols(), n);
  if (!tokens.empty()) require_size("tokens", tokens.size(), n);
  const auto token = [&](Extent i) { return tokens.empty() ? i : Extent{tokens[static_cast<std::size_t>(i)]}; };
  std::map<Extent, ProfilePoint> at;
  for (Extent i = 0; i < n; ++i)
    for (Extent j = i + 1; j < n; ++j) {
      const Extent distance = token(i) < token(j) ? token(j) - token(i) : token(i) - token(j);
      auto& point = at.try_emplace(distance, ProfilePoint{distance, 0, 0}).first->second;
      point.mean += static_cast<double>(cosines.coeff(i, j));
      ++point.count;
    }
  std::vector<ProfilePoint> out;
  for (auto& [distance, point] : at) {
    point.mean /= static_cast<double>(point.count);
    out.push_back(point);
  }
  return out;
}

/// @brief Entries above the diagonal of a square matrix, row by row: (N (N-1) / 2).
template <class Derived>
Row<double> off_diagonal(const Eigen::MatrixBase<Derived>& a) {
  const Extent n = a.rows();
  require_size("columns", a.cols(), n);
  Row<double> out(n * (n - 1) / 2);
  for (Extent i = 0, at = 0; i < n; ++i)
    for (Extent j = i + 1; j < n; ++j) out(at++) = static_cast<double>(a.coeff(i, j));
  return out;
}

/// @brief Pearson correlation of the off-diagonal entries of two symmetric matrices (N, N).
/// @details Undefined if there are fewer than two pairs or if one matrix is constant off its diagonal (to rounding).
/// @throws ShapeError when the sizes differ.
template <class A, class B>
Defined<double> off_diagonal_correlation(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  require_size("rows of b", b.rows(), a.rows());
  Row<double> x = off_diagonal(a), y = off_diagonal(b);
  if (x.size() < 2) return {0, false};
  const double scale_x = x.cwiseAbs().maxCoeff(), scale_y = y.cwiseAbs().maxCoeff();
  x.array() -= x.mean();
  y.array() -= y.mean();
  const double rounding = 16 * Eigen::NumTraits<double>::epsilon();
  if (!(x.cwiseAbs().maxCoeff() > rounding * scale_x) || !(y.cwiseAbs().maxCoeff() > rounding * scale_y))
    return {0, false};
  return cosine(x, y);
}

/// @brief Mean |a_ij - b_ij| over the pairs i < j; undefined if there are none.
/// @throws ShapeError when the sizes differ.
template <class A, class B>
Defined<double> off_diagonal_mean_error(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  require_size("rows of b", b.rows(), a.rows());
  const Row<double> x = off_diagonal(a), y = off_diagonal(b);
  if (x.size() == 0) return {0, false};
  return {(x - y).cwiseAbs().mean(), true};
}

/// @brief Mean of the entries above the diagonal (the mean pairwise cosine); undefined if there are none.
template <class Derived>
Defined<double> off_diagonal_mean(const Eigen::MatrixBase<Derived>& a) {
  const Row<double> x = off_diagonal(a);
  if (x.size() == 0) return {0, false};
  return {x.mean(), true};
}

}  // namespace incipit::inline INCIPIT_ABI::measure
