// SPDX-License-Identifier: MIT
/// @file
/// @brief What a prediction rests on, as numbers: a predictor lists its assumptions, and a caller sees which one broke.
#pragma once

#include <incipit/core/matrix.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace incipit::inline INCIPIT_ABI::theory {

/// @brief One assumption of a predictor: a number that must stay at or below a limit.
struct Assumption {
  std::string name;  ///< what is assumed, in words
  double value;      ///< the number measured for this setting, >= 0
  double limit;      ///< largest value for which the prediction is claimed

  /// True while the prediction may be trusted; a NaN never holds.
  bool holds() const { return value <= limit; }
};

/// True if every assumption of the list holds.
inline bool all_hold(const std::vector<Assumption>& assumptions) {
  return std::all_of(assumptions.begin(), assumptions.end(), [](const Assumption& a) { return a.holds(); });
}

/// The first assumption of the list that does not hold, if any.
inline std::optional<Assumption> first_broken(const std::vector<Assumption>& assumptions) {
  const auto it = std::find_if(assumptions.begin(), assumptions.end(), [](const Assumption& a) { return !a.holds(); });
  if (it == assumptions.end()) return std::nullopt;
  return *it;
}

/// @brief The moment at which a prediction lost its ground.
struct Breach {
  Assumption assumption;  ///< the first that no longer held, with its value then
  Extent step;            ///< the step at which it was first seen broken
};

/// "assumption 'NAME' broke at step N: VALUE > LIMIT", for tables and messages.
inline std::string describe(const Breach& breach) {
  return "assumption '" + breach.assumption.name + "' broke at step " + std::to_string(breach.step) + ": " +
         incipit::detail::printed(breach.assumption.value) + " > " + incipit::detail::printed(breach.assumption.limit);
}

/// @brief Facts about the activation that the theory needs; plain numbers, so theory depends on no layer.
struct ActivationFacts {
  double value0 = 0;      ///< act(0); every prediction here assumes 0
  double slope0 = 1;      ///< act'(0), the factor of the linear response
  double curvature0 = 0;  ///< act''(0), which sets the order of the remainder
};

}  // namespace incipit::inline INCIPIT_ABI::theory
