// SPDX-License-Identifier: MIT
/// @file
/// @brief Numbers that may be undefined, and averages that skip and count them.
#pragma once

#include <incipit/core/matrix.hpp>

#include <cmath>
#include <span>
#include <vector>

namespace incipit::inline INCIPIT_ABI::measure {

/// @brief A measured number that has no meaning for some inputs (the cosine of a zero vector, the ratio of a zero
/// matrix).
template <Real T>
struct Defined {
  T value{};            ///< the number; 0 when undefined
  bool defined = true;  ///< false when the input gives it no meaning
};

/// @brief A mean over what is defined, with the count of what is not.
struct DefinedMean {
  double mean = 0;     ///< mean of the defined values, 0 if there are none
  Extent used = 0;     ///< how many entered the mean
  Extent skipped = 0;  ///< how many were undefined
};

/// @brief Mean of the defined entries of `values`.
inline DefinedMean mean_defined(std::span<const Defined<double>> values) {
  DefinedMean out;
  for (const auto& v : values) {
    (v.defined ? out.used : out.skipped) += 1;
    if (v.defined) out.mean += v.value;
  }
  if (out.used > 0) out.mean /= static_cast<double>(out.used);
  return out;
}

/// @brief Mean absolute difference of neighbours, mean_l |v_{l+1} - v_l|, along the defined entries of `values`.
/// @details An undefined entry is left out of the chain and counted, so one broken layer cannot spoil the mean; `used`
/// is the number of differences. @par Source Li, Li, Zhou (ACL 2025), MAD of a quantity over the layers.
inline DefinedMean mean_absolute_difference(std::span<const Defined<double>> values) {
  DefinedMean out;
  const Defined<double>* last = nullptr;
  for (const auto& v : values) {
    if (!v.defined) {
      ++out.skipped;
      continue;
    }
    if (last) {
      ++out.used;
      out.mean += std::abs(v.value - last->value);
    }
    last = &v;
  }
  if (out.used > 0) out.mean /= static_cast<double>(out.used);
  return out;
}

}  // namespace incipit::inline INCIPIT_ABI::measure
