// SPDX-License-Identifier: MIT
/// @file
/// @brief Adam and AdamW.
#pragma once

#include <incipit/core/matrix.hpp>

#include <algorithm>
#include <cmath>

namespace incipit::inline INCIPIT_ABI::optim {

/// Settings of Adam; `weight_decay` > 0 makes it AdamW.
struct AdamOptions {
  double step = 1e-3;          ///< learning rate h > 0
  double beta1 = 0.9;          ///< decay of the first moment, in [0, 1)
  double beta2 = 0.999;        ///< decay of the second moment, in [0, 1)
  double eps = 1e-8;           ///< added to the root of the CORRECTED second moment, >= 0
  double weight_decay = 0.0;   ///< decoupled decay: theta <- theta (1 - h weight_decay) before the step, >= 0
};

/// @brief Adam with decoupled weight decay.
/// @par Formula \f$ m \leftarrow \beta_1 m + (1-\beta_1) g,\; v \leftarrow \beta_2 v + (1-\beta_2) g^2,\;
///   \theta \leftarrow (1 - h\lambda)\theta - h\, \frac{m/(1-\beta_1^t)}{\sqrt{v/(1-\beta_2^t)} + \epsilon} \f$
/// @par Shapes  theta, g: one flat row of all parameters (Owned::flat()).
/// @par Source  Kingma & Ba 2015; Loshchilov & Hutter 2019.  @par Cost one fused pass.  @par Checked tests/optim/optim_test.cpp
template <Real T>
class Adam {
 public:
  /// Everything that a resumed run needs besides the parameters.
  struct State {
    Row<T> first, second;  ///< moments m and v
    long long steps = 0;   ///< number of steps done, t
  };
  /// State for `size` parameters. @throws InvalidArgument for settings outside their range.
  Adam(Extent size, AdamOptions options) : options_(options), state_{Row<T>::Zero(size), Row<T>::Zero(size), 0} {
    require_positive("step", options.step);
    require(options.beta1 >= 0 && options.beta1 < 1, "beta1", options.beta1, "0 <= beta1 < 1");
    require(options.beta2 >= 0 && options.beta2 < 1, "beta2", options.beta2, "0 <= beta2 < 1");
    require_non_negative("eps", options.eps);
    require_non_negative("weight_decay", options.weight_decay);
  }
  /// One step. A parameter whose gradient has always been 0 only decays (eps = 0 included). @throws ShapeError.
  void operator()(Out<Row<T>> theta, In<Row<T>> g) {
    require_size("theta", theta.size(), state_.first.size());
    require_size("gradient", g.size(), state_.first.size());
    ++state_.steps;
    const double t = static_cast<double>(state_.steps);
    // 1 - beta^t loses digits for beta near 1 and small t; expm1 does not.
    const double correct1 = options_.beta1 > 0 ? -std::expm1(t * std::log(options_.beta1)) : 1.0;
    const double correct2 = options_.beta2 > 0 ? -std::expm1(t * std::log(options_.beta2)) : 1.0;
    const auto scalar = [](double x) { return static_cast<T>(x); };
    const T b1 = scalar(options_.beta1), b2 = scalar(options_.beta2), eps = scalar(options_.eps);
    const T c1 = scalar(1 - options_.beta1), c2 = scalar(1 - options_.beta2), unroot = scalar(1 / std::sqrt(correct2));
    const T keep = scalar(1 - options_.step * options_.weight_decay), rate = scalar(options_.step / correct1);
    constexpr Extent block = 1024;  // three passes over what the first level cache holds
    for (Extent begin = 0; begin < theta.size(); begin += block) {
      const Extent n = (std::min)(block, theta.size() - begin);
      auto gradient = g.segment(begin, n).array();
      auto m = state_.first.segment(begin, n).array();
      auto v = state_.second.segment(begin, n).array();
      auto p = theta.segment(begin, n).array();
      m = b1 * m + c1 * gradient;
      v = b2 * v + c2 * gradient.square();
      if (options_.eps > 0)
        p = keep * p - rate * m / (unroot * v.sqrt() + eps);
      else
        p = keep * p - (v > T(0)).select(rate * m / (unroot * v.sqrt()), T(0));
    }
  }
  /// Changes the learning rate from the next step on. @throws InvalidArgument.
  void set_step(double step) {
    require_positive("step", step);
    options_.step = step;
  }
  /// Settings.
  const AdamOptions& options() const { return options_; }
  /// Moments and step count, for checkpoints.
  const State& state() const { return state_; }
  /// Restores a saved state. @throws ShapeError.
  void restore(const State& state) {
    require_size("state.first", state.first.size(), state_.first.size());
    require_size("state.second", state.second.size(), state_.second.size());
    require(state.steps >= 0, "state.steps", state.steps, ">= 0");
    state_ = state;
  }

 private:
  AdamOptions options_;
  State state_;
};

}  // namespace incipit::inline INCIPIT_ABI::optim
