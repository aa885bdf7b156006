// SPDX-License-Identifier: MIT
/// @file
/// @brief Tables as comma-separated values.
#pragma once

#include <incipit/core/finite.hpp>
#include <incipit/io/text.hpp>

#include <array>
#include <charconv>
#include <concepts>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace incipit::inline INCIPIT_ABI {
namespace io {

/// @brief A number as text that reads back as the same number, independent of the locale; "nan", "inf", "-inf".
template <class V>
requires std::integral<V> || std::floating_point<V> std::string full_precision(V value) {
  if constexpr (std::floating_point<V>)
    if (is_nan(value)) return "nan";  // also for a negative one
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

/// @brief A field of a CSV file by RFC 4180: quoted when it holds a comma, a quote or a line break.
inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

/// @brief A table that is written as CSV (RFC 4180): a line of heads, then rows; lines end in CR LF.
class CsvTable {
 public:
  /// A table with these columns; InvalidArgument without any.
  explicit CsvTable(const std::vector<std::string>& heads) : columns_(heads.size()) {
    require(!heads.empty(), "heads", "none", "at least one column");
    for (std::size_t i = 0; i < heads.size(); ++i) text_ += (i ? "," : "") + csv_field(heads[i]);
    text_ += "\r\n";
  }

  /// @brief Adds a row of strings and numbers, the latter in full precision. ShapeError unless one for each column.
  template <class... Cells>
  void add(const Cells&... cells) {
    require_size("cells", sizeof...(Cells), columns_);
    bool first = true;
    ((text_ += (std::exchange(first, false) ? "" : ",") + field(cells)), ...);
    text_ += "\r\n";
  }
  /// Adds a row of equal kind, e.g. a vector of numbers. ShapeError unless one for each column.
  template <class Range>
  void add_row(const Range& cells) {
    require_size("cells", std::size(cells), columns_);
    bool first = true;
    for (const auto& cell : cells) text_ += (std::exchange(first, false) ? "" : ",") + field(cell);
    text_ += "\r\n";
  }

  /// The table as text.
  const std::string& text() const { return text_; }
  /// Writes the table as a whole. @throws IoError naming the path.
  void save(const std::filesystem::path& path) const { write_file(path, text_); }

 private:
  template <class V>
  static std::string field(const V& value) {
    if constexpr (std::convertible_to<V, std::string_view>)
      return csv_field(value);
    else
      return full_precision(value);
  }
  std::size_t columns_;
  std::string text_;
};

}  // namespace io
}  // namespace incipit::inline INCIPIT_ABI
