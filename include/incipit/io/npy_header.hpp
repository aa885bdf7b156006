// SPDX-License-Identifier: MIT
/// @file
/// @brief The header of a .npy file: magic, version, and a Python dictionary of type, order and shape.
#pragma once

#include <incipit/core/error.hpp>

#include <bit>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace incipit::inline INCIPIT_ABI {
namespace io {

/// A number that .npy files hold: float, double, or an integer of one to eight bytes.
template <class T>
concept NpyScalar = std::same_as<T, float> || std::same_as<T, double> ||
    (std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= 8);

namespace detail {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// Type string of T, e.g. "<f8": byte order, kind, size.
template <NpyScalar T>
std::string npy_descr() {
  const char order = sizeof(T) == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
  return std::string{order, kind} + std::to_string(sizeof(T));
}

/// Everything before the data, padded so that these begin at a multiple of 64 bytes.
inline std::string npy_header(const std::string& descr, std::span<const std::size_t> shape) {
  std::string dict = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i) dict += (i ? ", " : "") + std::to_string(shape[i]);
  dict += shape.size() == 1 ? ",), }" : "), }";
  const std::size_t total = (10 + dict.size() + 1 + 63) / 64 * 64;
  dict.append(total - 10 - dict.size() - 1, ' ');
  dict += '\n';
  require(dict.size() <= 0xffff, "rank", shape.size(), "a header of at most 65535 bytes");
  std::string out(npy_magic);
  out += {'\x01', '\x00', static_cast<char>(dict.size() & 0xffU), static_cast<char>(dict.size() >> 8U)};
  return out + dict;
}

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
  std::size_t data_at = 0;
};

/// Reads the small part of Python's syntax that headers use; every deviation is an IoError.
class NpyDictionary {
 public:
  NpyDictionary(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader out;
    unsigned seen = 0;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      const unsigned bit = key == "descr" ? 1U : key == "fortran_order" ? 2U : key == "shape" ? 4U : 0U;
      if (bit == 0 || (seen & bit) != 0) refuse("key '" + key + "'");
      seen |= bit;
      if (bit == 1) out.descr = quoted();
      if (bit == 2) out.fortran_order = boolean();
      if (bit == 4) out.shape = tuple();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_blanks();
    if (seen != 7 || !rest_.empty()) refuse("an incomplete dictionary or text after it");
    return out;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw IoError(std::string(name_) + ": header", what, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }");
  }
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse(std::string("no '") + c + "' where one belongs");
  }
  std::string quoted() {
    skip_blanks();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"') refuse("no quoted text where one belongs");
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) refuse("text without its closing quote");
    std::string out(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return out;
  }
  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"})
      if (rest_.substr(0, word.size()) == word) {
        rest_.remove_prefix(word.size());
        return word == "True";
      }
    refuse("neither True nor False");
  }
  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> out;
    expect('(');
    while (!accept(')')) {
      std::uint64_t n = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n);
      if (error != std::errc() || out.size() == 32) refuse("a shape that is no tuple of sizes");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      out.push_back(static_cast<std::size_t>(n));
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return out;
  }

  std::string_view rest_, name_;
};

/// Reads the header of a file's `bytes`.
inline NpyHeader parse_npy_header(std::string_view bytes, std::string_view name) {
  const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(bytes[i])}; };
  require<IoError>(bytes.size() >= 12 && bytes.substr(0, 6) == npy_magic, name, "no .npy file", "a .npy file");
  require<IoError>(byte(6) >= 1 && byte(6) <= 3 && byte(7) == 0, std::string(name) + ": version", byte(6), "1, 2 or 3");
  const bool long_form = byte(6) > 1;
  const std::size_t begin = long_form ? 12 : 10;
  std::size_t length = byte(8) | byte(9) << 8U;
  if (long_form) length |= byte(10) << 16U | byte(11) << 24U;
  require<IoError>(length <= bytes.size() - begin, std::string(name) + ": header", length, "a length inside the file");
  NpyHeader out = NpyDictionary(bytes.substr(begin, length), name).parse();
  out.data_at = begin + length;
  return out;
}

}  // namespace detail
}  // namespace io
}  // namespace incipit::inline INCIPIT_ABI
