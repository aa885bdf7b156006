// SPDX-License-Identifier: MIT
/// @file
/// @brief Matrix products: the one seam through which every hot path multiplies.
#pragma once

#include <incipit/core/arena.hpp>
#include <incipit/core/gemm_pack.hpp>

namespace incipit::inline INCIPIT_ABI {

/// Whether a product replaces its output or is added to it.
enum class Accumulate { no, yes };

/// @brief The scratch memory of products; one per thread, reused by all of them.
/// @details Grows to what the largest product needs, at most about 400 KiB, and never shrinks.
template <Real T>
class GemmWorkspace {
 public:
  /// Empty; grows on first use.
  GemmWorkspace() = default;
  /// Makes room for every product with this inner and outer extent, so that the first one does not allocate either.
  void reserve(Extent inner, Extent cols) {
    if constexpr (detail::has_gemm_kernel<T>) {
      const detail::GemmPlan<T> plan(inner, cols);
      tile();
      panels(plan.depth * (std::min)(plan.group(), plan.vectors) * detail::Simd<T>::lanes);
      thin(plan.thin * plan.thin_depth());
    }
  }
  /// Room for one tile of the left operand.
  T* tile() {
    using namespace detail;
    return grown(tile_, (std::max)(Tile<T, false>::size, Tile<T, true>::size));
  }
  /// Room for `size` elements of panels of the right operand.
  T* panels(Extent size) { return grown(panels_, size); }
  /// Room for `size` elements of thin columns of the right operand.
  T* thin(Extent size) { return grown(thin_, size); }

 private:
  static T* grown(AlignedBuffer<T>& buffer, Extent size) {
    if (static_cast<Extent>(buffer.size()) < size) buffer.resize(static_cast<std::size_t>(size));
    return buffer.data();
  }
  AlignedBuffer<T> tile_, panels_, thin_;
};

/// @brief A right operand B (inner, cols), packed once for many products with the same B.
/// @details Row chunks of one left operand give the same bits as the whole: an element of C depends on its row of A and
/// on B only. Packing again into the same object allocates only when B has grown.
template <Real T>
class PackedB {
 public:
  /// Empty: (0, 0).
  PackedB() = default;
  /// Packs B (inner, cols).
  explicit PackedB(std::type_identity_t<MatrixView<const T>> b) { pack(b); }
  /// Packs B (inner, cols), forgetting what was there. @par Cost one pass over B.
  void pack(std::type_identity_t<MatrixView<const T>> b) {
    inner_ = b.rows;
    cols_ = b.cols;
    if (b.empty()) return;
    if constexpr (detail::has_gemm_kernel<T>) {
      const detail::GemmPlan<T> plan(inner_, cols_);
      reserve(plan.size());
      for (Extent q = 0; q < plan.blocks; ++q) {
        const Extent begin = plan.begin(q), depth = plan.begin(q + 1) - begin;
        detail::pack_panels(b, plan, begin, depth, 0, plan.vectors, memory_.data() + begin * plan.width());
        detail::pack_thin(b, plan, begin, depth, memory_.data() + thin_at(plan, q));
      }
    } else {
      reserve(inner_ * cols_);
      for (Extent k = 0; k < inner_; ++k)
        for (Extent j = 0; j < cols_; ++j) memory_[static_cast<std::size_t>(k * cols_ + j)] = b(k, j);
    }
  }
  /// Packs the transpose of B (cols, inner).
  void pack_transposed(std::type_identity_t<MatrixView<const T>> b) { pack(b.transposed()); }
  /// Rows of B.
  Extent rows() const { return inner_; }
  /// Columns of B.
  Extent cols() const { return cols_; }
  /// Start of the panels of block q (row-major B for scalars without a kernel).
  const T* panels(const detail::GemmPlan<T>& plan, Extent q) const requires detail::has_gemm_kernel<T> {
    return memory_.data() + plan.begin(q) * plan.width();
  }
  /// Start of the thin columns of block q.
  const T* thin(const detail::GemmPlan<T>& plan, Extent q) const requires detail::has_gemm_kernel<T> {
    return memory_.data() + thin_at(plan, q);
  }
  /// B as a plain matrix, for scalars without a kernel.
  MatrixView<const T> plain() const requires(!detail::has_gemm_kernel<T>) {
    return {memory_.data(), inner_, cols_, cols_};
  }

 private:
  static Extent thin_at(const detail::GemmPlan<T>& plan, Extent q) {
    return plan.inner * plan.width() + q * plan.thin * plan.thin_depth();
  }
  void reserve(Extent size) {
    if (static_cast<Extent>(memory_.size()) < size) memory_.resize(static_cast<std::size_t>(size));
  }
  Extent inner_ = 0, cols_ = 0;
  AlignedBuffer<T> memory_;
};

namespace detail {

/// C (+)= A B by the definition, for any scalar and any strides.
template <class T>
void plain_product(const MatrixView<const T>& a, const MatrixView<const T>& b, const MatrixView<T>& c, bool add) {
  for (Extent i = 0; i < c.rows; ++i)
    for (Extent j = 0; j < c.cols; ++j) {
      T sum(0);
      for (Extent k = 0; k < a.cols; ++k) sum += a(i, k) * b(k, j);
      if (add)
        c(i, j) += sum;
      else
        c(i, j) = sum;
    }
}

/// One group of panels of one block of the inner extent, against all rows of A.
template <bool Transposed, class T>
void block_product(const MatrixView<const T>& a, Extent begin, Extent depth, const GemmPlan<T>& plan, const T* panels,
                   Extent first, Extent vectors, const T* thin, const MatrixView<T>& c, bool add, T* buffer) {
  using S = Simd<T>;
  const Extent tiles = (c.rows + S::tile_rows - 1) / S::tile_rows, pairs = (c.rows + 1) / 2;
  const Extent cols = plan.cols - plan.thin;
  for (Extent t = 0; t < tiles; ++t) {
    // Tiles of equal height up to two rows, so that no short one remains at the end.
    const Extent row = 2 * (pairs * t / tiles), rows = (std::min)(c.rows, 2 * (pairs * (t + 1) / tiles)) - row;
    const T* tile;
    if constexpr (Transposed)
      tile = pack_tile_transposed(a, row, rows, begin, depth, buffer);
    else
      tile = pack_tile(a, row, rows, begin, depth, buffer);
    T* to = c.data + row * c.row_stride;
    for (Extent v = 0; v < vectors; v += 2) {
      const bool two = v + 1 < vectors;
      const Extent col = (first + v) * S::lanes, last_col = col + (two ? S::lanes : 0);
      gemm_tile_any<Transposed>(rows, two, depth, tile, panels + v * S::lanes * depth, to + col, c.row_stride,
                                (std::min)(S::lanes, cols - last_col), add);
    }
    if (thin)
      for (Extent j = 0; j < plan.thin; ++j) {
        const T* column = thin + j * plan.thin_depth();
        if constexpr (Transposed)
          thin_tile_transposed(depth, tile, column, to + cols + j, c.row_stride, rows, add);
        else
          thin_tile(depth, tile, column, to + cols + j, c.row_stride, rows, add);
      }
  }
}

/// The loops around the kernel: blocks of the inner extent, groups of panels, tiles of rows. `Right` is a view of B,
/// packed here group by group, or a PackedB.
template <class T, class Right>
void blocked_product(MatrixView<const T> a, const Right& b, const MatrixView<T>& c, bool add, GemmWorkspace<T>& ws) {
  constexpr bool packed = std::is_same_v<Right, PackedB<T>>;
  const GemmPlan<T> plan(a.cols, c.cols);
  if (a.cols == 1) a.col_stride = 1;
  if (a.rows == 1 && a.col_stride != 1) a.row_stride = 1;
  const bool transposed = a.col_stride != 1 && a.row_stride == 1;
  T* const buffer = ws.tile();
  for (Extent q = 0; q < plan.blocks; ++q) {
    const Extent begin = plan.begin(q), depth = plan.begin(q + 1) - begin;
    Extent first = 0;
    do {
      const Extent vectors = (std::min)(plan.group(), plan.vectors - first);
      const T *panels, *thin = nullptr;
      if constexpr (packed) {
        panels = b.panels(plan, q) + first * Simd<T>::lanes * depth;
        if (first == 0) thin = b.thin(plan, q);
      } else {
        T* const to = ws.panels(depth * vectors * Simd<T>::lanes);
        pack_panels(b, plan, begin, depth, first, vectors, to);
        panels = to;
        if (first == 0 && plan.thin > 0) {
          T* const columns = ws.thin(plan.thin * plan.thin_depth());
          pack_thin(b, plan, begin, depth, columns);
          thin = columns;
        }
      }
      const auto run = transposed ? block_product<true, T> : block_product<false, T>;
      run(a, begin, depth, plan, panels, first, vectors, thin, c, add || q > 0, buffer);
      first += vectors;
    } while (first < plan.vectors);
  }
}

/// Contracts on an output: `c` has the given shape, holds every element once and shares none with `in`.
template <class T>
void require_output(const MatrixView<T>& c, Extent rows, Extent cols) {
  require_size("C.rows", c.rows, rows);
  require_size("C.cols", c.cols, cols);
  const bool distinct =
      c.empty() ||
      ((c.rows == 1 || c.row_stride > 0) && (c.cols == 1 || c.col_stride > 0) &&
       (c.rows == 1 || c.cols == 1 || c.row_stride >= c.cols * c.col_stride || c.col_stride >= c.rows * c.row_stride));
  require(distinct, "C strides", c.row_stride, "strides that keep all elements of C apart");
}
template <class T>
void require_apart(const MatrixView<const T>& in, const MatrixView<T>& c, std::string_view name) {
  require(!may_overlap(in, MatrixView<const T>(c)), name, "memory shared with C", "an operand that does not overlap C");
}

}  // namespace detail

/// @brief C = A B, or C += A B. @par Shapes A: (M, K), B: (K, N), C: (M, N), any of them zero; any strides.
/// @details Operands are whatever lies in memory (see MatrixView): nothing is copied but into `ws`, and nothing is
/// allocated once `ws` has met the sizes. With K = 0, C becomes zero (or stays). NaN and infinities propagate as in the
/// definition, and only there. Results do not depend on how the rows of A and C are divided among calls.
/// @par Method float and double: a 14 x 32-lane register tile under AVX-512 (6 x 2 vectors elsewhere) on vector
/// extensions; B packed in panels of two vectors, groups of which stay in the second-level cache; tiles of A copied
/// next to the registers. Chosen over Eigen (allocates, cliffs at narrow outputs) and CBLAS (a dependency, no faster at
/// these sizes) by benchmarks/gemm_bench.cpp. Other scalars, and a C without unit stride, take the plain triple loop.
/// @par Cost 2 M K N FLOPs.
/// @throws ShapeError if the shapes do not fit; InvalidArgument if C overlaps A, B or itself.
template <Real T>
void product(std::type_identity_t<MatrixView<const T>> a, std::type_identity_t<MatrixView<const T>> b,
             std::type_identity_t<MatrixView<T>> c, Accumulate acc, GemmWorkspace<T>& ws) {
  require_size("B.rows", b.rows, a.cols);
  detail::require_output(c, a.rows, b.cols);
  detail::require_apart(a, c, "A");
  detail::require_apart(b, c, "B");
  const bool add = acc == Accumulate::yes;
  if (c.empty()) return;
  if (c.cols == 1) c.col_stride = 1;
  if constexpr (detail::has_gemm_kernel<T>) {
    if (a.cols > 0 && c.col_stride == 1) return detail::blocked_product(a, b, c, add, ws);
    if (a.cols > 0 && c.row_stride == 1)
      return detail::blocked_product(b.transposed(), a.transposed(), c.transposed(), add, ws);
  }
  detail::plain_product(a, b, c, add);
}

/// @brief C = A^T B, or C += A^T B. @par Shapes A: (K, M), B: (K, N), C: (M, N). Otherwise as product().
template <Real T>
void product_tn(std::type_identity_t<MatrixView<const T>> a, std::type_identity_t<MatrixView<const T>> b,
                std::type_identity_t<MatrixView<T>> c, Accumulate acc, GemmWorkspace<T>& ws) {
  product<T>(a.transposed(), b, c, acc, ws);
}

/// @brief C = A B^T, or C += A B^T. @par Shapes A: (M, K), B: (N, K), C: (M, N). Otherwise as product().
template <Real T>
void product_nt(std::type_identity_t<MatrixView<const T>> a, std::type_identity_t<MatrixView<const T>> b,
                std::type_identity_t<MatrixView<T>> c, Accumulate acc, GemmWorkspace<T>& ws) {
  product<T>(a, b.transposed(), c, acc, ws);
}

/// @brief C = A B, or C += A B, with B packed before. @par Shapes A: (M, K), B: (K, N), C: (M, N). Otherwise as
/// product().
template <Real T>
void product(std::type_identity_t<MatrixView<const T>> a, const PackedB<T>& b, std::type_identity_t<MatrixView<T>> c,
             Accumulate acc, GemmWorkspace<T>& ws) {
  require_size("B.rows", b.rows(), a.cols);
  detail::require_output(c, a.rows, b.cols());
  detail::require_apart(a, c, "A");
  const bool add = acc == Accumulate::yes;
  if (c.empty()) return;
  if (c.cols == 1) c.col_stride = 1;
  require(!detail::has_gemm_kernel<T> || c.col_stride == 1, "C.col_stride", c.col_stride, "1");
  if constexpr (detail::has_gemm_kernel<T>) {
    if (a.cols > 0) return detail::blocked_product(a, b, c, add, ws);
    detail::plain_product(a, MatrixView<const T>(nullptr, 0, c.cols, 0), c, add);
  } else {
    detail::plain_product(a, b.plain(), c, add);
  }
}

}  // namespace incipit::inline INCIPIT_ABI
