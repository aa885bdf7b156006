// SPDX-License-Identifier: MIT
/// @file
/// @brief Scalar functions with the same bits on every compiler, optimisation level and instruction set.
#pragma once

#include <incipit/core/error.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

/// @brief Functions of one double built from IEEE operations that no compiler may regroup or contract.
/// @details Every product that is added to something is an explicit std::fma, rounded once whether the machine has the
/// instruction or the C library emulates it; what remains are single additions, products, divisions and square roots.
/// Random numbers and initial weights are made of these only. They are accurate to a few units in the last place.
namespace incipit::inline INCIPIT_ABI::exact {

namespace detail {
inline constexpr double ln2 = 0x1.62e42fefa39efp-1;
inline constexpr double log2e = 0x1.71547652b82fep+0;
inline constexpr double ln2_low = 0x1.abc9e3b39803fp-56;

/// c[0] + c[1] x + ... by Horner's rule.
template <std::size_t N>
double horner(const std::array<double, N>& c, double x) {
  double sum = c[N - 1];
  for (std::size_t k = N - 1; k-- > 0;) sum = std::fma(sum, x, c[k]);
  return sum;
}
}  // namespace detail

/// @brief Natural logarithm of a positive normal double.
/// @par Formula x = 2^e m, m in [sqrt(1/2), sqrt 2); log m = 2 artanh(s), s = (m - 1)/(m + 1), by its Taylor series.
inline double log(double x) {
  constexpr std::uint64_t sqrt2_fraction = 0x6a09e667f3bcd, one = std::uint64_t{1023} << 52;
  constexpr std::array<double, 11> artanh = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9, 1.0 / 11,
                                             1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const std::uint64_t halve = fraction > sqrt2_fraction ? 1 : 0;
  const double m = std::bit_cast<double>((one - (halve << 52)) | fraction);
  const double e = static_cast<double>(static_cast<std::int64_t>((bits >> 52) + halve) - 1023);
  const double s = (m - 1) / (m + 1);
  const double log_m = 2 * s * detail::horner(artanh, s * s);
  return std::fma(e, detail::ln2, log_m);
}

/// @brief Exponential of a double in [-700, 700].
/// @par Formula x = n ln 2 + r, |r| <= ln 2 / 2; e^x = 2^n e^r, with e^r by its Taylor series of degree 13.
inline double exp(double x) {
  constexpr std::array<double, 14> taylor = {
      1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
      1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};
  const double n = std::floor(std::fma(x, detail::log2e, 0.5));
  const double r = std::fma(-n, detail::ln2_low, std::fma(-n, detail::ln2, x));
  const auto scale = std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(n) + 1023) << 52);
  return detail::horner(taylor, r) * scale;
}

/// @brief Power base^exponent of a positive normal base; exact to one rounding for the exponents 0, +-1/2 and +-1.
inline double pow(double base, double exponent) {
  if (exponent == 0) return 1;
  if (exponent == 1) return base;
  if (exponent == -1) return 1 / base;
  if (exponent == 0.5) return std::sqrt(base);
  if (exponent == -0.5) return 1 / std::sqrt(base);
  return exp(exponent * log(base));
}

/// True where the central range of the normal quantile of 1/2 + q holds.
inline bool is_central(double q) { return -0.425 <= q && q <= 0.425; }

/// @brief Standard normal quantile of 1/2 + q for |q| <= 0.425; see normal_quantile.
inline double central_normal_quantile(double q) {
  constexpr std::array<double, 8> a = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                       1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                       3.3430575583588128105e4, 2.5090809287301226727e3};
  constexpr std::array<double, 8> b = {1.0,
                                       4.2313330701600911252e1,
                                       6.8718700749205790830e2,
                                       5.3941960214247511077e3,
                                       2.1213794301586595867e4,
                                       3.9307895800092710610e4,
                                       2.8729085735721942674e4,
                                       5.2264952788528545610e3};
  const double r = std::fma(-q, q, 0.180625);
  return q * (detail::horner(a, r) / detail::horner(b, r));
}

/// @brief Standard normal quantile of 1/2 + q for 0.425 < |q| < 1/2; see normal_quantile.
inline double tail_normal_quantile(double q) {
  constexpr std::array<double, 8> c = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                       3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                       2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr std::array<double, 8> d = {1.0,
                                       2.05319162663775882187e0,
                                       1.67638483018380384940e0,
                                       6.89767334985100004550e-1,
                                       1.48103976427480074590e-1,
                                       1.51986665636164571966e-2,
                                       5.47593808499534494600e-4,
                                       1.05075007164441684324e-9};
  constexpr std::array<double, 8> e = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                       2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                       2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr std::array<double, 8> f = {1.0,
                                       5.99832206555887937690e-1,
                                       1.36929880922735805310e-1,
                                       1.48753612908506148525e-2,
                                       7.86869131145613259100e-4,
                                       1.84631831751005468180e-5,
                                       1.42151175831644588870e-7,
                                       2.04426310338993978564e-15};
  const double tail = std::sqrt(-log(0.5 - (q < 0 ? -q : q)));
  const double x = tail <= 5 ? detail::horner(c, tail - 1.6) / detail::horner(d, tail - 1.6)
                             : detail::horner(e, tail - 5.0) / detail::horner(f, tail - 5.0);
  return q < 0 ? -x : x;
}

/// @brief Standard normal quantile of 1/2 + q, for q in (-1/2, 1/2); relative error below 1e-15.
/// @par Source Wichura 1988, Algorithm AS 241 (PPND16): rational functions on three ranges of the probability.
/// @par Checked tests/core/random_test.cpp, against the inverse error function in 50 digits.
inline double normal_quantile(double q) { return is_central(q) ? central_normal_quantile(q) : tail_normal_quantile(q); }

}  // namespace incipit::inline INCIPIT_ABI::exact
