// SPDX-License-Identifier: MIT
/// @file
/// @brief exp, tanh, sigmoid, maximum and sums over arrays: one trait, generic, and vectorised for float and double.
#pragma once

#include <incipit/core/scalar.hpp>
#include <incipit/core/simd.hpp>

namespace incipit::inline INCIPIT_ABI {

/// @brief In-place passes over x[0..n): the seam between scalar-generic layers and vectorised functions.
/// @details This is the generic form, made of the scalar's own functions (found by argument-dependent lookup).
/// The specialisations for float and double are within 1.1 ulp (exp) and 2.6 ulp (tanh, sigmoid) of the truth, right at
/// +-0, subnormal numbers, +-inf and NaN. In a program built with -ffast-math: within 5 ulp, subnormal results are 0.
/// @par Checked tests/core/vector_math_test.cpp, against long double.
/// n = 0 is allowed everywhere.
template <Real T>
struct VectorMath {
  /// x <- e^x.
  static void exp(T* x, Extent n) {
    for (Extent i = 0; i < n; ++i) x[i] = scalar::exp(x[i]);
  }
  /// x <- tanh x.
  static void tanh(T* x, Extent n) {
    for (Extent i = 0; i < n; ++i) x[i] = scalar::tanh(x[i]);
  }
  /// x <- 1 / (1 + e^-x).
  static void sigmoid(T* x, Extent n) {
    for (Extent i = 0; i < n; ++i) x[i] = scalar::sigmoid(x[i]);
  }
  /// x <- e^(x - shift); returns the sum of the results.
  static T exp_shifted_sum(T* x, Extent n, const T& shift) {
    T sum(0);
    for (Extent i = 0; i < n; ++i) {
      x[i] = scalar::exp(T(x[i] - shift));
      sum += x[i];
    }
    return sum;
  }
  /// x <- factor x.
  static void scale(T* x, Extent n, const T& factor) {
    for (Extent i = 0; i < n; ++i) x[i] = T(x[i] * factor);
  }
  /// The largest entry; n >= 1. Whether a NaN among the entries is skipped or returned is unspecified.
  static T largest(const T* x, Extent n) {
    T top = x[0];
    for (Extent i = 1; i < n; ++i)
      if (top < x[i]) top = x[i];
    return top;
  }
};

namespace simd {

/// Constants of a format for the functions below; ln 2 = ln2_high + ln2_low, n ln2_high exact for all n that occur.
template <class T>
struct Format;
/// Constants of float; the bounds are where results saturate.
template <>
struct Format<float> {
  static constexpr int mantissa = 23, bias = 127, degree = 7;
  static constexpr float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f, rounder = 0x1.8p23f;
  static constexpr float exp_low = -104, exp_high = 89, tanh_high = 10;
};
/// Constants of double; the bounds are where results saturate.
template <>
struct Format<double> {
  static constexpr int mantissa = 52, bias = 1023, degree = 13;
  static constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45, rounder = 0x1.8p52;
  static constexpr double exp_low = -746, exp_high = 710, tanh_high = 20;
};

/// 2^n as a normal number.
template <class T>
[[gnu::always_inline]] inline Vector<T> power_of_two(Vector<Bits<T>> n) {
  return from_bits<T>((n + Format<T>::bias) << Format<T>::mantissa);
}
/// x, or the nearer bound; a NaN stays, unless the program denies NaNs.
template <class T>
[[gnu::always_inline]] inline Vector<T> between(T low, T high, Vector<T> x) {
  const Vector<T> y = x > high ? splat(high) : x;
  return y < low ? splat(low) : y;
}
/// `result`, and x itself where x is a NaN: needed only where the program denies NaNs, hence decided by bits.
template <class T>
[[gnu::always_inline]] inline Vector<T> keep_nan(Vector<T> result, [[maybe_unused]] Vector<T> x) {
#if __FINITE_MATH_ONLY__
  constexpr Bits<T> infinity = Bits<T>{2 * Format<T>::bias + 1} << Format<T>::mantissa;
  result = (as_bits<T>(x) & (std::numeric_limits<Bits<T>>::max)()) > infinity ? x : result;
#endif
  return result;
}

/// x = n ln 2 + r with |r| <= ln 2 / 2, and e^r - 1 by its Taylor series.
template <class T>
struct Reduced {
  Vector<Bits<T>> n;      ///< power of two
  Vector<T> k;            ///< n as a number
  Vector<T> exp_minus_1;  ///< e^r - 1, with small relative error for small r

  /// Reduces x; the truncated series errs by less than 0.05 ulp.
  [[gnu::always_inline]] explicit Reduced(Vector<T> x) {
    using F = Format<T>;
    const Vector<T> t = as_written(fma(x, splat(T(0x1.71547652b82fep+0)), splat(F::rounder)));
    n = as_bits<T>(t) - std::bit_cast<Bits<T>>(F::rounder);
    k = t - F::rounder;
    Vector<T> r = as_written(fma(k, splat(-F::ln2_high), x));
    r = as_written(fma(k, splat(-F::ln2_low), r));
    Vector<T> sum = splat(inverse_factorial(F::degree));
#pragma GCC unroll 16
    for (int j = F::degree - 1; j >= 2; --j) sum = fma(sum, r, splat(inverse_factorial(j)));
    exp_minus_1 = fma(sum * r, r, r);
  }
  /// 1 / k!.
  static constexpr T inverse_factorial(int k) {
    double product = 1;
    for (int j = 2; j <= k; ++j) product *= j;
    return static_cast<T>(1 / product);
  }
};

/// e^x. Without an instruction scaled in two steps, so that results overflow and become subnormal by themselves.
template <class T>
[[gnu::always_inline]] inline Vector<T> exp(Vector<T> x) {
  const Reduced<T> part(between(Format<T>::exp_low, Format<T>::exp_high, x));
  const Vector<T> fraction = part.exp_minus_1 + T(1);
  if constexpr (has_scale_by_power) {
    return keep_nan<T>(scale_by_power(fraction, part.k), x);
  } else {
    const Vector<Bits<T>> half = part.n >> 1;
    return keep_nan<T>(as_written(fraction * power_of_two<T>(half)) * power_of_two<T>(part.n - half), x);
  }
}
/// |tanh x| = |E / (2 + E)|, E = e^(-2|x|) - 1 = 2^n (e^r - 1) + (2^n - 1): no cancellation anywhere.
template <class T>
[[gnu::always_inline]] inline Vector<T> tanh(Vector<T> x) {
  const Vector<Bits<T>> sign = as_bits<T>(x) & (std::numeric_limits<Bits<T>>::min)();
  const Vector<T> size = from_bits<T>(as_bits<T>(x) ^ sign);
  const Reduced<T> part(T(-2) * (size > Format<T>::tanh_high ? splat(Format<T>::tanh_high) : size));
  const Vector<T> scale = power_of_two<T>(part.n);
  const Vector<T> e = fma(scale, part.exp_minus_1, as_written(scale - T(1)));
  const Vector<Bits<T>> ratio = as_bits<T>(e / (T(2) + e)) & (std::numeric_limits<Bits<T>>::max)();
  return keep_nan<T>(from_bits<T>(ratio | sign), x);
}
/// 1 / (1 + e^-x), from e^-|x| on both sides.
template <class T>
[[gnu::always_inline]] inline Vector<T> sigmoid(Vector<T> x) {
  const Vector<T> e = exp<T>(from_bits<T>(as_bits<T>(x) | (std::numeric_limits<Bits<T>>::min)()));
  return (as_bits<T>(x) < 0 ? e : splat(T(1))) / (T(1) + e);
}

/// The vectorised passes of VectorMath for float and double.
template <class T>
struct Passes {
  /// x <- e^x.
  static void exp(T* x, Extent n) {
    map(x, n, [](Vector<T> v) { return simd::exp<T>(v); });
  }
  /// x <- tanh x.
  static void tanh(T* x, Extent n) {
    map(x, n, [](Vector<T> v) { return simd::tanh<T>(v); });
  }
  /// x <- 1 / (1 + e^-x).
  static void sigmoid(T* x, Extent n) {
    map(x, n, [](Vector<T> v) { return simd::sigmoid<T>(v); });
  }
  /// x <- factor x.
  static void scale(T* x, Extent n, T factor) {
    map(x, n, [=](Vector<T> v) { return v * factor; });
  }
  /// x <- e^(x - shift); returns the sum of the results.
  static T exp_shifted_sum(T* x, Extent n, T shift) {
    Vector<T> sum{};
    Vector<Bits<T>> lane{};
    for (Extent k = 0; k < lanes<T>; ++k) lane[k] = static_cast<Bits<T>>(k);
    map(
        x, n, [=](Vector<T> v) { return simd::exp<T>(v - shift); },
        [&](Vector<T> y, Extent first) { sum += first == 0 || lane >= static_cast<Bits<T>>(first) ? y : Vector<T>{}; });
    return reduce<T>(sum, [](auto a, auto b) { return a + b; });
  }
  /// The largest entry; n >= 1.
  static T largest(const T* x, Extent n) {
    constexpr Extent width = lanes<T>;
    const auto larger = [](auto a, auto b) { return b > a ? b : a; };
    if (n < width) {
      T top = x[0];
      for (Extent i = 1; i < n; ++i) top = larger(top, x[i]);
      return top;
    }
    Vector<T> top = load(x + n - width);
    for (Extent i = 0; i + width <= n; i += width) top = larger(top, load(x + i));
    return reduce<T>(top, larger);
  }
};

}  // namespace simd

/// Vectorised for float.
template <>
struct VectorMath<float> : simd::Passes<float> {};
/// Vectorised for double.
template <>
struct VectorMath<double> : simd::Passes<double> {};

}  // namespace incipit::inline INCIPIT_ABI
