// SPDX-License-Identifier: MIT
/// @file
/// @brief Examples from JSON lines: one record {"tokens": [...], "label": k} a line.
#pragma once

#include <incipit/core/json.hpp>
#include <incipit/data/examples.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <istream>
#include <limits>
#include <string_view>

/// Files in and out.
namespace incipit::inline INCIPIT_ABI::io {

/// What read_jsonl_examples takes as the vocabulary.
struct JsonlOptions {
  Extent vocab = 0;         ///< D; 0: largest id or label of the file, plus 1
  Extent max_vocab = 4096;  ///< upper limit of D, so that (D, D) statistics stay of a sane size
};

namespace detail {
// Foreign bytes in a message: short, and printable whatever they are.
inline std::string shown(std::string_view raw) {
  constexpr std::size_t most = 60;
  std::string out(raw.substr(0, most));
  for (char& c : out)
    if (c < ' ' || c > '~') c = '?';
  return raw.size() > most ? out + "..." : out;
}

// Takes the events of one line; throws at the first that no record has, so hostile nesting is never followed.
class RecordReader final : public nlohmann::json_sax<Json> {
 public:
  RecordReader(std::string where, Extent vocab) : where_(std::move(where)), vocab_(vocab) {}

  std::vector<Id> tokens;
  Id label = 0;

  void finish() const {
    if (!has_tokens_) refuse("", "no \"tokens\"", "a record with \"tokens\" and \"label\"");
    if (!has_label_) refuse("", "no \"label\"", "a record with \"tokens\" and \"label\"");
  }

  bool null() override { return other("null"); }
  bool boolean(bool value) override { return other(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return other(std::to_string(value)); }  // negative ones only
  bool number_unsigned(number_unsigned_t value) override {
    if (at_ != At::label && at_ != At::tokens) return other(std::to_string(value));
    if (value >= static_cast<number_unsigned_t>(vocab_)) return other(std::to_string(value));
    if (at_ == At::tokens) {
      tokens.push_back(static_cast<Id>(value));
    } else {
      label = static_cast<Id>(value);
      at_ = At::record;
    }
    return true;
  }
  bool number_float(number_float_t, const string_t& text) override { return other(shown(text)); }
  bool string(string_t& text) override { return other('"' + shown(text) + '"'); }
  bool binary(binary_t&) override { return other("binary data"); }
  bool start_object(std::size_t) override {
    if (at_ != At::line) return other("an object");
    at_ = At::record;
    return true;
  }
  bool key(string_t& name) override {
    const bool is_tokens = name == "tokens";
    if (!is_tokens && name != "label") refuse("", "field \"" + shown(name) + '"', "\"tokens\" and \"label\" only");
    bool& seen = is_tokens ? has_tokens_ : has_label_;
    if (seen) refuse("", "field \"" + name + "\" twice", "every field once");
    seen = true;
    at_ = is_tokens ? At::tokens_value : At::label;
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override {
    if (at_ != At::tokens_value) return other("an array");
    at_ = At::tokens;
    return true;
  }
  bool end_array() override {
    if (tokens.empty()) refuse(" tokens", "[]", "at least 1 token");
    at_ = At::record;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token, const Json::exception&) override {
    refuse(" byte " + std::to_string(position), token.empty() ? "the end" : shown(token),
           "one JSON record in UTF-8, {\"tokens\": [...], \"label\": k}, and nothing after it");
  }

 private:
  enum class At { line, record, tokens_value, tokens, label };

  // A value where it does not belong, or an id outside the vocabulary.
  bool other(const std::string& value) const {
    const std::string ids = "a whole number, 0 to " + std::to_string(vocab_ - 1);
    switch (at_) {
      case At::tokens_value:
        refuse(" tokens", value, "an array of whole numbers");
      case At::tokens:
        refuse(" tokens[" + std::to_string(tokens.size()) + "]", value, ids);
      case At::label:
        refuse(" label", value, ids);
      case At::line:
      case At::record:
        break;
    }
    refuse("", value, "a record {\"tokens\": [...], \"label\": k}");
  }
  [[noreturn]] void refuse(const std::string& place, const std::string& value, const std::string& allowed) const {
    fail<IoError>(where_ + place, value, allowed);
  }

  std::string where_;
  Extent vocab_;
  At at_ = At::line;
  bool has_tokens_ = false, has_label_ = false;
};
}  // namespace detail

/// @brief Reads records {"tokens": [ids], "label": id}, one a line, all with the same number of tokens.
/// @details Lines of white space alone carry no record and are passed over; anything else must be exactly one record
/// with exactly these two fields, once each. Ids and labels are whole numbers written without fraction or exponent.
/// @par Errors IoError naming source, line and field, the value and what was allowed: text that is no JSON or no UTF-8,
/// another type, an id or label outside [0, D) (or not below `max_vocab`), another length than the first record's, a
/// field missing, unknown or twice, text after the record, no record at all, an unreadable stream. InvalidArgument for
/// options out of range. @par Cost O(bytes).
inline data::Examples read_jsonl_examples(std::istream& in, std::string_view source, JsonlOptions options = {}) {
  constexpr Extent most = (std::numeric_limits<Id>::max)();
  require(options.max_vocab >= 1 && options.max_vocab <= most, "max_vocab", options.max_vocab,
          "1 to " + std::to_string(most));
  require(options.vocab >= 0 && options.vocab <= options.max_vocab, "vocab", options.vocab,
          "0 (from the file) to max_vocab = " + std::to_string(options.max_vocab));
  std::vector<Id> ids;
  data::Examples examples;
  Extent length = 0, line = 0, first_line = 0;
  Id largest = 0;
  for (std::string text; std::getline(in, text);) {
    ++line;
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = detail::shown(source) + " line " + std::to_string(line);
    detail::RecordReader record(where, options.vocab != 0 ? options.vocab : options.max_vocab);
    Json::sax_parse(text, &record);
    record.finish();
    if (first_line == 0) {
      first_line = line;
      length = static_cast<Extent>(record.tokens.size());
    } else if (static_cast<Extent>(record.tokens.size()) != length) {
      fail<IoError>(where + " tokens", std::to_string(record.tokens.size()) + " ids",
                    std::to_string(length) + " ids, as in line " + std::to_string(first_line));
    }
    ids.insert(ids.end(), record.tokens.begin(), record.tokens.end());
    examples.labels.push_back(record.label);
    largest = (std::max)({largest, record.label, *std::max_element(record.tokens.begin(), record.tokens.end())});
  }
  require<IoError>(!in.bad(), "source", detail::shown(source), "a stream that can be read to its end");
  require<IoError>(first_line != 0, detail::shown(source), "no record",
                   "at least 1 line {\"tokens\": [...], \"label\": k}");
  examples.tokens = Eigen::Map<const Mat<Id>>(ids.data(), static_cast<Extent>(examples.labels.size()), length);
  examples.vocab = options.vocab != 0 ? options.vocab : Extent{largest} + 1;
  examples.validate();
  return examples;
}

/// Reads a file of records; errors as above, and IoError for a file that cannot be opened.
inline data::Examples read_jsonl_examples(const std::filesystem::path& file, JsonlOptions options = {}) {
  std::ifstream in(file, std::ios::binary);
  require<IoError>(in.is_open(), "file", file.string(), "a file that can be read");
  return read_jsonl_examples(in, file.string(), options);
}

}  // namespace incipit::inline INCIPIT_ABI::io
