// SPDX-License-Identifier: MIT
/// @file
/// @brief Arrays of any rank: views between xtensor and Eigen without a copy, and functions of the last axis.
/// @details The only header that includes xtensor. Nothing here returns a lazy expression: an xtensor expression refers
/// to its operands, and those of a function are gone when it returns.
#pragma once

#include <incipit/core/matrix.hpp>
#include <incipit/core/numerics.hpp>

#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

// xtensor 0.26 moved its headers into folders.
#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>
#endif
#if XTENSOR_VERSION_MAJOR == 0 && XTENSOR_VERSION_MINOR < 24
#error "incipit needs xtensor 0.24 or later"
#endif

namespace incipit::inline INCIPIT_ABI::tensor {

/// Row-major array of rank N.
template <class T, std::size_t N>
using Array = xt::xtensor<T, N, xt::layout_type::row_major>;

/// Row-major array whose rank is known at run time.
template <class T>
using DynamicArray = xt::xarray<T, xt::layout_type::row_major>;

/// Row-major view of rank N on memory that belongs to somebody else.
template <class T, std::size_t N>
using View = xt::xtensor_adaptor<xt::xbuffer_adaptor<T*, xt::no_ownership, std::allocator<std::remove_const_t<T>>>, N,
                                 xt::layout_type::row_major>;

/// An xtensor container or view whose numbers lie contiguously in row-major order.
template <class A>
concept RowMajor = A::static_layout == xt::layout_type::row_major&& requires(A& a) {
  a.data();
  a.shape().size();
};

namespace detail {
/// Shape with the leading dimensions flattened: (rows, columns); a single number is (1, 1), rank one is one row.
template <class Shape>
std::pair<Extent, Extent> flattened(const Shape& shape) {
  Extent rows = 1, cols = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) (i + 1 < shape.size() ? rows : cols) *= static_cast<Extent>(shape[i]);
  return {rows, cols};
}
}  // namespace detail

/// @brief Eigen view of an array: leading dimensions become rows, the last one columns. No copy.
/// @details (A, B, C) is seen as (A B, C), rank one as one row. Valid as long as the array lives and keeps its shape.
template <RowMajor A>
Eigen::Map<const Mat<std::remove_cv_t<typename A::value_type>>> as_matrix(const A& array) {
  const auto [rows, cols] = detail::flattened(array.shape());
  return {array.data(), rows, cols};
}
/// @brief As above; writing to the view writes to the array.
template <RowMajor A>
requires(!std::is_const_v<std::remove_pointer_t<decltype(std::declval<A&>().data())>>)
    Eigen::Map<Mat<typename A::value_type>> as_matrix(A& array) {
  const auto [rows, cols] = detail::flattened(array.shape());
  return {array.data(), rows, cols};
}
/// A view of a temporary would dangle.
template <class A>
void as_matrix(const A&&) = delete;

/// @brief xtensor view of a row-major matrix under any shape of as many entries. No copy.
/// @throws ShapeError unless the shape has as many entries. Valid as long as the matrix lives and keeps its size.
template <class T, int R, int C, std::size_t N>
View<T, N> as_tensor(Eigen::Matrix<T, R, C, Eigen::RowMajor>& matrix, const std::array<std::size_t, N>& shape) {
  require_size("entries of shape", std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()),
               matrix.size());
  return xt::adapt(matrix.data(), static_cast<std::size_t>(matrix.size()), xt::no_ownership(), shape);
}
/// As above, read only.
template <class T, int R, int C, std::size_t N>
View<const T, N> as_tensor(const Eigen::Matrix<T, R, C, Eigen::RowMajor>& matrix,
                           const std::array<std::size_t, N>& shape) {
  require_size("entries of shape", std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()),
               matrix.size());
  return xt::adapt(matrix.data(), static_cast<std::size_t>(matrix.size()), xt::no_ownership(), shape);
}
/// A view of a temporary would dangle.
template <class T, int R, int C, std::size_t N>
void as_tensor(const Eigen::Matrix<T, R, C, Eigen::RowMajor>&&, const std::array<std::size_t, N>&) = delete;

/// @brief Rank-3 (and higher) overload of a function of rows: f maps (rows, C) to (rows, C'), leading dimensions are
/// kept.
/// @details `f` takes an Eigen view and returns a matrix. @throws ShapeError if it changes the number of rows.
template <class T, std::size_t N, class F>
requires(N >= 1) Array<T, N> map_rows(const Array<T, N>& x, F&& f) {
  const Eigen::Map<const Mat<T>> rows = as_matrix(x);
  const Mat<T> result = std::forward<F>(f)(rows);
  require_size("rows of the result", result.rows(), rows.rows());
  std::array<std::size_t, N> shape = x.shape();
  shape.back() = static_cast<std::size_t>(result.cols());
  Array<T, N> out(shape);
  as_matrix(out) = result;
  return out;
}

/// @brief log sum exp over the last axis, as a container of one rank less; `log_sum_exp(v)()` is the number for a
/// vector.
/// @details Any xtensor expression is evaluated once. Limits as in incipit::softmax_in_place.
/// @throws ShapeError for rank 0.
template <class E>
DynamicArray<std::remove_cv_t<typename E::value_type>> log_sum_exp(const xt::xexpression<E>& x) {
  using T = std::remove_cv_t<typename E::value_type>;
  DynamicArray<T> values = x.derived_cast();
  require<ShapeError>(values.dimension() >= 1, "rank of x", values.dimension(), ">= 1");
  std::vector<std::size_t> shape(values.shape().begin(), values.shape().end() - 1);
  DynamicArray<T> out(shape);
  auto rows = as_matrix(values);
  for (Extent i = 0; i < rows.rows(); ++i) out.data()[i] = softmax_in_place(rows.data() + i * rows.cols(), rows.cols());
  return out;
}

/// @brief Softmax over the last axis, as a container of the same shape. @see log_sum_exp
template <class E>
DynamicArray<std::remove_cv_t<typename E::value_type>> softmax(const xt::xexpression<E>& x) {
  DynamicArray<std::remove_cv_t<typename E::value_type>> values = x.derived_cast();
  require<ShapeError>(values.dimension() >= 1, "rank of x", values.dimension(), ">= 1");
  auto rows = as_matrix(values);
  for (Extent i = 0; i < rows.rows(); ++i) softmax_in_place(rows.data() + i * rows.cols(), rows.cols());
  return values;
}

}  // namespace incipit::inline INCIPIT_ABI::tensor
