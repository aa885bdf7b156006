// SPDX-License-Identifier: MIT
/// @file
/// @brief Integrators of y' = f(t, y): Euler, classical Runge-Kutta, Dormand-Prince 5(4) with step control.
#pragma once

#include <incipit/core/finite.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

namespace incipit::inline INCIPIT_ABI {

/// @brief A right-hand side: `f(t, y, dy)` sets dy = f(t, y); y and dy are equal-sized Eigen vectors or matrices.
template <class F, class V>
concept OdeSystem = requires(F f, double t, const V& y, V& dy) {
  f(t, y, dy);
};

/// An integration that cannot go on: out of steps, or the step underflows where the solution blows up.
class OdeError : public Error {
 public:
  using Error::Error;
};

/// @brief Explicit Euler, order 1: `steps` equal steps y += h f(t, y) from t0 to t1; y is replaced.
/// @par Cost steps evaluations; one vector, allocated once.
/// @throws InvalidArgument unless steps >= 1.
template <class V, OdeSystem<V> F>
void euler(F&& f, V& y, double t0, double t1, Extent steps) {
  using S = typename V::Scalar;
  require(steps >= 1, "steps of euler", steps, "at least 1");
  const double h = (t1 - t0) / static_cast<double>(steps);
  V dy = y;
  for (Extent k = 0; k < steps; ++k) {
    f(t0 + static_cast<double>(k) * h, std::as_const(y), dy);
    y += static_cast<S>(h) * dy;
  }
}

/// @brief Classical Runge-Kutta, order 4: `steps` equal steps from t0 to t1; y is replaced.
/// @par Source Kutta 1901.
/// @par Cost 4 steps evaluations; three vectors, allocated once.
/// @throws InvalidArgument unless steps >= 1.
template <class V, OdeSystem<V> F>
void rk4(F&& f, V& y, double t0, double t1, Extent steps) {
  using S = typename V::Scalar;
  require(steps >= 1, "steps of rk4", steps, "at least 1");
  const double h = (t1 - t0) / static_cast<double>(steps);
  const S half = static_cast<S>(h / 2), sixth = static_cast<S>(h / 6), third = static_cast<S>(h / 3);
  V k = y, stage = y, sum = y;
  for (Extent n = 0; n < steps; ++n) {
    const double t = t0 + static_cast<double>(n) * h;
    f(t, std::as_const(y), k);
    sum = y + sixth * k;
    stage = y + half * k;
    f(t + h / 2, std::as_const(stage), k);
    sum += third * k;
    stage = y + half * k;
    f(t + h / 2, std::as_const(stage), k);
    sum += third * k;
    stage = y + static_cast<S>(h) * k;
    f(t + h, std::as_const(stage), k);
    y = sum + sixth * k;
  }
}

/// Settings of dormand_prince.
struct OdeOptions {
  double rtol = 1e-8;         ///< allowed local error relative to |y_i|, >= 0
  double atol = 1e-10;        ///< allowed local error of every y_i, > 0
  double first_step = 0;      ///< length of the first step; 0: chosen from f
  double max_step = 1e300;    ///< no longer step is taken, > 0
  Extent max_steps = 100000;  ///< tried steps before OdeError, >= 1
};

/// What an integration took.
struct OdeReport {
  Extent accepted = 0;     ///< steps taken
  Extent rejected = 0;     ///< steps repeated with a shorter length
  Extent evaluations = 0;  ///< calls of f
};

namespace detail {
/// Dormand-Prince 5(4): nodes, stages (the last one gives the solution), difference to the embedded fourth order.
struct DormandPrince {
  static constexpr std::array<double, 7> c = {0, 0.2, 0.3, 0.8, 8.0 / 9, 1, 1};
  static constexpr std::array<std::array<double, 6>, 7> a = {
      {{},
       {1.0 / 5},
       {3.0 / 40, 9.0 / 40},
       {44.0 / 45, -56.0 / 15, 32.0 / 9},
       {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
       {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
       {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}}};
  static constexpr std::array<double, 7> e = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                              -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
};
}  // namespace detail

/// @brief Dormand-Prince 5(4) through the given times: y starts at times[0]; `see(k, times[k], y)` is called at each.
/// @details The fifth-order solution goes on; the difference to the embedded fourth-order one, as a root mean square of
/// e_i / (atol + rtol max(|y_i|, |y_i new|)), must not exceed 1. Steps change by 0.9 error^(-1/5) within [0.2, 5] and
/// are cut to end exactly at every requested time, which therefore carry no interpolation error. Times rise or fall
/// strictly.
/// @par Source Dormand & Prince 1980; step control as in Hairer, Norsett & Wanner, section II.4.
/// @par Cost 6 evaluations a step (the last stage is the next one's first); nine vectors, allocated once.
/// @throws InvalidArgument for settings or times out of range; OdeError when max_steps are used up or a step vanishes.
template <class V, OdeSystem<V> F, class See>
OdeReport dormand_prince(F&& f, V& y, std::span<const double> times, See&& see, const OdeOptions& options = {}) {
  using S = typename V::Scalar;
  using Tableau = detail::DormandPrince;
  require(options.rtol >= 0 && is_finite(options.rtol), "rtol", options.rtol, "at least 0");
  require(options.atol > 0 && is_finite(options.atol), "atol", options.atol, "above 0");
  require(options.first_step >= 0, "first_step", options.first_step, "at least 0");
  require(options.max_step > 0, "max_step", options.max_step, "above 0");
  require(options.max_steps >= 1, "max_steps", options.max_steps, "at least 1");
  require(!times.empty(), "number of times", times.size(), "at least 1");
  const double direction = times.size() > 1 && times[1] < times[0] ? -1 : 1;
  for (std::size_t k = 0; k < times.size(); ++k)
    require(is_finite(times[k]) && (k == 0 || direction * (times[k] - times[k - 1]) > 0), "times", times[k],
            "finite, strictly monotone");

  OdeReport report;
  std::array<V, 7> stages;
  for (V& k : stages) k = y;
  V next = y, error = y;
  const auto norm = [&](const V& x) {
    double sum = 0;
    for (Extent i = 0; i < x.rows(); ++i)
      for (Extent j = 0; j < x.cols(); ++j) {
        const double here = std::abs(static_cast<double>(y(i, j))), there = std::abs(static_cast<double>(next(i, j)));
        const double ratio = static_cast<double>(x(i, j)) / (options.atol + options.rtol * (std::max)(here, there));
        sum += ratio * ratio;
      }
    return std::sqrt(sum / static_cast<double>(x.size()));
  };
  const auto evaluate = [&](double t, const V& at, V& dy) {
    f(t, at, dy);
    ++report.evaluations;
  };

  double t = times[0];
  see(std::size_t{0}, t, std::as_const(y));
  if (times.size() == 1 || y.size() == 0) return report;
  evaluate(t, y, stages[0]);
  double h = options.first_step;
  if (!(h > 0)) {
    const double size = norm(y), slope = norm(stages[0]);
    h = size > 1e-5 && slope > 1e-5 && is_finite(slope) ? 0.01 * size / slope : 1e-6;
  }
  for (std::size_t goal = 1; goal < times.size(); ++goal) {
    for (bool arrived = false; !arrived;) {
      const double left = direction * (times[goal] - t);
      h = (std::min)(h, options.max_step);
      const bool last = h >= left * (1 - 1e-12);
      const double step = direction * (last ? left : h);
      require<OdeError>(report.accepted + report.rejected < options.max_steps, "steps of dormand_prince", t,
                        "to reach time " + std::to_string(times[goal]) + " within max_steps");
      require<OdeError>(last || t + step / 16 != t, "step of dormand_prince", step, "longer than rounding of time");
      for (std::size_t s = 1; s < 7; ++s) {
        next = y;
        for (std::size_t j = 0; j < s; ++j) next += static_cast<S>(step * Tableau::a[s][j]) * stages[j];
        evaluate(t + Tableau::c[s] * step, next, stages[s]);
      }
      error = static_cast<S>(step * Tableau::e[0]) * stages[0];
      for (std::size_t j = 2; j < 7; ++j) error += static_cast<S>(step * Tableau::e[j]) * stages[j];
      const double size = norm(error);
      const bool accepted = is_finite(size) && size <= 1;
      const double factor = is_finite(size) ? 0.9 * std::pow(size + 1e-30, -0.2) : 0.2;
      if (accepted) {
        ++report.accepted;
        arrived = last;
        t = last ? times[goal] : t + step;
        y.swap(next);
        stages[0].swap(stages[6]);
        const double longer = std::abs(step) * (std::min)(5.0, (std::max)(0.2, factor));
        h = last ? (std::max)(h, longer) : longer;
      } else {
        ++report.rejected;
        h = std::abs(step) * (std::min)(1.0, (std::max)(0.2, factor));
      }
    }
    see(goal, t, std::as_const(y));
  }
  return report;
}

/// @brief Dormand-Prince 5(4) from t0 to t1; y is replaced. See the overload with times.
template <class V, OdeSystem<V> F>
OdeReport dormand_prince(F&& f, V& y, double t0, double t1, const OdeOptions& options = {}) {
  if (t0 == t1) return {};
  const std::array<double, 2> times = {t0, t1};
  return dormand_prince(
      f, y, std::span<const double>(times), [](std::size_t, double, const V&) {}, options);
}

}  // namespace incipit::inline INCIPIT_ABI
