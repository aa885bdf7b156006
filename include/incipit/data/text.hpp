// SPDX-License-Identifier: MIT
/// @file
/// @brief Real text as examples: K characters predict the next one.
#pragma once

#include <incipit/data/examples.hpp>

#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>

namespace incipit::inline INCIPIT_ABI::data {

/// Examples made of text, with the alphabet that gives ids their meaning.
struct TextExamples {
  Examples examples;     ///< (n - K, K) windows of ids, each labelled with the byte that follows
  std::string alphabet;  ///< D distinct bytes in ascending order; id i stands for alphabet[i]
};

/// The distinct bytes of a text, in ascending order of their unsigned value.
inline std::string alphabet_of(std::string_view text) {
  std::array<bool, 256> seen{};
  for (const char c : text) seen[static_cast<unsigned char>(c)] = true;
  std::string alphabet;
  for (std::size_t b = 0; b < seen.size(); ++b)
    if (seen[b]) alphabet.push_back(static_cast<char>(b));
  return alphabet;
}

/// @brief Windows of `context` bytes with the byte that follows each, coded by a given alphabet.
/// @details A character is a byte: text in a multi-byte encoding is read byte by byte.
/// @par Errors InvalidArgument for context < 1, an alphabet of fewer than two bytes or not strictly ascending, or more
/// than 2^31 - 1 token entries; ShapeError for a text of no more than `context` bytes; IndexError naming the position
/// and value of the first byte outside the alphabet. @par Cost O(n context).
inline TextExamples text_examples(std::string_view text, Extent context, std::string alphabet) {
  constexpr Extent most = (std::numeric_limits<std::int32_t>::max)();
  require(context >= 1 && context <= most, "context", context, "at least 1 character");
  const Extent size = static_cast<Extent>(text.size());
  require<ShapeError>(size > context, "text.size()", size, "more than context = " + std::to_string(context) + " bytes");
  require(size - context <= most / context, "text.size()", size, "fewer than 2^31 token entries");
  require(alphabet.size() >= 2, "alphabet.size()", alphabet.size(),
          "at least 2 distinct bytes: else nothing is predicted");
  std::array<Id, 256> id_of;
  id_of.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    const auto byte = static_cast<unsigned char>(alphabet[i]);
    const bool ascends = i == 0 || byte > static_cast<unsigned char>(alphabet[i - 1]);
    require(ascends, "alphabet", static_cast<int>(byte), "bytes in strictly ascending order");
    id_of[byte] = static_cast<Id>(i);
  }
  std::vector<Id> ids;
  ids.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (id_of[byte] < 0) [[unlikely]]
      fail<IndexError>("text[" + std::to_string(ids.size()) + "]", static_cast<int>(byte),
                       "the " + std::to_string(alphabet.size()) + " bytes of the alphabet");
    ids.push_back(id_of[byte]);
  }
  Examples examples{
      Mat<Id>(size - context, context), {ids.begin() + context, ids.end()}, static_cast<Extent>(alphabet.size())};
  for (Extent n = 0; n < size - context; ++n)
    examples.tokens.row(n) = Eigen::Map<const Row<Id>>(ids.data() + n, context);
  return {std::move(examples), std::move(alphabet)};
}

/// Windows of a text with the alphabet of its own distinct bytes; errors as above.
inline TextExamples text_examples(std::string_view text, Extent context) {
  return text_examples(text, context, alphabet_of(text));
}

/// @brief The first `limit` bytes of a file (0: all of it; a shorter file is taken whole).
/// @par Errors InvalidArgument for a negative limit; IoError for a file that cannot be opened or read.
inline std::string read_text(const std::filesystem::path& file, Extent limit = 0) {
  require(limit >= 0, "limit", limit, "a number of bytes, or 0 for the whole file");
  std::ifstream in(file, std::ios::binary);
  require<IoError>(in.is_open(), "file", file.string(), "a file that can be read");
  std::string text;
  std::array<char, 65536> chunk;
  while (in && (limit == 0 || static_cast<Extent>(text.size()) < limit)) {
    const Extent left = limit == 0 ? Extent{chunk.size()} : limit - static_cast<Extent>(text.size());
    in.read(chunk.data(), static_cast<std::streamsize>((std::min)(left, Extent{chunk.size()})));
    text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
  }
  require<IoError>(!in.bad(), "file", file.string(), "a file that can be read");
  return text;
}

/// Windows over the first `limit` bytes of a file (0: all), with the alphabet of those bytes; errors of the above.
inline TextExamples read_text_examples(const std::filesystem::path& file, Extent context, Extent limit = 0) {
  return text_examples(read_text(file, limit), context);
}

}  // namespace incipit::inline INCIPIT_ABI::data
