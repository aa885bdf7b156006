// SPDX-License-Identifier: MIT
/// @file
/// @brief JSON text in and out; the only header that brings a JSON library.
#pragma once

#include <incipit/core/finite.hpp>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace incipit::inline INCIPIT_ABI {

/// A JSON value; objects keep the order in which their keys were added.
using Json = nlohmann::ordered_json;

/// Deepest nesting of arrays and objects that parse_json accepts.
inline constexpr int max_json_depth = 128;

namespace detail {
/// Deepest nesting in `text`, brackets inside strings not counted.
constexpr int json_depth(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = ++depth > deepest ? depth : deepest;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}
}  // namespace detail

/// @brief Parses one JSON value that fills the whole of `text`.
/// @param text the JSON text
/// @param name what the text is, for the error: a path, or "path:line".
/// @throws IoError with the place of the first mistake, or when nested deeper than max_json_depth.
inline Json parse_json(std::string_view text, std::string_view name) {
  require<IoError>(detail::json_depth(text) <= max_json_depth, name, "deeper nesting", "at most 128 nested levels");
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const nlohmann::json::exception& e) {
    throw IoError(std::string(name), e.what(), "JSON");
  }
}

/// @brief A number as JSON: JSON knows neither NaN nor infinities, so these become null ("no such number").
inline Json json_number(double x) { return is_finite(x) ? Json(x) : Json(nullptr); }

/// @brief `value` as text: numbers round-trip, non-finite ones are null, invalid UTF-8 becomes U+FFFD.
/// @param value what to write
/// @param indent blanks per level; -1 writes a single line.
inline std::string json_text(const Json& value, int indent = 2) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace incipit::inline INCIPIT_ABI
