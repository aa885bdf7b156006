// SPDX-License-Identifier: MIT
/// @file
/// @brief Arrays as NumPy's .npy files, version 1.0.
#pragma once

#include <incipit/core/matrix.hpp>
#include <incipit/io/npy_header.hpp>
#include <incipit/io/text.hpp>

#include <cstring>
#include <filesystem>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace incipit::inline INCIPIT_ABI {
namespace io {

/// @brief An array of any rank, row-major: what a .npy file holds.
template <NpyScalar T>
struct NpyArray {
  std::vector<std::size_t> shape;  ///< empty for a single number
  std::vector<T> values;           ///< row-major, as many as the product of `shape`

  /// @brief View as a matrix: leading dimensions become rows, the last one columns; rank 0 and 1 become one row.
  Eigen::Map<const Mat<T>> matrix() const {
    const std::size_t cols = shape.empty() ? 1 : shape.back();
    const std::size_t rows =
        shape.size() < 2 ? 1 : std::accumulate(shape.begin(), shape.end() - 1, std::size_t{1}, std::multiplies<>());
    return {values.data(), static_cast<Extent>(rows), static_cast<Extent>(cols)};
  }
};

/// @brief A dense row-major container with a shape, such as xt::xtensor or xt::xarray of row-major layout.
template <class A>
concept ShapedArray = NpyScalar<std::remove_cv_t<typename A::value_type>> && requires(const A& a) {
  { *a.data() } -> std::convertible_to<typename A::value_type>;
  a.shape().begin();
  requires static_cast<int>(A::static_layout) == 1;  // xt::layout_type::row_major
};

/// @brief Writes `values` with `shape`, row-major, as .npy 1.0.
/// @throws ShapeError unless the shape fits; IoError naming the path.
template <NpyScalar T>
void save_npy(const std::filesystem::path& path, std::span<const T> values, std::span<const std::size_t> shape) {
  require_size("values", values.size(),
               std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()));
  std::string bytes = detail::npy_header(detail::npy_descr<T>(), shape);
  const std::size_t at = bytes.size();
  bytes.resize(at + values.size_bytes());
  if (!values.empty()) std::memcpy(bytes.data() + at, values.data(), values.size_bytes());
  write_file(path, bytes);
}

/// @brief Writes a matrix as a (rows, cols) array; a compile-time vector as (size).
template <class Derived>
void save_npy(const std::filesystem::path& path, const Eigen::MatrixBase<Derived>& matrix) {
  using T = typename Derived::Scalar;
  const Mat<T> dense = matrix;
  const std::size_t rows = static_cast<std::size_t>(dense.rows()), cols = static_cast<std::size_t>(dense.cols());
  const std::vector<std::size_t> shape =
      Derived::IsVectorAtCompileTime ? std::vector{rows * cols} : std::vector{rows, cols};
  save_npy<T>(path, std::span<const T>(dense.data(), rows * cols), shape);
}

/// @brief Writes a row-major xtensor container of any rank.
template <ShapedArray A>
void save_npy(const std::filesystem::path& path, const A& array) {
  using T = std::remove_cv_t<typename A::value_type>;
  const std::vector<std::size_t> shape(array.shape().begin(), array.shape().end());
  save_npy<T>(path, std::span<const T>(array.data(), array.size()), shape);
}

/// @brief Reads a .npy file (version 1.0, 2.0 or 3.0, C order, native byte order, exactly the type T).
/// @throws IoError naming the path and what is wrong: no .npy file, another type or order, a malformed header, or data
/// that are shorter or longer than the shape says. Nothing is allocated on the word of the header alone.
template <NpyScalar T>
NpyArray<T> load_npy(const std::filesystem::path& path) {
  const std::string bytes = read_file(path), name = path.string();
  const detail::NpyHeader header = detail::parse_npy_header(bytes, name);
  require<IoError>(header.descr == detail::npy_descr<T>(), name + ": descr", header.descr, detail::npy_descr<T>());
  require<IoError>(!header.fortran_order, name + ": fortran_order", "True", "False");
  const std::size_t available = (bytes.size() - header.data_at) / sizeof(T);
  std::size_t count = 1;
  for (const std::size_t n : header.shape) count = n == 0 ? 0 : count;
  for (const std::size_t n : header.shape) {
    if (count == 0) break;
    require<IoError>(n <= available / count, name + ": shape", "more numbers than the file holds",
                     "at most " + std::to_string(available));
    count *= n;
  }
  require<IoError>(bytes.size() - header.data_at == count * sizeof(T), name + ": data",
                   std::to_string(bytes.size() - header.data_at) + " bytes",
                   std::to_string(count * sizeof(T)) + " bytes");
  NpyArray<T> out{header.shape, std::vector<T>(count)};
  if (count > 0) std::memcpy(out.values.data(), bytes.data() + header.data_at, count * sizeof(T));
  return out;
}

}  // namespace io
}  // namespace incipit::inline INCIPIT_ABI
