// SPDX-License-Identifier: MIT
/// @file
/// @brief Order of convergence: does an error fall at the predicted power of a parameter?
#pragma once

#include <incipit/check/report.hpp>

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace incipit::inline INCIPIT_ABI::check {

/// @brief Least-squares line y = intercept + slope x.
struct LineFit {
  double slope = 0;        ///< fitted slope
  double intercept = 0;    ///< fitted value at x = 0
  double slope_error = 0;  ///< standard error of the slope from the residuals (0 for two points)
  double residual = 0;     ///< largest |y - fit|
  /// The line at x.
  double at(double x) const { return intercept + slope * x; }
};

/// @brief Fits a line. @throws ShapeError for unequal lengths, InvalidArgument for fewer than two distinct x.
inline LineFit fit_line(std::span<const double> x, std::span<const double> y) {
  require_size("y of fit_line", y.size(), x.size());
  require(x.size() >= 2, "points of fit_line", x.size(), "at least 2");
  const double n = static_cast<double>(x.size());
  double mx = 0, my = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mx += x[i] / n, my += y[i] / n;
  for (std::size_t i = 0; i < x.size(); ++i) sxx += (x[i] - mx) * (x[i] - mx), sxy += (x[i] - mx) * (y[i] - my);
  require(sxx > 0, "spread of x in fit_line", sxx, "at least two distinct x");
  LineFit fit;
  fit.slope = sxy / sxx;
  fit.intercept = my - fit.slope * mx;
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double r = y[i] - fit.at(x[i]);
    squares += r * r;
    fit.residual = (std::max)(fit.residual, std::abs(r));
  }
  if (x.size() > 2) fit.slope_error = std::sqrt(squares / (n - 2) / sxx);
  return fit;
}

/// @brief One checked order of convergence.
struct OrderRow {
  std::string name;                                         ///< which error
  double order = std::numeric_limits<double>::quiet_NaN();  ///< fitted slope of log error against log h
  double standard_error = 0;                                ///< of the slope
  double predicted = 0;                                     ///< the order that theory predicts
  double tolerance = 0;                                     ///< allowed |order - predicted|
  std::size_t points = 0;                                   ///< points fitted: those above the floor
  Verdict verdict = Verdict::fail;                          ///< pass, fail, or unresolved when the points are no line
  std::string reason;                                       ///< why

  /// Column titles.
  static std::array<std::string, 8> titles() {
    return {"error", "order", "std.err.", "predicted", "tolerance", "points", "verdict", "reason"};
  }
  /// Printed cells.
  std::array<std::string, 8> cells() const {
    return {name,
            cell(order, 5),
            cell(standard_error),
            cell(predicted),
            cell(tolerance),
            std::to_string(points),
            to_string(verdict),
            reason};
  }
};

/// Rows of orders.
using OrderReport = Report<OrderRow>;

/// @brief Checks that error(h) ~ h^predicted.
/// @details Fits log error = order log h + const and passes if |order - predicted| <= tolerance. Points at or below
/// `floor` (rounding, sampling noise: what the caller knows it to be) are left out and counted in the reason. The fit
/// is `unresolved`, not passed, when fewer than three points remain, when the standard error of the slope exceeds the
/// tolerance (noise), or when the error stops falling at the small-h end although it fell before (an unannounced
/// floor). An error of exactly zero above no floor, and NaN, fail.
/// @param name       which error, for the report
/// @param h          parameters > 0, any order, at least three distinct
/// @param error      |error| at each h
/// @param predicted  the predicted order
/// @param tolerance  allowed deviation of the order, > 0
/// @param floor      errors up to here are rounding or noise
inline OrderRow check_order(std::string name, std::span<const double> h, std::span<const double> error,
                            double predicted, double tolerance, double floor = 0) {
  require_size("error of check_order", error.size(), h.size());
  require(h.size() >= 3, "points of check_order", h.size(), "at least 3");
  require(tolerance > 0, "tolerance of check_order", tolerance, "a positive number");
  require(floor >= 0, "floor of check_order", floor, "zero or a positive number");
  OrderRow row;
  row.name = std::move(name), row.predicted = predicted, row.tolerance = tolerance;
  std::vector<std::pair<double, double>> kept;  // (log h, log error), ascending h
  std::size_t floored = 0;
  for (std::size_t i = 0; i < h.size(); ++i) {
    require(h[i] > 0 && std::isfinite(h[i]), "h of check_order", h[i], "finite and positive");
    const double e = std::abs(error[i]);
    if (!std::isfinite(e)) {
      row.reason = "error is not finite at h = " + cell(h[i]);
      return row;
    }
    if (e <= floor && floor > 0) {
      ++floored;
    } else if (e == 0) {
      row.reason = "error is exactly zero at h = " + cell(h[i]) + " and no floor was given";
      return row;
    } else {
      kept.emplace_back(std::log(h[i]), std::log(e));
    }
  }
  std::sort(kept.begin(), kept.end());
  row.points = kept.size();
  const std::string left_out = floored ? ", " + std::to_string(floored) + " points at the floor left out" : "";
  row.verdict = Verdict::unresolved;
  if (kept.size() < 3) {
    row.reason = "fewer than 3 points above the floor" + left_out;
    return row;
  }
  std::vector<double> x, y;
  for (const auto& [lh, le] : kept) x.push_back(lh), y.push_back(le);
  const LineFit fit = fit_line(x, y);
  row.order = fit.slope, row.standard_error = fit.slope_error;

  // A floor shows as a flat small-h end under a coarse end that falls: judged on local slopes, since the fit mixes
  // both.
  const auto local = [&](std::size_t i) { return (y[i + 1] - y[i]) / (x[i + 1] - x[i]); };
  const double fine = local(0), coarse = local(x.size() - 2);
  if (predicted > 0 && coarse > 0.7 * predicted && fine < 0.5 * predicted) {
    row.reason = "the error stops falling below h = " + cell(std::exp(x[1])) + ": a floor" + left_out;
  } else if (!(fit.slope_error <= tolerance)) {
    row.reason = "standard error exceeds the tolerance: noise or no power law" + left_out;
  } else {
    const bool holds = std::abs(fit.slope - predicted) <= tolerance;
    row.verdict = holds ? Verdict::pass : Verdict::fail;
    row.reason = (holds ? "falls at the predicted order" : "falls at another order") + left_out;
  }
  return row;
}

/// @brief Checks the slope of a remainder law: log measured against log predicted has slope 1.
/// @details For laws error ~ C p(gamma) with unknown constant C: `prediction` takes the place of h and the order is 1.
inline OrderRow check_law_slope(std::string name, std::span<const double> prediction, std::span<const double> measured,
                                double tolerance, double floor = 0) {
  return check_order(std::move(name), prediction, measured, 1.0, tolerance, floor);
}

static_assert(ReportRow<OrderRow>);

}  // namespace incipit::inline INCIPIT_ABI::check
