// SPDX-License-Identifier: MIT
/// @file
/// @brief Remainders of a first-order Taylor expansion over a ladder of steps, and the verdict on them.
#pragma once

#include <incipit/check/order.hpp>
#include <incipit/core/matrix.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace incipit::inline INCIPIT_ABI::check {

/// @brief The tolerances of gradient checks: one table, from the scalar's epsilon.
struct Tolerances {
  double order_low = 1.8, order_high = 2.2;  ///< a right gradient leaves a remainder of this Taylor order
  double visible = 30;       ///< a remainder counts as seen when it exceeds this many times the measured noise
  double still = 6;          ///< nothing moves when remainders stay within this many times the noise
  double resolution = 3e-3;  ///< noise must not hide a relative error of the gradient as large as this
  double central = 0;        ///< allowed relative error of central differences: epsilon^0.4
  double finest_step = 0;    ///< smallest relative step of the ladder

  /// The table for a scalar: float 1.7e-3, double 5.5e-7, long double 2.6e-8 for `central`.
  template <Real T>
  static Tolerances of() {
    const double eps = static_cast<double>(T(Eigen::NumTraits<T>::epsilon()));
    Tolerances t;
    t.central = std::pow(eps, 0.4);
    t.finest_step = 4 * std::pow(eps, 0.6);
    return t;
  }
};

/// @brief How a function f behaves along one direction v against its claimed gradient g, all as plain numbers.
/// @details plus[k] = f(x + h_k v) - f(x) - <g, h_k v>, minus[k] the same at -h_k; h descends by a constant ratio.
struct Ladder {
  std::vector<double> h, plus, minus;  ///< steps (relative to the size of x) and remainders
  std::vector<double> noise;           ///< rounding noise of a remainder at each step
  double slope = 0;                    ///< <g, v>
  double gradient_norm = 0;            ///< |g| times the size of v's entries: the typical |<g, v>|

  /// The larger remainder of the two signs: |even part| + |odd part|, in which a wrong slope and curvature never
  /// cancel.
  double size(std::size_t k) const { return (std::max)(std::abs(plus[k]), std::abs(minus[k])); }
};

/// @brief Verdict on a gradient along one direction.
struct TaylorVerdict {
  double order = std::numeric_limits<double>::quiet_NaN();          ///< fitted order; NaN when no remainder is visible
  double central_error = std::numeric_limits<double>::quiet_NaN();  ///< relative error of central differences
  Verdict verdict = Verdict::fail;                                  ///< outcome
  std::string reason;                                               ///< why
};

namespace detail {

/// Central differences against <g, v>: the odd part of the remainder over h, extrapolated from h and h/ratio.
struct CentralEstimate {
  double error = 0;        // estimate of <grad f - g, v>
  double uncertainty = 0;  // truncation, plus noise over step
};

inline CentralEstimate central_difference(const Ladder& l) {
  CentralEstimate best{0, (std::numeric_limits<double>::infinity)()};
  // Truncation is what differences between steps show beyond noise, at this step or any finer one: beyond a kink or a
  // saturation, differences of coarse steps agree with each other and with nothing else.
  double truncation = 0;
  for (std::size_t k = l.h.size() - 1; k-- > 0;) {
    const double ratio = l.h[k] / l.h[k + 1], r2 = ratio * ratio;
    const double coarse = (l.plus[k] - l.minus[k]) / (2 * l.h[k]);
    const double fine = (l.plus[k + 1] - l.minus[k + 1]) / (2 * l.h[k + 1]);
    const double noise = 10 * l.noise[k + 1] / l.h[k + 1];
    truncation = (std::max)(truncation, std::abs(coarse - fine) - noise);
    if (truncation + noise < best.uncertainty) best = {(r2 * fine - coarse) / (r2 - 1), truncation + noise};
  }
  return best;
}

/// Order of the remainder over the finest four consecutive rungs that stand out of the noise; NaN if there are none.
inline double remainder_order(const Ladder& l, double visible) {
  constexpr std::size_t rungs = 4;
  for (std::size_t last = l.h.size(); last >= rungs; --last) {
    std::vector<double> x, y;
    for (std::size_t k = last - rungs; k < last && l.size(k) > visible * l.noise[k]; ++k)
      x.push_back(std::log(l.h[k])), y.push_back(std::log(l.size(k)));
    if (x.size() == rungs) return fit_line(x, y).slope;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// True if the remainder drops into the noise between two rungs faster than a third power would: a kink lies between.
inline bool vanishes_at_once(const Ladder& l, double visible) {
  std::size_t seen = l.h.size();
  while (seen > 0 && l.size(seen - 1) <= visible * l.noise[seen - 1]) --seen;
  if (seen == 0 || seen == l.h.size()) return false;
  const double ratio = l.h[seen - 1] / l.h[seen];
  return l.size(seen - 1) > visible * l.noise[seen - 1] * ratio * ratio * ratio;
}

/// The first rung from which on neither the remainder nor the claimed slope shows anything.
inline std::size_t first_still_rung(const Ladder& l, double still) {
  std::size_t k = l.h.size();
  while (k > 0 && l.size(k - 1) <= still * l.noise[k - 1] && std::abs(l.slope) * l.h[k - 1] <= l.noise[k - 1]) --k;
  return k;
}

}  // namespace detail

/// @brief Judges a ladder.
/// @details Two measurements that see different mistakes. (1) Central differences at the pair of steps where truncation
/// and noise are smallest: their relative error must be within `central`. (2) The order of the remainder over the
/// finest rungs that stand out of the noise: a right gradient leaves h^2, a wrong one leaves h. When no remainder
/// stands out the function is linear along v to rounding; when it vanishes at once between two rungs there is a kink
/// (ReLU) further out; an order above 2.2 means that curvature vanishes along v. These three rest on (1) alone, and say
/// so. If neither f nor g moves visibly, both are zero to rounding. If noise could hide an error of `resolution`, the
/// verdict is `unresolved`.
inline TaylorVerdict judge(const Ladder& l, const Tolerances& t) {
  TaylorVerdict out;
  for (std::size_t k = 0; k < l.h.size(); ++k)
    if (!std::isfinite(l.plus[k]) || !std::isfinite(l.minus[k])) {
      out.reason = "function is not finite at step " + cell(l.h[k]);
      return out;
    }
  out.order = detail::remainder_order(l, t.visible);
  const bool kink = detail::vanishes_at_once(l, t.visible);
  const std::size_t still = detail::first_still_rung(l, t.still);
  if (still == 0 || (still < l.h.size() && kink)) {
    out.central_error = 0;
    out.verdict = Verdict::pass;
    out.reason = still == 0 ? "function and gradient are zero to rounding" : "flat below a kink";
    return out;
  }

  const auto central = detail::central_difference(l);
  const double scale = (std::max)({std::abs(l.slope), std::abs(l.slope + central.error), l.gradient_norm});
  out.central_error = std::abs(central.error) / scale;
  const bool agrees = std::abs(central.error) <= t.central * scale + 2 * central.uncertainty;
  const bool slow = out.order < t.order_low && !kink;
  if (!agrees) {
    out.reason =
        std::string("central differences disagree with the gradient") + (slow ? ", first-order remainder" : "");
  } else if (!(central.uncertainty <= t.resolution * scale)) {
    out.verdict = Verdict::unresolved;
    out.reason = "rounding hides the gradient: use a wider scalar or other inputs";
  } else if (slow) {
    out.reason = "remainder falls slower than h^2: the gradient is wrong";
  } else {
    out.verdict = Verdict::pass;
    out.reason = std::isnan(out.order)       ? "linear to rounding: no remainder to fit"
                 : kink                      ? "kink away from the point: central differences only"
                 : out.order <= t.order_high ? "second order"
                                             : "no curvature along the direction: remainder of higher order";
  }
  return out;
}

}  // namespace incipit::inline INCIPIT_ABI::check
