// SPDX-License-Identifier: MIT
#include <incipit/probe/weights.hpp>

#include <boost/test/unit_test.hpp>
#include <limits>

#include "small_decoders.hpp"

using namespace incipit;

BOOST_AUTO_TEST_SUITE(probe_weights)

BOOST_AUTO_TEST_CASE(every_matrix_of_a_bundle_has_its_spectrum_and_rows_have_none) {
  auto params = test::random_parameters<test::Pre>();
  params.blocks[0].attention.value.weight = Col<double, 6>(1, 2, 3, 4, 5, 6) * Row<double, 6>(1, -1, 1, 0, 0, 1);
  params.head.weight.setIdentity();
  params.blocks[1].hidden.in.weight.setZero();
  const auto found = probe::weight_spectra(params);
  BOOST_TEST_REQUIRE(found.size() == 2U + 2 * 6 + 1);
  for (const auto& [name, rows, cols, spectrum, lead] : found) {
    BOOST_TEST(name.ends_with("weight"));
    if (name == "blocks.0.attention.value.weight") {
      BOOST_TEST(rows == 6);
      BOOST_TEST(std::abs(spectrum.effective_rank.value - 1) < 1e-12);
      BOOST_TEST((!lead.defined || lead.value > 1e12));
    } else if (name == "head.weight") {
      BOOST_TEST(cols == 7);
      BOOST_TEST(std::abs(spectrum.effective_rank.value - 6) < 1e-13);
      BOOST_TEST(std::abs(lead.value - 1) < 1e-14);
    } else if (name == "blocks.1.hidden.in.weight") {
      BOOST_TEST(!spectrum.effective_rank.defined);
      BOOST_TEST(!lead.defined);
    } else {
      BOOST_TEST(lead.value > 1);
      BOOST_TEST(spectrum.effective_rank.value > 1);
      BOOST_TEST(spectrum.effective_rank.value <= static_cast<double>((std::min)(rows, cols)));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_non_finite_weight_is_named) {
  auto params = test::random_parameters<test::Pre>();
  params.positions.weight(1, 2) = std::numeric_limits<double>::infinity();
  BOOST_CHECK_EXCEPTION(probe::weight_spectra(params), NonFiniteError, test::named("positions.weight(1,2)"));
}

BOOST_AUTO_TEST_SUITE_END()
