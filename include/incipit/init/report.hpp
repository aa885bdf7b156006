// SPDX-License-Identifier: MIT
/// @file
/// @brief The table "asked against sampled" of a model's weights.
#pragma once

#include <incipit/init/initialize.hpp>

#include <algorithm>
#include <iomanip>
#include <limits>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace incipit::inline INCIPIT_ABI::init {

/// One parameter: what its scheme asks for, and what its entries show.
struct ReportRow {
  std::string name;   ///< of the parameter
  Extent rows, cols;  ///< its shape; rows is the fan-in
  Moments asked;      ///< exact moments
  double mean, std;   ///< of the entries: their average, and their root mean square distance from the asked mean
  double mean_error;  ///< standard error of `mean`: asked std / sqrt(count)
  double std_error;   ///< standard error of `std`: sqrt((fourth - variance^2) / count) / (2 asked std)

  /// Distance of the sampled from the asked std in standard errors. Where nothing should vary: 0 if nothing does, else
  /// infinite. For Orthogonal the sum of squares does not fluctuate, so it is near 0.
  double deviation() const {
    if (std_error > 0) return (std - asked.std()) / std_error;
    return std <= 1e-6 * std::abs(asked.mean) ? 0 : std::numeric_limits<double>::infinity();
  }
};

/// All parameters of a bundle; printable.
struct Report {
  std::vector<ReportRow> rows;  ///< in the bundle's order

  /// Prints an aligned table, one line a parameter under a line of headings.
  friend std::ostream& operator<<(std::ostream& out, const Report& report) {
    std::size_t width = 9;
    for (const auto& row : report.rows) width = (std::max)(width, row.name.size());
    std::ostringstream text;
    const auto line = [&](const auto& name, const auto& shape, const auto&... cells) {
      text << std::left << std::setw(static_cast<int>(width)) << name << std::right << std::setw(14) << shape;
      ((text << std::setw(13) << cells), ...);
      text << '\n';
    };
    text << std::setprecision(5);
    line("parameter", "(in, out)", "asked mean", "sampled", "asked std", "sampled", "error", "deviation");
    for (const auto& row : report.rows)
      line(row.name, '(' + std::to_string(row.rows) + ", " + std::to_string(row.cols) + ')', row.asked.mean, row.mean,
           row.asked.std(), row.std, row.std_error, row.deviation());
    return out << text.str();
  }
};

/// @brief Compares the entries of one weight with what its scheme asks for. w: (in, out), not empty.
template <class W, class S>
ReportRow report_row(std::string_view name, const Eigen::MatrixBase<W>& w, const S& scheme) {
  const Moments asked = moments(scheme, Fan{w.rows(), w.cols()});
  const double count = static_cast<double>(w.size());
  double sum = 0, squares = 0;
  for (Extent i = 0; i < w.rows(); ++i)
    for (Extent j = 0; j < w.cols(); ++j) {
      const double distance = static_cast<double>(w(i, j)) - asked.mean;
      sum += distance;
      squares += distance * distance;
    }
  const double spread = (std::max)(0.0, asked.fourth - asked.variance * asked.variance);
  const double std_error = asked.variance > 0 ? std::sqrt(spread / count) / (2 * asked.std()) : 0;
  return {std::string(name),
          w.rows(),
          w.cols(),
          asked,
          asked.mean + sum / count,
          std::sqrt(squares / count),
          asked.std() / std::sqrt(count),
          std_error};
}

/// @brief The report of all parameters, with the scheme that `choose(name, fan)` returns for each.
template <ParameterBundle P, SchemeChoice C>
Report report(const P& bundle, const C& choose) {
  Report result;
  bundle.for_each_parameter([&](std::string_view name, const auto& weight) {
    result.rows.push_back(report_row(name, weight, choose(name, Fan{weight.rows(), weight.cols()})));
  });
  return result;
}
/// @brief The report of all parameters against one scheme.
template <ParameterBundle P, class S>
requires(Scheme<S> || std::same_as<S, AnyScheme>) Report report(const P& bundle, const S& scheme) {
  return report(bundle, [&](std::string_view, Fan) { return scheme; });
}

}  // namespace incipit::inline INCIPIT_ABI::init
