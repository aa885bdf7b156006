// SPDX-License-Identifier: MIT
/// @file
/// @brief Gradient descent, plain and with momentum.
#pragma once

#include <incipit/core/matrix.hpp>

namespace incipit::inline INCIPIT_ABI::optim {

/// @brief theta <- theta - h g.
/// @par Shapes theta, g: one flat row of all parameters (Owned::flat()).  @par Cost one multiply-add per parameter.
template <Real T>
struct GradientDescent {
  StepSize step;  ///< learning rate h > 0
  /// One step. @throws ShapeError, InvalidArgument for a step that is not positive and finite.
  void operator()(Out<Row<T>> theta, In<Row<T>> g) const {
    require_positive("step", step.value);
    require_size("gradient", g.size(), theta.size());
    theta -= static_cast<T>(step.value) * g;
  }
};

/// @brief Heavy-ball momentum: v <- mu v + g, theta <- theta - h v (with `nesterov`: theta <- theta - h (g + mu v)).
/// @par Source Sutskever et al. 2013, in the form without dampening.
template <Real T>
class Momentum {
 public:
  /// Settings of the method.
  struct Options {
    StepSize step{1e-2};    ///< learning rate h > 0
    double momentum = 0.9;  ///< mu in [0, 1)
    bool nesterov = false;  ///< look-ahead form
  };
  /// State for `size` parameters. @throws InvalidArgument for settings outside their range.
  Momentum(Extent size, Options options) : options_(options), velocity_(Row<T>::Zero(size)) {
    require_positive("step", options.step.value);
    require(options.momentum >= 0 && options.momentum < 1, "momentum", options.momentum, "0 <= momentum < 1");
  }
  /// One step. @throws ShapeError.
  void operator()(Out<Row<T>> theta, In<Row<T>> g) {
    require_size("theta", theta.size(), velocity_.size());
    require_size("gradient", g.size(), velocity_.size());
    velocity_ = static_cast<T>(options_.momentum) * velocity_ + g;
    if (options_.nesterov)
      theta -= static_cast<T>(options_.step.value) * (g + static_cast<T>(options_.momentum) * velocity_);
    else
      theta -= static_cast<T>(options_.step.value) * velocity_;
  }
  /// The velocity v.
  const Row<T>& velocity() const { return velocity_; }

 private:
  Options options_;
  Row<T> velocity_;
};

}  // namespace incipit::inline INCIPIT_ABI::optim
