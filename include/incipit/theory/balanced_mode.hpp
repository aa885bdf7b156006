// SPDX-License-Identifier: MIT
/// @file
/// @brief The closed form of the three-layer flow for one balanced mode: when a plateau ends, and what a finite step
/// changes.
#pragma once

#include <incipit/theory/assumption.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace incipit::inline INCIPIT_ABI::theory {

/// @brief One singular direction of C, with the same size w in all three layers: \f$ \dot w = s w^2 \f$.
/// @details \f$ w(t) = w_0 / (1 - s w_0 t) \f$; the loss falls by \f$ s w^3 \f$. Gradient descent with step h reaches a
/// size \f$ w \f$ about \f$ \ln(w/w_0) \f$ STEPS later than the flow, whatever h: the relative delay falls like the
/// step size. Derivation: docs/derivations/three_layer_flow.md.
class BalancedMode {
 public:
  /// Singular value s > 0 (times act'(0)) and initial size w0 > 0. @throws InvalidArgument
  BalancedMode(double singular_value, double initial_size) : s_(singular_value), w0_(initial_size) {
    require(singular_value > 0, "singular_value", singular_value, "greater than 0");
    require(initial_size > 0, "initial_size", initial_size, "greater than 0");
  }
  /// Time at which the flow diverges, \f$ t^* = 1/(s w_0) \f$: the scale of the escape.
  FlowTime blow_up() const { return {1 / (s_ * w0_)}; }
  /// w(t). @throws InvalidArgument unless 0 <= t < blow_up().
  double at(FlowTime t) const {
    require(t.value >= 0 && t.value < blow_up().value, "t", t.value,
            "0 to below " + incipit::detail::printed(blow_up().value));
    return w0_ / (1 - s_ * w0_ * t.value);
  }
  /// Time at which the size is w: \f$ (1/w_0 - 1/w)/s \f$. @throws InvalidArgument if w < w0.
  FlowTime time_to(double w) const {
    require(w >= w0_, "w", w, "at least the initial size");
    return {(1 / w0_ - 1 / w) / s_};
  }
  /// Nats by which the mode has lowered the loss at size w: \f$ s w^3 \f$.
  double loss_drop(double w) const { return s_ * w * w * w; }
  /// Steps of size h that gradient descent needs to reach size w, to leading order in h:
  /// time_to(w)/h + \f$ \ln(w/w_0) \f$. @throws InvalidArgument
  double steps_to(double w, StepSize h) const {
    require(h.value > 0, "h", h.value, "greater than 0");
    return time_to(w).value / h.value + std::log(w / w0_);
  }

  /// @brief What the closed form rests on: three layers alike along the mode, and steps below stability.
  /// @param sizes components of the three layers along the mode, each greater than 0. @param h the step, 0 for the flow.
  /// @throws InvalidArgument
  std::vector<Assumption> assumptions(const std::array<double, 3>& sizes, StepSize h) const {
    for (const double size : sizes) require_positive("sizes", size);
    require_non_negative("h", h.value);
    const auto [least, largest] = std::minmax_element(sizes.begin(), sizes.end());
    return {{"imbalance of the three layers, largest over least - 1", *largest / *least - 1, 0.1},
            {"growth per step h s w", h.value * s_ * *largest, 0.1}};
  }

 private:
  double s_, w0_;
};

}  // namespace incipit::inline INCIPIT_ABI::theory
