// SPDX-License-Identifier: MIT
/// @file
/// @brief Verdicts and printed tables: what every checker returns.
#pragma once

#include <incipit/core/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iomanip>
#include <iterator>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace incipit::inline INCIPIT_ABI::check {

/// Outcome of one check. `unresolved` means that rounding or noise hides the answer: neither evidence for nor against.
enum class Verdict { pass, fail, unresolved };

/// The word for a verdict.
constexpr const char* to_string(Verdict v) {
  return v == Verdict::pass ? "pass" : v == Verdict::fail ? "FAIL" : "unresolved";
}

/// @brief A row of a report: it has a verdict, column titles and one printed cell per column.
template <class R>
concept ReportRow = requires(const R row) {
  { row.verdict } -> std::convertible_to<Verdict>;
  R::titles();
  row.cells();
};

/// @brief Rows of one kind, the verdict over all of them, and their table.
template <ReportRow R>
struct Report {
  std::vector<R> rows;  ///< one per check, in the order they ran

  /// True if there is at least one row and every row passed: an empty report is no evidence.
  bool passed() const { return !rows.empty() && rows.size() == count(Verdict::pass); }
  /// Number of rows with this verdict.
  std::size_t count(Verdict v) const {
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [v](const R& r) { return r.verdict == v; }));
  }
  /// The row called `name`. @throws InvalidArgument if there is none.
  const R& at(const std::string& name) const {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const R& r) { return r.name == name; });
    require(found != rows.end(), "name of a report row", name, "the name of a row that was checked");
    return *found;
  }
  /// Appends the rows of another report, their names prefixed.
  void append(const Report& other, const std::string& prefix = "") {
    for (R row : other.rows) {
      row.name.insert(0, prefix);
      rows.push_back(std::move(row));
    }
  }
  /// The table: one line per row, columns aligned.
  friend std::ostream& operator<<(std::ostream& out, const Report& report) {
    using Line = decltype(R::titles());
    std::vector<Line> lines{R::titles()};
    for (const R& row : report.rows) lines.push_back(row.cells());
    Line last = lines.front();
    for (std::size_t c = 0; c < last.size(); ++c) {
      std::size_t width = 0;
      for (const Line& line : lines) width = (std::max)(width, line[c].size());
      for (Line& line : lines)
        if (c + 1 < last.size()) line[c].resize(width + 2, ' ');
    }
    for (const Line& line : lines) {
      for (const std::string& cell : line) out << cell;
      out << '\n';
    }
    return out;
  }
};

/// A number for a table: `digits` significant digits, "-" for NaN (not measured).
inline std::string cell(double value, int digits = 3) {
  if (!(value == value)) return "-";
  std::ostringstream out;
  out << std::setprecision(digits) << value;
  return std::move(out).str();
}

/// @brief One checked property: a measured value that must not exceed its bound.
struct LawRow {
  std::string name;                 ///< which law
  double value = 0;                 ///< the measured violation
  double bound = 0;                 ///< the largest violation allowed
  Verdict verdict = Verdict::fail;  ///< pass iff value <= bound (never for NaN)
  std::string reason;               ///< what was measured, or what went wrong

  /// Column titles.
  static std::array<std::string, 5> titles() { return {"law", "value", "bound", "verdict", "reason"}; }
  /// Printed cells.
  std::array<std::string, 5> cells() const { return {name, cell(value), cell(bound), to_string(verdict), reason}; }
};

/// Rows of laws.
using LawReport = Report<LawRow>;

/// A law row that passes iff value <= bound; NaN fails.
inline LawRow law_row(std::string name, double value, double bound, std::string reason = "") {
  const Verdict verdict = value <= bound ? Verdict::pass : Verdict::fail;
  return {std::move(name), value, bound, verdict, std::move(reason)};
}

static_assert(ReportRow<LawRow>);

}  // namespace incipit::inline INCIPIT_ABI::check
