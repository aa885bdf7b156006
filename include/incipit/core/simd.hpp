// SPDX-License-Identifier: MIT
/// @file
/// @brief One register of floats or doubles: the few operations that the vectorised functions are made of.
#pragma once

#include <incipit/core/matrix.hpp>

#include <algorithm>
#include <array>
#include <cstring>

#if defined(__FMA__)
#include <immintrin.h>
#endif

/// @brief Registers as wide as the instruction set allows, on the compilers' vector extensions.
/// @details Everything is always inlined; elementwise operators and comparisons are those of the compilers.
namespace incipit::inline INCIPIT_ABI::simd {

/// Width of a register in bytes.
#if defined(__AVX512F__) && defined(__FMA__)
inline constexpr std::size_t register_bytes = 64;
#elif defined(__AVX2__) && defined(__FMA__)
inline constexpr std::size_t register_bytes = 32;
#else
inline constexpr std::size_t register_bytes = 16;
#endif

/// The signed integer of the same size as T.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

/// A vector type of `bytes` bytes with elements T.
template <class T, std::size_t bytes>
struct VectorOf {
  typedef T Type __attribute__((vector_size(bytes)));  ///< the type
};
/// A register of T.
template <class T>
using Vector = typename VectorOf<T, register_bytes>::Type;
/// Elements in a register of T.
template <class T>
inline constexpr Extent lanes = static_cast<Extent>(register_bytes / sizeof(T));

/// Every lane equal to c.
template <class T>
[[gnu::always_inline]] inline Vector<T> splat(T c) {
  return c - Vector<T>{};
}
/// The register at p, which need not be aligned.
template <class T>
[[gnu::always_inline]] inline Vector<T> load(const T* p) {
  Vector<T> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
/// Writes the register to p, which need not be aligned.
template <class T>
[[gnu::always_inline]] inline void store(T* p, Vector<T> v) {
  std::memcpy(p, &v, sizeof v);
}
/// The lanes' bits as integers.
template <class T>
[[gnu::always_inline]] inline Vector<Bits<T>> as_bits(Vector<T> v) {
  return reinterpret_cast<Vector<Bits<T>>>(v);
}
/// The lanes with the given bits.
template <class T>
[[gnu::always_inline]] inline Vector<T> from_bits(Vector<Bits<T>> v) {
  return reinterpret_cast<Vector<T>>(v);
}

#if defined(__AVX512F__) && defined(__FMA__)
/// a b + c, rounded once where the machine has the instruction.
[[gnu::always_inline]] inline Vector<float> fma(Vector<float> a, Vector<float> b, Vector<float> c) {
  return _mm512_fmadd_ps(a, b, c);
}
/// a b + c, rounded once where the machine has the instruction.
[[gnu::always_inline]] inline Vector<double> fma(Vector<double> a, Vector<double> b, Vector<double> c) {
  return _mm512_fmadd_pd(a, b, c);
}
#elif defined(__AVX2__) && defined(__FMA__)
/// a b + c, rounded once where the machine has the instruction.
[[gnu::always_inline]] inline Vector<float> fma(Vector<float> a, Vector<float> b, Vector<float> c) {
  return _mm256_fmadd_ps(a, b, c);
}
/// a b + c, rounded once where the machine has the instruction.
[[gnu::always_inline]] inline Vector<double> fma(Vector<double> a, Vector<double> b, Vector<double> c) {
  return _mm256_fmadd_pd(a, b, c);
}
#else
/// a b + c, rounded once where the machine has the instruction.
[[gnu::always_inline]] inline Vector<float> fma(Vector<float> a, Vector<float> b, Vector<float> c) { return a * b + c; }
/// a b + c, rounded once where the machine has the instruction.
[[gnu::always_inline]] inline Vector<double> fma(Vector<double> a, Vector<double> b, Vector<double> c) {
  return a * b + c;
}
#endif

#if defined(__AVX512F__) && defined(__FMA__)
/// True where scale_by_power does 2^k v in one instruction.
inline constexpr bool has_scale_by_power = true;
/// 2^k v for whole k, rounded once, also into the subnormal numbers.
[[gnu::always_inline]] inline Vector<float> scale_by_power(Vector<float> v, Vector<float> k) {
  return _mm512_maskz_scalef_ps(0xffff, v, k);
}
/// 2^k v for whole k, rounded once, also into the subnormal numbers.
[[gnu::always_inline]] inline Vector<double> scale_by_power(Vector<double> v, Vector<double> k) {
  return _mm512_maskz_scalef_pd(0xff, v, k);
}
#else
/// True where scale_by_power does 2^k v in one instruction.
inline constexpr bool has_scale_by_power = false;
#endif

/// @brief Returns v in a way the optimiser cannot see through, at no cost.
/// @details Under -ffast-math compilers regroup sums; what must be computed as written passes through here.
template <class V>
[[gnu::always_inline]] inline V as_written(V v) {
#if defined(__AVX512F__)
  __asm__("" : "+v"(v));
#elif defined(__x86_64__)
  __asm__("" : "+x"(v));
#elif defined(__aarch64__)
  __asm__("" : "+w"(v));
#endif
  return v;
}

/// Combines all lanes by `join(a, b)` of two vectors or two scalars, pairwise.
template <class T, std::size_t bytes = register_bytes, class Join>
[[gnu::always_inline]] inline T reduce(typename VectorOf<T, bytes>::Type v, Join join) {
  if constexpr (bytes == 2 * sizeof(T)) {
    return join(v[0], v[1]);
  } else {
    std::array<typename VectorOf<T, bytes / 2>::Type, 2> half;
    std::memcpy(&half, &v, sizeof v);
    return reduce<T, bytes / 2>(join(half[0], half[1]), join);
  }
}

/// @brief Replaces x[0..n) by f(x), a register at a time, and shows each result to `see(result, first)`.
/// @details A ragged end is computed as the last full register, read before anything is written; its lanes below
/// `first` have been seen before. Fewer than a register's elements are computed in a copy. No byte outside x is
/// touched.
template <class T, class F, class See>
[[gnu::always_inline]] inline void map(T* x, Extent n, F f, See see) {
  constexpr Extent width = lanes<T>;
  if (n >= width) {
    const Extent ragged = n % width;
    const Vector<T> end = ragged ? f(load(x + n - width)) : Vector<T>{};
    for (Extent i = 0; i + width <= n; i += width) {
      const Vector<T> y = f(load(x + i));
      store(x + i, y);
      see(y, 0);
    }
    if (ragged) {
      store(x + n - width, end);
      see(end, width - ragged);
    }
  } else if (n > 0) {
    std::array<T, static_cast<std::size_t>(width)> copy{};
    std::copy(x, x + n, copy.end() - n);
    const Vector<T> y = f(load(copy.data()));
    store(copy.data(), y);
    std::copy(copy.end() - n, copy.end(), x);
    see(y, width - n);
  }
}
/// Replaces x[0..n) by f(x), a register at a time.
template <class T, class F>
[[gnu::always_inline]] inline void map(T* x, Extent n, F f) {
  map(x, n, f, [](Vector<T>, Extent) {});
}

}  // namespace incipit::inline INCIPIT_ABI::simd
