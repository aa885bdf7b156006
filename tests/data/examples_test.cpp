// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/data/examples.hpp>

#include "data/refused.hpp"

using namespace incipit;
using data::Examples;
using test::check_refused;

namespace {
Examples two_by_three() { return {(Mat<Id>(2, 3) << 0, 9, 4, 5, 0, 9).finished(), {0, 9}, 10}; }
}  // namespace

BOOST_AUTO_TEST_SUITE(data_examples)

BOOST_AUTO_TEST_CASE(id_out_of_range_u25) {
  Examples e = two_by_three();
  e.validate();
  e.tokens(1, 2) = 10;
  check_refused<IndexError>([&] { e.validate(); }, "tokens(1, 2)", "got 10, allowed: 0 to 9 (vocab 10)");
  e.tokens(1, 2) = -1;
  check_refused<IndexError>([&] { e.validate(); }, "tokens(1, 2)", "got -1");
  e.tokens(1, 2) = 9;
  e.labels[1] = 10;
  check_refused<IndexError>([&] { e.validate(); }, "labels[1]", "got 10");
  e.labels[1] = -1;
  check_refused<IndexError>([&] { e.validate(); }, "labels[1]", "got -1");
}

BOOST_AUTO_TEST_CASE(the_first_offence_in_order_is_named) {
  Examples e = two_by_three();
  e.labels[0] = 77;
  e.tokens(1, 0) = 88;
  check_refused<IndexError>([&] { e.validate(); }, "labels[0]", "got 77");
}

BOOST_AUTO_TEST_CASE(shapes_that_are_no_set_are_refused) {
  Examples e = two_by_three();
  e.labels.push_back(1);
  check_refused<ShapeError>([&] { e.validate(); }, "labels.size()", "exactly 2");
  check_refused<ShapeError>([] { Examples{Mat<Id>(0, 3), {}, 10}.validate(); }, "tokens.rows()", "at least 1");
  check_refused<ShapeError>([] { Examples{Mat<Id>(3, 0), {1, 1, 1}, 10}.validate(); }, "tokens.cols()", "at least 1");
  check_refused<InvalidArgument>([] { Examples{Mat<Id>::Zero(1, 1), {0}, 0}.validate(); }, "vocab", "at least 1");
}

BOOST_AUTO_TEST_CASE(select_keeps_order_and_repeats) {
  const Examples e = two_by_three();
  const Examples s = select(e, {1, 1, 0});
  BOOST_TEST(s.size() == 3);
  BOOST_TEST(s.vocab == 10);
  BOOST_TEST(
      (s.tokens.row(0) == e.tokens.row(1) && s.tokens.row(1) == e.tokens.row(1) && s.tokens.row(2) == e.tokens.row(0)));
  BOOST_TEST(s.labels == (std::vector<Id>{9, 9, 0}), boost::test_tools::per_element());
  BOOST_TEST(select(e, {}).size() == 0);
  check_refused<IndexError>([&] { select(e, {0, 2}); }, "rows[1]", "got 2, allowed: 0 to 1");
  check_refused<IndexError>([&] { select(e, {-1}); }, "rows[0]", "got -1");
}

BOOST_AUTO_TEST_SUITE_END()
