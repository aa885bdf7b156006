// SPDX-License-Identifier: MIT
/// @file
/// @brief A run against a predictor, step by step: where the bound broke, and which assumption broke before it.
#pragma once

#include <incipit/compare/claim.hpp>
#include <incipit/compare/table.hpp>
#include <incipit/theory/assumption.hpp>

#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace incipit::inline INCIPIT_ABI {
namespace compare {

/// @brief One step of a run next to its prediction.
struct RunRow {
  Extent step;                                  ///< number of the step
  double predicted, measured;                   ///< the quantity
  double error;                                 ///< |measured - predicted| / |predicted|
  double bound;                                 ///< largest error that the predictor allows here
  std::vector<theory::Assumption> assumptions;  ///< what the prediction rests on, at this step

  /// True if the error is a number within the bound.
  bool holds() const { return is_finite(error) && is_finite(measured) && error <= bound; }
};

/// @brief A measured quantity along a run against its prediction.
/// @details "Theory disagrees" becomes "assumption X broke at step 37": see explain().
class Run {
 public:
  /// A run of the quantity `name`.
  explicit Run(std::string name) : name_(std::move(name)) {}

  /// Adds a step; InvalidArgument unless later than the last one, and bound >= 0.
  void add(Extent step, double predicted, double measured, double bound,
           std::vector<theory::Assumption> assumptions = {}) {
    require(rows_.empty() || step > rows_.back().step, "step", step, "later than the last one");
    require(bound >= 0, "bound", bound, ">= 0");
    rows_.push_back({step, predicted, measured, relative_error(predicted, measured), bound, std::move(assumptions)});
  }

  /// The steps so far.
  const std::vector<RunRow>& rows() const { return rows_; }

  /// The first step whose error exceeds its bound (or is not a number), if any.
  std::optional<Extent> first_failure() const {
    for (const RunRow& row : rows_)
      if (!row.holds()) return row.step;
    return std::nullopt;
  }

  /// The first assumption that broke, if any: the earliest step, and there the first of its list.
  std::optional<theory::Breach> first_breach() const {
    for (const RunRow& row : rows_)
      if (const auto broken = theory::first_broken(row.assumptions)) return theory::Breach{*broken, row.step};
    return std::nullopt;
  }

  /// Largest error over the steps at which every assumption holds (all steps if `only_claimed` is false); NaN if one is
  /// NaN.
  double largest_error(bool only_claimed = true) const {
    double largest = 0;
    for (const RunRow& row : rows_) {
      if (only_claimed && !theory::all_hold(row.assumptions)) continue;
      if (!(row.error <= largest)) largest = row.error;
      if (is_nan(largest)) break;
    }
    return largest;
  }

  /// @brief One sentence: within the bound throughout; or where it broke, and whether an assumption broke first.
  std::string explain() const {
    const auto failure = first_failure();
    const auto breach = first_breach();
    const std::string lost = breach ? theory::describe(*breach) : "";
    if (!failure) return name_ + ": within the bound at every step" + (breach ? ", although " + lost : "");
    const std::string where = name_ + ": bound broken at step " + std::to_string(*failure);
    if (breach && breach->step <= *failure) return where + "; " + lost;
    return where + " with every assumption intact" + (breach ? "; later " + lost : "");
  }

  /// @brief Prints steps, at most `limit` of them at equal distances, then explain().
  void print(std::ostream& out, std::size_t limit = 20) const {
    require(limit >= 2, "limit", limit, ">= 2");
    TextTable table({{"step", Align::right},
                     {"predicted", Align::right},
                     {"measured", Align::right},
                     {"rel. error", Align::right},
                     {"bound", Align::right},
                     {"verdict"},
                     {"broken assumption"}});
    const std::size_t n = rows_.size(), shown = (std::min)(n, limit);
    for (std::size_t k = 0; k < shown; ++k) {
      const RunRow& row = rows_[shown == 1 ? 0 : k * (n - 1) / (shown - 1)];
      const auto broken = theory::first_broken(row.assumptions);
      table.add({std::to_string(row.step), short_number(row.predicted, 6), short_number(row.measured, 6),
                 short_number(row.error, 3), short_number(row.bound, 3), row.holds() ? "holds" : "FAILS",
                 broken ? broken->name : ""});
    }
    table.print(out);
    out << explain() << '\n';
  }

 private:
  std::string name_;
  std::vector<RunRow> rows_;
};

}  // namespace compare
}  // namespace incipit::inline INCIPIT_ABI
