// SPDX-License-Identifier: MIT
/// @file
/// @brief The register-tiled kernel beneath core/gemm.hpp, and the layouts it reads.
#pragma once

#include <incipit/core/matrix_view.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace incipit::inline INCIPIT_ABI::detail {

/// True for the scalars that have a vector kernel.
template <class T>
inline constexpr bool has_gemm_kernel = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// One vector register of T, and the height of the register tile: `tile_rows` rows by two vectors.
/// AVX-512 has 32 registers: 14 x 2 accumulators, 2 vectors of B, 1 broadcast of A. The others have 16: 6 x 2 + 2 + 1.
template <class T>
struct Simd {
#if defined(__AVX512F__)
  static constexpr Extent bytes = 64, tile_rows = 14;
#elif defined(__AVX__)
  static constexpr Extent bytes = 32, tile_rows = 6;
#else
  static constexpr Extent bytes = 16, tile_rows = 6;
#endif
  static constexpr Extent lanes = bytes / static_cast<Extent>(sizeof(T));
  typedef T Vec __attribute__((vector_size(bytes)));

  [[gnu::always_inline]] static Vec load(const T* p) {
    Vec v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  [[gnu::always_inline]] static void store(T* p, Vec v) { std::memcpy(p, &v, sizeof v); }
  /// Copies 0 < n < lanes elements: two overlapping moves of half the next power of two, no loop.
  template <Extent Half = lanes / 2>
  [[gnu::always_inline]] static void copy_few(T* to, const T* from, Extent n) {
    if constexpr (Half >= 1) {
      if (n < Half) return copy_few<Half / 2>(to, from, n);
      T head[std::size_t(Half)], tail[std::size_t(Half)];
      std::memcpy(head, from, sizeof head);
      std::memcpy(tail, from + n - Half, sizeof tail);
      std::memcpy(to, head, sizeof head);
      std::memcpy(to + n - Half, tail, sizeof tail);
    }
  }
  /// The first n < lanes elements, then zeros.
  [[gnu::always_inline]] static Vec load_few(const T* p, Extent n) {
    alignas(bytes) T part[std::size_t(lanes)] = {};
    copy_few(part, p, n);
    return load(part);
  }
  [[gnu::always_inline]] static void store_few(T* p, Vec v, Extent n) {
    alignas(bytes) T part[std::size_t(lanes)];
    store(part, v);
    copy_few(p, part, n);
  }
};

/// How a tile of A (up to tile_rows rows, up to `depth` columns) lies in its buffer: rows contiguous, or columns if
/// that is how the caller has them (`Transposed`). The strides are constants, so that the kernel reaches every row from
/// one pointer, whatever the caller's strides, and no two rows meet in a cache set.
template <class T, bool Transposed = false>
struct Tile {
  static constexpr Extent line = 64 / static_cast<Extent>(sizeof(T));
  static constexpr Extent depth = 1024 / static_cast<Extent>(sizeof(T));  ///< most columns that a tile holds
  static constexpr Extent height = (Simd<T>::tile_rows + line - 1) / line * line;
  static constexpr Extent row_stride = Transposed ? 1 : depth + line;
  static constexpr Extent col_stride = Transposed ? height : 1;
  static constexpr Extent size = Transposed ? (depth + 1) * height : height * (depth + line);
};

/// C(rows, NV vectors) (+)= A B over `depth`: the innermost loop of every product. A lies in a Tile, B in a panel of NV
/// vectors a row, C has row stride `stride`; of the MR rows `rows` are stored, of the last vector `last` lanes.
template <int MR, int NV, bool Transposed, class T>
void gemm_tile(Extent depth, const T* a, const T* b, T* c, Extent stride, Extent rows, Extent last, bool add) {
  using S = Simd<T>;
  using Vec = typename S::Vec;
  using A = Tile<T, Transposed>;
  Vec acc[std::size_t(MR)][std::size_t(NV)] = {};
  for (Extent k = 0; k < depth; ++k) {
    Vec bv[std::size_t(NV)];
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) bv[v] = S::load(b + v * S::lanes);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < NV; ++v) acc[i][v] += a[i * A::row_stride] * bv[v];
    }
    a += A::col_stride;
    b += NV * S::lanes;
  }
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
    if (i + 1 == MR && rows < MR) return;
    T* to = c + i * stride;
    if constexpr (NV == 2) S::store(to, add ? S::load(to) + acc[i][0] : acc[i][0]);
    to += (NV - 1) * S::lanes;
    Vec& end = acc[i][NV - 1];
    if (last == S::lanes)
      S::store(to, add ? S::load(to) + end : end);
    else
      S::store_few(to, add ? S::load_few(to, last) + end : end, last);
  }
}

/// The kernel for `rows` rows (rounded up to even) and one or two vectors.
template <bool Transposed, class T>
void gemm_tile_any(Extent rows, bool two, Extent depth, const T* a, const T* b, T* c, Extent stride, Extent last,
                   bool add) {
  using Kernel = void (*)(Extent, const T*, const T*, T*, Extent, Extent, Extent, bool);
#if defined(__AVX512F__)
  static constexpr Kernel kernels[2][7] = {
      {gemm_tile<2, 1, Transposed, T>, gemm_tile<4, 1, Transposed, T>, gemm_tile<6, 1, Transposed, T>,
       gemm_tile<8, 1, Transposed, T>, gemm_tile<10, 1, Transposed, T>, gemm_tile<12, 1, Transposed, T>,
       gemm_tile<14, 1, Transposed, T>},
      {gemm_tile<2, 2, Transposed, T>, gemm_tile<4, 2, Transposed, T>, gemm_tile<6, 2, Transposed, T>,
       gemm_tile<8, 2, Transposed, T>, gemm_tile<10, 2, Transposed, T>, gemm_tile<12, 2, Transposed, T>,
       gemm_tile<14, 2, Transposed, T>}};
#else
  static constexpr Kernel kernels[2][3] = {
      {gemm_tile<2, 1, Transposed, T>, gemm_tile<4, 1, Transposed, T>, gemm_tile<6, 1, Transposed, T>},
      {gemm_tile<2, 2, Transposed, T>, gemm_tile<4, 2, Transposed, T>, gemm_tile<6, 2, Transposed, T>}};
#endif
  kernels[two ? 1 : 0][(rows - 1) / 2](depth, a, b, c, stride, rows, last, add);
}

/// Exchanges the off-diagonal H x H blocks of every 2H x 2H block of `Rows` registers.
template <int H, class T, int Rows = static_cast<int>(Simd<T>::lanes), int... Lane>
[[gnu::always_inline]] inline void exchange_blocks(typename Simd<T>::Vec* rows, std::integer_sequence<int, Lane...>) {
  constexpr int lanes = static_cast<int>(Simd<T>::lanes);
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    if (i & H) continue;
    const typename Simd<T>::Vec upper = rows[i], lower = rows[i + H];
    rows[i] = __builtin_shufflevector(upper, lower, (Lane & H ? lanes + Lane - H : Lane)...);
    rows[i + H] = __builtin_shufflevector(upper, lower, (Lane & H ? lanes + Lane : Lane + H)...);
  }
}

/// Sums the lanes of rows[0], ..., rows[lanes - 1]; lane i of the result belongs to row i.
template <class T, int Half = static_cast<int>(Simd<T>::lanes / 2)>
[[gnu::always_inline]] inline typename Simd<T>::Vec sum_rows(typename Simd<T>::Vec* rows) {
  if constexpr (Half == 0) {
    return rows[0];
  } else {
    exchange_blocks<Half, T, 2 * Half>(rows, std::make_integer_sequence<int, static_cast<int>(Simd<T>::lanes)>{});
    for (int i = 0; i < Half; ++i) rows[i] += rows[i + Half];
    return sum_rows<T, Half / 2>(rows);
  }
}

/// One column of C: C(rows, 1) (+)= A b, A in a Tile with contiguous rows, zero padded like b to whole vectors. As many
/// rows as there are lanes go together, so that their lane sums cost one transposition; those past `rows` are ignored.
template <class T>
void thin_tile(Extent depth, const T* a, const T* b, T* c, Extent stride, Extent rows, bool add) {
  using S = Simd<T>;
  constexpr int lanes = static_cast<int>(S::lanes);
  for (Extent first = 0; first < rows; first += lanes, a += lanes * Tile<T>::row_stride) {
    typename S::Vec acc[static_cast<std::size_t>(lanes)] = {};
    for (Extent k = 0; k < depth; k += lanes) {
      const typename S::Vec bv = S::load(b + k);
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i) acc[i] += S::load(a + i * Tile<T>::row_stride + k) * bv;
    }
    T sum[static_cast<std::size_t>(lanes)];
    S::store(sum, sum_rows<T>(acc));
    const Extent some = (std::min)(S::lanes, rows - first);
    T* to = c + first * stride;
    for (Extent i = 0; i < some; ++i) to[i * stride] = add ? to[i * stride] + sum[i] : sum[i];
  }
}

/// The same, A in a Tile with contiguous columns.
template <class T>
void thin_tile_transposed(Extent depth, const T* a, const T* b, T* c, Extent stride, Extent rows, bool add) {
  using S = Simd<T>;
  using A = Tile<T, true>;
  constexpr Extent vectors = A::height / S::lanes;
  typename S::Vec acc[4][std::size_t(vectors)] = {};
  Extent k = 0;
  for (; k + 4 <= depth; k += 4) {
    for (Extent u = 0; u < 4; ++u)
      for (Extent v = 0; v < vectors; ++v) acc[u][v] += b[k + u] * S::load(a + (k + u) * A::height + v * S::lanes);
  }
  for (; k < depth; ++k)
    for (Extent v = 0; v < vectors; ++v) acc[0][v] += b[k] * S::load(a + k * A::height + v * S::lanes);
  T sum[std::size_t(A::height)];
  for (Extent v = 0; v < vectors; ++v) S::store(sum + v * S::lanes, (acc[0][v] + acc[1][v]) + (acc[2][v] + acc[3][v]));
  for (Extent i = 0; i < rows; ++i) c[i * stride] = add ? c[i * stride] + sum[i] : sum[i];
}

}  // namespace incipit::inline INCIPIT_ABI::detail
