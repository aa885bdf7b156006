// SPDX-License-Identifier: MIT
/// @file
/// @brief Interval of a probability from counted successes.
#pragma once

#include <incipit/core/error.hpp>

#include <cmath>

namespace incipit::inline INCIPIT_ABI::measure {

/// An interval of a probability.
struct ProbabilityInterval {
  double low;   ///< lower end, >= 0
  double high;  ///< upper end, <= 1
};

/// @brief Wilson's score interval of a probability after `hits` successes in `trials`: the p with
/// \f$ |\hat p - p| \le z \sqrt{p(1-p)/n} \f$. Right also at 0 and at n successes.
/// @param hits successes, 0 .. trials. @param trials n >= 1. @param z half width in standard errors, > 0 (1.96: 95 %).
/// @throws InvalidArgument @par Source E. B. Wilson 1927.
inline ProbabilityInterval wilson_interval(long long hits, long long trials, double z = 1.959963984540054) {
  require(trials >= 1, "trials", trials, "at least 1");
  require(hits >= 0 && hits <= trials, "hits", hits, "0 to the number of trials");
  require_positive("z", z);
  const double n = static_cast<double>(trials), p = static_cast<double>(hits) / n, z2 = z * z / n;
  const double centre = (p + z2 / 2) / (1 + z2), half = std::sqrt(z2 * (p * (1 - p) + z2 / 4)) / (1 + z2);
  // At the ends the interval touches 0 or 1 exactly; rounding must not leave it.
  return {hits == 0 ? 0 : centre - half, hits == trials ? 1 : centre + half};
}

}  // namespace incipit::inline INCIPIT_ABI::measure
