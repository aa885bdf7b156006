// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/data/statistics.hpp>
#include <incipit/data/text.hpp>

#include <Eigen/SVD>

#include "data/refused.hpp"
#include "support/shared_data.hpp"

using namespace incipit;
using data::text_examples;
using data::TextExamples;
using test::check_refused;

namespace {
struct TemporaryFile {
  std::filesystem::path path;
  explicit TemporaryFile(const std::string& name, const std::string& bytes)
      : path(std::filesystem::temp_directory_path() / ("incipit_text_test_" + name)) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path); }
};
}  // namespace

BOOST_AUTO_TEST_SUITE(data_text)

BOOST_AUTO_TEST_CASE(windows_predict_the_next_byte) {
  const TextExamples t = text_examples("banana", 2);
  BOOST_TEST(t.alphabet == "abn");
  BOOST_TEST((t.examples.tokens == (Mat<Id>(4, 2) << 1, 0, 0, 2, 2, 0, 0, 2).finished()));
  BOOST_TEST((t.examples.labels == std::vector<Id>{2, 0, 2, 0}));
  BOOST_TEST(t.examples.vocab == 3);
  t.examples.validate();
}

BOOST_AUTO_TEST_CASE(bytes_are_unsigned_and_may_be_anything) {
  const std::string bytes("\xff\x00\x80\x7f\xff", 5);
  const TextExamples t = text_examples(bytes, 1);
  BOOST_TEST(t.alphabet == std::string("\x00\x7f\x80\xff", 4));
  BOOST_TEST((t.examples.labels == std::vector<Id>{0, 2, 1, 3}));
}

BOOST_AUTO_TEST_CASE(another_text_reads_with_the_same_alphabet) {
  const TextExamples t = text_examples("nab", 1, "abn");
  BOOST_TEST(t.examples.vocab == 3);
  BOOST_TEST((t.examples.labels == std::vector<Id>{0, 1}));
  check_refused<IndexError>([] { text_examples("naxb", 1, "abn"); }, "text[2]",
                            "got 120, allowed: the 3 bytes of the alphabet");
  check_refused<InvalidArgument>([] { text_examples("nab", 1, "ban"); }, "alphabet", "got 97");
  check_refused<InvalidArgument>([] { text_examples("nab", 1, "aab"); }, "alphabet", "strictly ascending");
}

BOOST_AUTO_TEST_CASE(texts_that_predict_nothing_are_refused) {
  check_refused<ShapeError>([] { text_examples("abc", 3); }, "text.size()",
                            "got 3, allowed: more than context = 3 bytes");
  check_refused<ShapeError>([] { text_examples("", 1); }, "text.size()", "got 0");
  check_refused<InvalidArgument>([] { text_examples("abc", 0); }, "context", "got 0");
  check_refused<InvalidArgument>([] { text_examples("abc", -1); }, "context", "got -1");
  check_refused<InvalidArgument>([] { text_examples("abc", Extent{1} << 40); }, "context", "at least 1");
  check_refused<InvalidArgument>([] { text_examples("aaaa", 1); }, "alphabet.size()", "at least 2 distinct bytes");
  BOOST_TEST(text_examples("abc", 2).examples.size() == 1);
}

BOOST_AUTO_TEST_CASE(files_are_read_to_their_limit) {
  const TemporaryFile file("limit", "abracadabra\n");
  BOOST_TEST(data::read_text(file.path) == "abracadabra\n");
  BOOST_TEST(data::read_text(file.path, 4) == "abra");
  BOOST_TEST(data::read_text(file.path, 1000) == "abracadabra\n");
  const TextExamples t = data::read_text_examples(file.path, 3, 7);
  BOOST_TEST(t.alphabet == "abcdr");
  BOOST_TEST(t.examples.size() == 4);
  const std::string large(200'000, 'x');
  BOOST_TEST(data::read_text(TemporaryFile("large", large).path, 150'001).size() == 150'001U);
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_read_are_refused) {
  check_refused<IoError>([] { data::read_text("no such file"); }, "file", "got no such file");
  check_refused<IoError>([] { data::read_text(std::filesystem::temp_directory_path()); }, "file",
                         "a file that can be read");
  const TemporaryFile empty("empty", "");
  check_refused<ShapeError>([&] { data::read_text_examples(empty.path, 3); }, "text.size()", "got 0");
  check_refused<InvalidArgument>([&] { data::read_text(empty.path, -1); }, "limit", "got -1");
}

BOOST_AUTO_TEST_CASE(shakespeare_has_the_known_singular_values) {
  if (test::skip_without("tinyshakespeare/input.txt")) return;
  const TextExamples t = data::read_text_examples(*test::shared_file("tinyshakespeare/input.txt"), 3, 200'000);
  BOOST_TEST(t.examples.vocab == 62);
  BOOST_TEST(t.examples.size() == 199'997);
  const data::TokenStatistics s = count_statistics(t.examples);
  const Eigen::VectorXd values = Eigen::BDCSVD<Eigen::MatrixXd>(s.correlation).singularValues();
  const double known[] = {0.144, 0.054, 0.024};
  for (Extent i = 0; i < 3; ++i) BOOST_TEST(std::abs(values(i) - known[i]) < 6e-4);
  BOOST_TEST(std::abs(s.occurrences.sum() - 3) < 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()
