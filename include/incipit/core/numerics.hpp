// SPDX-License-Identifier: MIT
/// @file
/// @brief log-sum-exp, softmax and log-softmax with their backwards, stable for every input.
#pragma once

#include <incipit/core/vector_math.hpp>

#include <limits>

namespace incipit::inline INCIPIT_ABI {

namespace detail {
/// @brief softmax_in_place of a row whose maximum is not finite; returns its log_sum_exp.
template <Real T>
T softmax_of_infinite_row(T* x, Extent n) {
  using Limits = std::numeric_limits<T>;
  Extent infinite = 0;
  bool nan = false;
  for (Extent i = 0; i < n; ++i) {
    nan = nan || is_nan(x[i]);
    if (is_infinite(x[i]) && T(0) < x[i]) ++infinite;
  }
  const T share = nan ? T(Limits::quiet_NaN()) : T(T(1) / T(static_cast<double>(infinite > 0 ? infinite : 1)));
  for (Extent i = 0; i < n; ++i) x[i] = nan || (is_infinite(x[i]) && T(0) < x[i]) ? share : T(0);
  return nan ? share : infinite > 0 ? T(Limits::infinity()) : T(-Limits::infinity());
}
template <class D>
using RowMajorCopy = Mat<typename D::Scalar, D::RowsAtCompileTime, D::ColsAtCompileTime>;
}  // namespace detail

/// @brief x <- softmax x over n entries in memory; returns log_sum_exp of x as it was: all that a cross entropy needs.
/// @par Forward with m = max x: log_sum_exp = m + log sum_j e^(x_j - m), softmax_i = e^(x_i - m) / sum_j e^(x_j - m).
/// @par Limits A row of only -inf (fully masked; also n = 0) has softmax 0 and log_sum_exp -inf. Of k entries +inf each
/// gets 1/k, all others 0, and log_sum_exp is +inf. A NaN makes the whole row NaN. Finite entries of any size are fine.
/// @par Cost n exponentials and 3 n products and sums, vectorised for float and double; allocates nothing.
template <Real T>
T softmax_in_place(T* x, Extent n) {
  if (n == 0) return T(-std::numeric_limits<T>::infinity());
  const T largest = VectorMath<T>::largest(x, n);
  if (!is_finite(largest)) [[unlikely]]
    return detail::softmax_of_infinite_row(x, n);
  const T sum = VectorMath<T>::exp_shifted_sum(x, n, largest);
  VectorMath<T>::scale(x, n, T(T(1) / sum));
  return T(largest + scalar::log(sum));
}

/// @brief log sum_j e^(x_j) of a row or column (1, n), stable; see softmax_in_place for its limits.
template <class D>
typename D::Scalar log_sum_exp(const Eigen::MatrixBase<D>& x) {
  static_assert(D::IsVectorAtCompileTime, "log_sum_exp takes one row; log_sum_exp_rows takes a matrix");
  detail::RowMajorCopy<D> copy = x;
  return softmax_in_place(copy.data(), copy.size());
}

/// @brief log_sum_exp of every row: (N, C) -> (N).
template <class D>
Col<typename D::Scalar, D::RowsAtCompileTime> log_sum_exp_rows(const Eigen::MatrixBase<D>& x) {
  detail::RowMajorCopy<D> copy = x;
  Col<typename D::Scalar, D::RowsAtCompileTime> result(copy.rows());
  for (Extent i = 0; i < copy.rows(); ++i) result(i) = softmax_in_place(copy.data() + i * copy.cols(), copy.cols());
  return result;
}

/// @brief softmax of every row: (N, C) -> (N, C); see softmax_in_place for its limits.
template <class D>
detail::RowMajorCopy<D> softmax(const Eigen::MatrixBase<D>& x) {
  detail::RowMajorCopy<D> p = x;
  for (Extent i = 0; i < p.rows(); ++i) softmax_in_place(p.data() + i * p.cols(), p.cols());
  return p;
}

/// @brief x - log_sum_exp(x) of every row: (N, C) -> (N, C).
/// @par Limits A row of only -inf stays -inf; of k entries +inf each becomes -log k, all others -inf; a NaN spreads.
template <class D>
detail::RowMajorCopy<D> log_softmax(const Eigen::MatrixBase<D>& x) {
  using T = typename D::Scalar;
  detail::RowMajorCopy<D> y = x, p = y;
  for (Extent i = 0; i < y.rows(); ++i) {
    const T total = softmax_in_place(p.data() + i * p.cols(), p.cols());
    for (Extent j = 0; j < y.cols(); ++j)
      y(i, j) = is_finite(total)  ? T(y(i, j) - total)
                : T(0) == p(i, j) ? T(-std::numeric_limits<T>::infinity())
                                  : scalar::log(T(p(i, j)));
  }
  return y;
}

/// @brief Backward of softmax, row by row: dx = p (dy - <p, dy>). p = softmax(x), dy, dx: (N, C).
/// @throws ShapeError unless p and dy have the same shape.
template <class P, class G>
detail::RowMajorCopy<P> softmax_backward(const Eigen::MatrixBase<P>& p, const Eigen::MatrixBase<G>& dy) {
  require_size("rows of dy", dy.rows(), p.rows());
  require_size("columns of dy", dy.cols(), p.cols());
  detail::RowMajorCopy<P> y = p, dx = dy;
  for (Extent i = 0; i < y.rows(); ++i) {
    const typename P::Scalar mean = y.row(i).dot(dx.row(i));
    dx.row(i) = (y.row(i).array() * (dx.row(i).array() - mean)).matrix();
  }
  return dx;
}

/// @brief Backward of log-softmax, row by row: dx = dy - p sum(dy). p = softmax(x), dy, dx: (N, C).
/// @throws ShapeError unless p and dy have the same shape.
template <class P, class G>
detail::RowMajorCopy<P> log_softmax_backward(const Eigen::MatrixBase<P>& p, const Eigen::MatrixBase<G>& dy) {
  require_size("rows of dy", dy.rows(), p.rows());
  require_size("columns of dy", dy.cols(), p.cols());
  detail::RowMajorCopy<P> y = p, dx = dy;
  for (Extent i = 0; i < y.rows(); ++i) {
    const typename P::Scalar total = dx.row(i).sum();
    dx.row(i) -= y.row(i) * total;
  }
  return dx;
}

}  // namespace incipit::inline INCIPIT_ABI
