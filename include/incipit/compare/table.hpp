// SPDX-License-Identifier: MIT
/// @file
/// @brief Aligned text tables, and the table of claims.
#pragma once

#include <incipit/compare/claim.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace incipit::inline INCIPIT_ABI {
namespace compare {

/// @brief Number of columns that UTF-8 `text` takes on a terminal, one for each code point.
inline std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// @brief A number in `digits` significant digits, at most digits + 7 characters; "nan", "inf", "-inf" when not finite.
inline std::string short_number(double x, int digits = 4) {
  if (is_nan(x)) return "nan";
  if (is_infinite(x)) return x > 0 ? "inf" : "-inf";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*g", std::clamp(digits, 1, 17), x);
  return text.data();
}

/// Where the text of a column stands.
enum class Align { left, right };

/// @brief Cells of text that print as an aligned table.
class TextTable {
 public:
  /// One column: its head, where text stands, and the width beyond which a left-aligned cell is wrapped at blanks.
  struct Column {
    std::string head;           ///< title
    Align align = Align::left;  ///< where text stands
    std::size_t wrap = 0;       ///< wrap at this width; 0 never
  };

  /// A table of these columns.
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Adds a row; ShapeError unless there is one cell for each column.
  void add(std::vector<std::string> cells) {
    require_size("cells", cells.size(), columns_.size());
    rows_.push_back(std::move(cells));
  }

  /// Prints head, rule and rows.
  void print(std::ostream& out) const {
    std::vector<std::vector<std::vector<std::string>>> rows;
    std::vector<std::size_t> widths;
    for (const Column& column : columns_) widths.push_back(display_width(column.head));
    for (const auto& cells : rows_) {
      auto& row = rows.emplace_back();
      for (std::size_t c = 0; c < cells.size(); ++c) {
        row.push_back(wrapped(cells[c], columns_[c].wrap));
        for (const std::string& line : row.back()) widths[c] = (std::max)(widths[c], display_width(line));
      }
    }
    std::vector<std::vector<std::string>> head;
    std::string rule;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      head.push_back({columns_[c].head});
      rule += (c ? "  " : "") + std::string(widths[c], '-');
    }
    print_row(out, head, widths);
    out << rule << '\n';
    for (const auto& row : rows) print_row(out, row, widths);
  }

 private:
  static std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
    std::vector<std::string> lines{""};
    if (width == 0) return {std::string(text)};
    while (!text.empty()) {
      const std::size_t blank = (std::min)(text.find(' '), text.size());
      const std::string_view word = text.substr(0, blank);
      if (!lines.back().empty() && display_width(lines.back()) + 1 + display_width(word) > width)
        lines.emplace_back("  ");
      else if (!lines.back().empty())
        lines.back() += ' ';
      lines.back() += word;
      text.remove_prefix((std::min)(blank + 1, text.size()));
    }
    return lines;
  }

  void print_row(std::ostream& out, const std::vector<std::vector<std::string>>& row,
                 const std::vector<std::size_t>& widths) const {
    std::size_t height = 1;
    for (const auto& cell : row) height = (std::max)(height, cell.size());
    for (std::size_t h = 0; h < height; ++h) {
      std::string line;
      for (std::size_t c = 0; c < row.size(); ++c) {
        const std::string text = h < row[c].size() ? row[c][h] : std::string();
        const std::string pad(widths[c] - display_width(text), ' ');
        line += (c ? "  " : "") + (columns_[c].align == Align::left ? text + pad : pad + text);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out << line << '\n';
    }
  }

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// @brief Prints claims as a table: claim, source, predicted, measured, error, bound, verdict.
/// @details Limits read "<= x" and ">= x" in the column of predictions; a relative error or bound carries no unit, an
/// absolute one is marked "abs". Long names wrap.
inline void print_claims(std::ostream& out, std::span<const Claim> claims) {
  TextTable table({{"claim", Align::left, 52},
                   {"source", Align::left, 26},
                   {"predicted", Align::right},
                   {"measured", Align::right},
                   {"error", Align::right},
                   {"bound", Align::right},
                   {"verdict"}});
  for (const Claim& c : claims) {
    const bool limit = c.relation == Relation::at_most || c.relation == Relation::at_least;
    const std::string sign = c.relation == Relation::at_most ? "<= " : c.relation == Relation::at_least ? ">= " : "";
    const std::string unit = c.relation == Relation::absolute ? " abs" : "";
    const bool bounded = !limit && c.expect != Expect::report;
    table.add({c.name, c.source, sign + short_number(c.predicted, 6), short_number(c.measured, 6),
               short_number(c.error, 3) + unit, bounded ? short_number(c.bound, 3) : "", verdict(c)});
  }
  table.print(out);
}

}  // namespace compare
}  // namespace incipit::inline INCIPIT_ABI
