// SPDX-License-Identifier: MIT
/// @file
/// @brief Finite, infinite and NaN, decided by bits so that -ffast-math cannot optimise the question away.
#pragma once

#include <incipit/core/matrix.hpp>

#include <bit>
#include <cstring>
#include <limits>

namespace incipit::inline INCIPIT_ABI {

namespace detail {
/// Where a number lies against infinity: -1 finite, 0 infinite, 1 NaN.
template <Real T>
int beyond_finite(const T& x) {
  if constexpr (std::is_same_v<T, float>) {
    const auto size = std::bit_cast<std::uint32_t>(x) & 0x7fffffffu;
    return (size > 0x7f800000u) - (size < 0x7f800000u);
  } else if constexpr (std::is_same_v<T, double>) {
    constexpr std::uint64_t infinity = 0x7ff0000000000000;
    const auto size = std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffff;
    return (size > infinity) - (size < infinity);
  } else if constexpr (std::is_same_v<T, long double> && std::numeric_limits<T>::digits == 64) {
    // x87: 64 explicit mantissa bits, then sign and exponent.
    std::uint64_t mantissa;
    std::uint16_t exponent;
    std::memcpy(&mantissa, &x, 8);
    std::memcpy(&exponent, reinterpret_cast<const char*>(&x) + 8, 2);
    return (exponent & 0x7fff) != 0x7fff ? -1 : mantissa << 1 != 0;
  } else {
    const T difference(x - x);
    return difference == difference ? -1 : x == x ? 0 : 1;
  }
}
}  // namespace detail

/// True unless x is an infinity or a NaN. For wrapped scalars: of the value.
template <Real T>
bool is_finite(const T& x) {
  return detail::beyond_finite(x) < 0;
}
/// True if x is +inf or -inf.
template <Real T>
bool is_infinite(const T& x) {
  return detail::beyond_finite(x) == 0;
}
/// True if x is a NaN.
template <Real T>
bool is_nan(const T& x) {
  return detail::beyond_finite(x) > 0;
}

/// True if every entry is finite.
template <class D>
bool all_finite(const Eigen::DenseBase<D>& x) {
  const auto& values = x.derived();
  for (Extent i = 0; i < values.rows(); ++i)
    for (Extent j = 0; j < values.cols(); ++j)
      if (!is_finite<typename D::Scalar>(values.coeff(i, j))) return false;
  return true;
}

/// @brief Throws NonFiniteError naming the argument, the row and the column of the first NaN or infinity.
/// @par Cost one pass over x.
template <class D>
void require_finite(std::string_view name, const Eigen::DenseBase<D>& x) {
  const auto& values = x.derived();
  for (Extent i = 0; i < values.rows(); ++i)
    for (Extent j = 0; j < values.cols(); ++j) {
      const typename D::Scalar value = values.coeff(i, j);
      if (!is_finite(value)) [[unlikely]] {
        const std::string where = " at row " + std::to_string(i) + ", column " + std::to_string(j);
        fail<NonFiniteError>(std::string(name) + where, is_nan(value) ? "NaN" : "an infinity", "finite numbers");
      }
    }
}

}  // namespace incipit::inline INCIPIT_ABI
