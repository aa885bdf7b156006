// SPDX-License-Identifier: MIT
/// @file
/// @brief Cutting a product into blocks, and copying A and B into the layouts that the kernel of core/gemm.hpp reads.
#pragma once

#include <incipit/core/gemm_kernel.hpp>

#include <algorithm>

namespace incipit::inline INCIPIT_ABI::detail {

/// How B (inner, cols) is cut: the inner extent into `blocks` equal blocks of at most Tile::depth rows, the columns
/// into panels of two vectors (the last one may have a single vector), except that up to three columns beyond whole
/// vectors are left `thin`: they are dotted with the rows of A, so that 161 columns cost 10.1 vectors and not 11.
/// Packed, block q holds its panels one after the other, and its thin columns follow all panels.
template <class T>
struct GemmPlan {
  using S = Simd<T>;
  static constexpr Extent most_thin = 3;
  Extent inner, cols, blocks, depth, thin, vectors;

  GemmPlan(Extent inner_extent, Extent columns) : inner(inner_extent), cols(columns) {
    blocks = (std::max)(Extent{1}, (inner + Tile<T>::depth - 1) / Tile<T>::depth);
    depth = (inner + blocks - 1) / blocks;
    thin = cols % S::lanes <= most_thin ? cols % S::lanes : 0;
    vectors = (cols - thin + S::lanes - 1) / S::lanes;
  }
  /// First row of block q (inner if there is none).
  Extent begin(Extent q) const { return (std::min)(q * depth, inner); }
  /// Columns of the panels, padding included.
  Extent width() const { return vectors * S::lanes; }
  /// Length of one thin column in one block, padding included.
  Extent thin_depth() const { return (depth + S::lanes - 1) / S::lanes * S::lanes; }
  /// Elements of B when packed as a whole.
  Extent size() const { return inner * width() + blocks * thin * thin_depth(); }
  /// Vectors (an even number) whose panels stay together in the second-level cache.
  Extent group() const {
    constexpr Extent cache = Extent{384} * 1024;
    return (std::max)(Extent{2}, cache / ((std::max)(depth, Extent{1}) * S::bytes) / 2 * 2);
  }
};

/// Transposes `cols` <= lanes contiguous columns of length `depth`, `stride` apart, into rows `width` apart; missing
/// columns become zeros.
template <class T>
void pack_transposed_vector(const T* from, Extent stride, Extent cols, Extent depth, T* to, Extent width) {
  using S = Simd<T>;
  constexpr int lanes = static_cast<int>(S::lanes);
  constexpr auto sequence = std::make_integer_sequence<int, lanes>{};
  for (Extent k = 0; k < depth; k += lanes) {
    const Extent some = (std::min)(S::lanes, depth - k);
    typename S::Vec rows[static_cast<std::size_t>(lanes)] = {};
    if (cols == lanes && some == lanes) {
#pragma GCC unroll 16
      for (int j = 0; j < lanes; ++j) rows[j] = S::load(from + j * stride + k);
    } else {
      for (Extent j = 0; j < cols; ++j)
        rows[j] = some == lanes ? S::load(from + j * stride + k) : S::load_few(from + j * stride + k, some);
    }
    if constexpr (lanes > 8) exchange_blocks<8, T>(rows, sequence);
    if constexpr (lanes > 4) exchange_blocks<4, T>(rows, sequence);
    if constexpr (lanes > 2) exchange_blocks<2, T>(rows, sequence);
    exchange_blocks<1, T>(rows, sequence);
    if (some == lanes) {
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i) S::store(to + (k + i) * width, rows[i]);
    } else {
      for (Extent i = 0; i < some; ++i) S::store(to + (k + i) * width, rows[i]);
    }
  }
}

/// Panels of the columns [first, first + vectors * lanes) of rows [begin, begin + depth) of B, at `to`.
template <class T>
void pack_panels(const MatrixView<const T>& b, const GemmPlan<T>& plan, Extent begin, Extent depth, Extent first,
                 Extent vectors, T* to) {
  using S = Simd<T>;
  const Extent cols = plan.cols - plan.thin;
  for (Extent v = 0; v < vectors; v += 2) {
    const Extent wide = (std::min)(Extent{2}, vectors - v), width = wide * S::lanes;
    const Extent col = (first + v) * S::lanes, some = (std::min)(width, cols - col);
    const T* from = b.data + begin * b.row_stride + col * b.col_stride;
    if (b.col_stride == 1 && some == 2 * S::lanes) {
      for (Extent k = 0; k < depth; ++k, from += b.row_stride, to += width) {
        S::store(to, S::load(from));
        S::store(to + S::lanes, S::load(from + S::lanes));
      }
    } else if (b.col_stride == 1) {
      const Extent last = some - (wide - 1) * S::lanes;
      for (Extent k = 0; k < depth; ++k, from += b.row_stride, to += width) {
        if (wide == 2) S::store(to, S::load(from));
        const Extent at = (wide - 1) * S::lanes;
        S::store(to + at, last == S::lanes ? S::load(from + at) : S::load_few(from + at, last));
      }
    } else if (b.row_stride == 1) {
      for (Extent j = 0; j < some; j += S::lanes)
        pack_transposed_vector(from + j * b.col_stride, b.col_stride, (std::min)(S::lanes, some - j), depth, to + j,
                               width);
      to += depth * width;
    } else {
      for (Extent j = 0; j < some; ++j)
        for (Extent k = 0; k < depth; ++k) to[k * width + j] = from[k * b.row_stride + j * b.col_stride];
      for (Extent k = 0; k < depth; ++k) std::fill(to + k * width + some, to + (k + 1) * width, T(0));
      to += depth * width;
    }
  }
}

/// The thin columns of rows [begin, begin + depth) of B, each contiguous and zero padded, at `to`.
template <class T>
void pack_thin(const MatrixView<const T>& b, const GemmPlan<T>& plan, Extent begin, Extent depth, T* to) {
  for (Extent j = plan.cols - plan.thin; j < plan.cols; ++j, to += plan.thin_depth()) {
    for (Extent k = 0; k < depth; ++k) to[k] = b(begin + k, j);
    std::fill(to + depth, to + plan.thin_depth(), T(0));
  }
}

/// Rows [row, row + rows) and columns [begin, begin + depth) of A, whose rows are contiguous or general, into a Tile.
template <class T>
const T* pack_tile(const MatrixView<const T>& a, Extent row, Extent rows, Extent begin, Extent depth, T* to) {
  using S = Simd<T>;
  using A = Tile<T>;
  const T* from = a.data + row * a.row_stride + begin * a.col_stride;
  for (Extent i = 0; i < rows; ++i, from += a.row_stride) {
    T* line = to + i * A::row_stride;
    if (a.col_stride == 1) {
      Extent k = 0;
      for (; k + S::lanes <= depth; k += S::lanes) S::store(line + k, S::load(from + k));
      if (k < depth) S::store(line + k, S::load_few(from + k, depth - k));
    } else {
      for (Extent k = 0; k < depth; ++k) line[k] = from[k * a.col_stride];
      std::fill(line + depth, line + (depth + S::lanes - 1) / S::lanes * S::lanes, T(0));
    }
  }
  return to;
}

/// The same for A with contiguous columns; returns where the tile's first element came to lie.
template <class T>
const T* pack_tile_transposed(const MatrixView<const T>& a, Extent row, Extent rows, Extent begin, Extent depth,
                              T* to) {
  using S = Simd<T>;
  constexpr Extent height = Tile<T, true>::height;
  if (a.rows < height) {
    for (Extent k = 0; k < depth; ++k) {
      const T* from = a.data + row + (begin + k) * a.col_stride;
      for (Extent i = 0; i < rows; ++i) to[k * height + i] = from[i];
    }
    return to;
  }
  // A whole number of vectors is copied; near the lower edge of A they begin above the tile.
  const Extent start = (std::min)(row, a.rows - height);
  const T* from = a.data + start + begin * a.col_stride;
  for (Extent k = 0; k < depth; ++k, from += a.col_stride)
    for (Extent v = 0; v < height; v += S::lanes) S::store(to + k * height + v, S::load(from + v));
  return to + (row - start);
}

}  // namespace incipit::inline INCIPIT_ABI::detail
