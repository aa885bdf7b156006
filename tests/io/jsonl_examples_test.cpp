// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/io/jsonl_examples.hpp>

#include <sstream>

#include "data/refused.hpp"

using namespace incipit;
using test::check_refused;

namespace {
data::Examples read(const std::string& text, io::JsonlOptions options = {}) {
  std::istringstream in(text);
  return io::read_jsonl_examples(in, "f", options);
}
// One hostile line after a good one.
void refuse(const std::string& line, std::string_view argument, std::string_view part) {
  check_refused<IoError>([&] { read("{\"tokens\": [1, 2], \"label\": 3}\n" + line + "\n"); }, argument, part);
}
}  // namespace

BOOST_AUTO_TEST_SUITE(io_jsonl_examples)

BOOST_AUTO_TEST_CASE(records_are_read_in_order) {
  const data::Examples e = read("{\"tokens\": [5, 2], \"label\": 3}\r\n\n {\"label\":0,\"tokens\":[0,5]} \n  \n");
  BOOST_TEST((e.tokens == (Mat<Id>(2, 2) << 5, 2, 0, 5).finished()));
  BOOST_TEST((e.labels == std::vector<Id>{3, 0}));
  BOOST_TEST(e.vocab == 6);
}

BOOST_AUTO_TEST_CASE(vocabulary_is_the_largest_id_or_the_given_one) {
  const std::string line = "{\"tokens\": [1], \"label\": 9}";
  BOOST_TEST(read(line).vocab == 10);
  BOOST_TEST(read(line, {.vocab = 40}).vocab == 40);
  check_refused<IoError>([&] { read(line, {.vocab = 9}); }, "f line 1 label", "got 9, allowed: a whole number, 0 to 8");
  check_refused<IoError>([&] { read(line, {.max_vocab = 9}); }, "f line 1 label", "0 to 8");
  check_refused<InvalidArgument>([&] { read(line, {.vocab = 5000}); }, "vocab", "max_vocab = 4096");
  check_refused<InvalidArgument>([&] { read(line, {.vocab = -1}); }, "vocab", "got -1");
  check_refused<InvalidArgument>([&] { read(line, {.max_vocab = 0}); }, "max_vocab", "got 0");
  check_refused<InvalidArgument>([&] { read(line, {.max_vocab = Extent{1} << 33}); }, "max_vocab", "1 to 2147483647");
}

BOOST_AUTO_TEST_CASE(ids_that_are_none_are_refused) {
  refuse(R"({"tokens": [1, -2], "label": 3})", "f line 2 tokens[1]", "got -2, allowed: a whole number, 0 to 4095");
  refuse(R"({"tokens": [1, 4096], "label": 3})", "f line 2 tokens[1]", "got 4096");
  refuse(R"({"tokens": [1, 18446744073709551616], "label": 3})", "f line 2 tokens[1]", "got 18446744073709551616");
  refuse(R"({"tokens": [1, 4294967297], "label": 3})", "f line 2 tokens[1]", "got 4294967297");
  refuse(R"({"tokens": [1, -9223372036854775809], "label": 3})", "f line 2 tokens[1]", "got -9223372036854775809");
  refuse(R"({"tokens": [1.5, 2], "label": 3})", "f line 2 tokens[0]", "got 1.5");
  refuse(R"({"tokens": [1, 2.0], "label": 3})", "f line 2 tokens[1]", "got 2.0");
  refuse(R"({"tokens": [1, 1e3], "label": 3})", "f line 2 tokens[1]", "got 1e3");
  refuse(R"({"tokens": [1, 2], "label": -1})", "f line 2 label", "got -1");
  refuse(R"({"tokens": [1, 2], "label": 1e400})", "f line 2 byte 33", "got 1e400");
  refuse(R"({"tokens": [1, 2], "label": 3.25})", "f line 2 label", "got 3.25");
}

BOOST_AUTO_TEST_CASE(values_of_other_types_are_refused) {
  refuse(R"({"tokens": "1, 2", "label": 3})", "f line 2 tokens", R"(got "1, 2", allowed: an array of whole numbers)");
  refuse(R"({"tokens": 7, "label": 3})", "f line 2 tokens", "got 7");
  refuse(R"({"tokens": null, "label": 3})", "f line 2 tokens", "got null");
  refuse(R"({"tokens": {"a": 1}, "label": 3})", "f line 2 tokens", "got an object");
  refuse(R"({"tokens": [1, "2"], "label": 3})", "f line 2 tokens[1]", R"(got "2")");
  refuse(R"({"tokens": [1, true], "label": 3})", "f line 2 tokens[1]", "got true");
  refuse(R"({"tokens": [1, [2]], "label": 3})", "f line 2 tokens[1]", "got an array");
  refuse(R"({"tokens": [1, 2], "label": [3]})", "f line 2 label", "got an array");
  refuse(R"({"tokens": [1, 2], "label": null})", "f line 2 label", "got null");
  refuse("[1, 2, 3]", "f line 2", "got an array, allowed: a record");
  refuse("17", "f line 2", "got 17");
  refuse("\"text\"", "f line 2", "got \"text\"");
}

BOOST_AUTO_TEST_CASE(fields_must_be_there_once) {
  refuse(R"({"tokens": [1, 2]})", "f line 2", "got no \"label\"");
  refuse(R"({"label": 2})", "f line 2", "got no \"tokens\"");
  refuse("{}", "f line 2", "got no \"tokens\"");
  refuse(R"({"tokens": [1, 2], "label": 3, "label": 4})", "f line 2", "got field \"label\" twice");
  refuse(R"({"tokens": [1, 2], "tokens": [1, 2], "label": 4})", "f line 2", "got field \"tokens\" twice");
  refuse(R"({"tokens": [1, 2], "label": 3, "Label": 4})", "f line 2",
         "got field \"Label\", allowed: \"tokens\" and \"label\" only");
}

BOOST_AUTO_TEST_CASE(lengths_must_agree) {
  refuse(R"({"tokens": [1], "label": 3})", "f line 2 tokens", "got 1 ids, allowed: 2 ids, as in line 1");
  refuse(R"({"tokens": [1, 2, 3], "label": 3})", "f line 2 tokens", "got 3 ids");
  refuse(R"({"tokens": [], "label": 3})", "f line 2 tokens", "got [], allowed: at least 1 token");
}

BOOST_AUTO_TEST_CASE(text_that_is_no_record_is_refused) {
  refuse(R"({"tokens": [1, 2], "label": 3} x)", "f line 2 byte 32", "nothing after it");
  refuse(R"({"tokens": [1, 2], "label": 3}{"tokens": [1, 2], "label": 3})", "f line 2 byte 31", "nothing after it");
  refuse(R"({"tokens": [1, 2], "label": 3)", "f line 2 byte 30", "one JSON record");
  refuse(R"({"tokens": [1, 2,], "label": 3})", "f line 2 byte 18", "got 2,]");
  refuse(R"({"tokens": [1, 02], "label": 3})", "f line 2 byte 17", "one JSON record");
  refuse(R"({"tokens": [1, NaN], "label": 3})", "f line 2 byte 16", "one JSON record");
  refuse("# comment", "f line 2 byte 1", "one JSON record");
  refuse("{\"tokens\xff\": [1, 2], \"label\": 3}", "f line 2 byte 9", "in UTF-8");
  refuse(std::string("{\"tokens\": [1, 2], \"label\": \0 3}", 32), "f line 2 byte 29", "one JSON record");
}

BOOST_AUTO_TEST_CASE(deep_nesting_is_not_followed) {
  refuse("{\"tokens\": " + std::string(1'000'000, '[') + std::string(1'000'000, ']') + ", \"label\": 3}",
         "f line 2 tokens[0]", "got an array");
  refuse(std::string(1'000'000, '['), "f line 2", "got an array");
  std::string objects;
  for (int k = 0; k < 100'000; ++k) objects += "{\"tokens\":";
  refuse(objects, "f line 2 tokens", "got an object");
}

BOOST_AUTO_TEST_CASE(messages_carry_no_raw_bytes_and_stay_short) {
  try {
    read("{\"\x1b[31m\xc3\xa9" + std::string(5'000, 'k') + "\": 1}");
    BOOST_ERROR("accepted");
  } catch (const IoError& error) {
    const std::string what = error.what();
    BOOST_TEST(what.size() < 250U);
    BOOST_TEST((std::all_of(what.begin(), what.end(), [](char c) { return c >= ' ' && c <= '~'; })));
  }
}

BOOST_AUTO_TEST_CASE(files_without_a_record_are_refused) {
  check_refused<IoError>([] { read(""); }, "f", "got no record");
  check_refused<IoError>([] { read("\n \n\t\r\n"); }, "f", "got no record");
  check_refused<IoError>([] { io::read_jsonl_examples("no such file"); }, "file", "got no such file");
  check_refused<IoError>([] { io::read_jsonl_examples(std::filesystem::temp_directory_path()); }, "source",
                         "read to its end");
}

BOOST_AUTO_TEST_SUITE_END()
