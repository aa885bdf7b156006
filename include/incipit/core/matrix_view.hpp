// SPDX-License-Identifier: MIT
/// @file
/// @brief A strided view of a matrix: what products take, so that no argument is ever copied.
#pragma once

#include <incipit/core/matrix.hpp>

#include <functional>

namespace incipit::inline INCIPIT_ABI {

/// @brief An Eigen object that lies in memory: a matrix, Map, Ref, Slot, block, row, column or transpose of such.
template <class D>
concept DirectMatrix = requires(const std::remove_cvref_t<D>& m) {
  typename std::remove_cvref_t<D>::Scalar;
  { m.data() } -> std::convertible_to<const typename std::remove_cvref_t<D>::Scalar*>;
  { m.rowStride() } -> std::convertible_to<Extent>;
  { m.colStride() } -> std::convertible_to<Extent>;
};

/// @brief `rows` x `cols` numbers, element (i, j) at `data[i * row_stride + j * col_stride]`; owns nothing.
/// @details Made implicitly from any DirectMatrix, of static or dynamic size and either storage order, without a copy.
/// `T` is const for a matrix that is only read. A lazy expression does not convert: evaluate it first.
/// @throws InvalidArgument for a negative stride, ShapeError for a negative size.
template <class T>
struct MatrixView {
  T* data = nullptr;      ///< element (0, 0)
  Extent rows = 0;        ///< number of rows
  Extent cols = 0;        ///< number of columns
  Extent row_stride = 0;  ///< elements from one row to the next
  Extent col_stride = 1;  ///< elements from one column to the next

  /// The empty matrix.
  MatrixView() = default;
  /// A view of raw memory.
  MatrixView(T* first, Extent row_count, Extent col_count, Extent from_row_to_row, Extent from_col_to_col = 1)
      : data(first), rows(row_count), cols(col_count), row_stride(from_row_to_row), col_stride(from_col_to_col) {
    require<ShapeError>(rows >= 0, "rows", rows, ">= 0");
    require<ShapeError>(cols >= 0, "cols", cols, ">= 0");
    require(row_stride >= 0, "row_stride", row_stride, ">= 0");
    require(col_stride >= 0, "col_stride", col_stride, ">= 0");
  }
  // NOLINTBEGIN(google-explicit-constructor,bugprone-forwarding-reference-overload): views are made in passing
  /// The view of an Eigen object in memory.
  template <DirectMatrix D>
  requires std::convertible_to<decltype(std::declval<D&>().data()), T*> MatrixView(D&& m)
      : MatrixView(m.data(), m.rows(), m.cols(), m.rowStride(), m.colStride()) {}
  /// A read-only view of the same memory.
  operator MatrixView<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, cols, row_stride, col_stride};
  }
  // NOLINTEND(google-explicit-constructor,bugprone-forwarding-reference-overload)

  /// Element (i, j).
  T& operator()(Extent i, Extent j) const { return data[i * row_stride + j * col_stride]; }
  /// The same memory, seen as the transpose.
  MatrixView transposed() const { return {data, cols, rows, col_stride, row_stride}; }
  /// True if there is no element.
  bool empty() const { return rows == 0 || cols == 0; }
  /// One past the last element in memory.
  T* end() const { return empty() ? data : data + (rows - 1) * row_stride + (cols - 1) * col_stride + 1; }
};

/// @brief True if two views may share an element.
/// @details Exact for two blocks of one row-major (or one column-major) matrix, so the left and the right half of a
/// matrix do not overlap; otherwise the ranges of memory are compared. @par Cost O(1).
template <class T, class U>
bool may_overlap(const MatrixView<T>& x, const MatrixView<U>& y) {
  const std::less<const void*> before;
  if (x.empty() || y.empty() || !before(x.data, y.end()) || !before(y.data, x.end())) return false;
  if (x.row_stride != y.row_stride || x.col_stride != y.col_stride) return true;
  const bool row_major = x.col_stride == 1;
  if (!row_major && x.row_stride != 1) return true;
  const Extent line = row_major ? x.row_stride : x.col_stride;
  const Extent x_width = row_major ? x.cols : x.rows, y_width = row_major ? y.cols : y.rows;
  if (x_width > line || y_width > line) return true;
  const Extent offset = static_cast<Extent>(y.data - x.data), shift = ((offset % line) + line) % line;
  return shift < x_width || shift + y_width > line;
}

}  // namespace incipit::inline INCIPIT_ABI
