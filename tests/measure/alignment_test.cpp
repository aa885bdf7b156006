// SPDX-License-Identifier: MIT
#include <incipit/core/random.hpp>
#include <incipit/measure/alignment.hpp>
#include <incipit/measure/token_means.hpp>

#include <array>
#include <boost/test/unit_test.hpp>
#include <limits>

using namespace incipit;

BOOST_AUTO_TEST_SUITE(measure_alignment)

BOOST_AUTO_TEST_CASE(leading_mode_of_a_known_matrix) {
  const Row<double, 3> u(0.6, 0.8, 0), v(-0.8, 0.6, 0);
  const Row<double, 2> p(1, 0), q(0, -1);
  const Mat<double> w = 3 * u.transpose() * p + 0.5 * v.transpose() * q;
  const auto mode = measure::leading_mode(w);
  BOOST_TEST(std::abs(mode.spectrum.largest - 3) < 1e-14);
  BOOST_TEST(std::abs(mode.ratio.value - 6) < 1e-13);
  BOOST_TEST((mode.input - u).norm() < 1e-14);
  BOOST_TEST((mode.output - p).norm() < 1e-14);
  BOOST_TEST((mode.input * w - mode.spectrum.largest * mode.output).norm() < 1e-14);
}

BOOST_AUTO_TEST_CASE(the_ratio_of_degenerate_matrices_is_one_or_undefined) {
  BOOST_TEST(std::abs(measure::leading_mode(Mat<float>::Identity(4, 4)).ratio.value - 1) < 1e-15);
  BOOST_TEST(!measure::leading_mode(Mat<double>::Ones(4, 1)).ratio.defined);
  BOOST_TEST(!measure::leading_mode(Mat<double>::Zero(3, 3)).ratio.defined);
  BOOST_TEST(!measure::leading_ratio(Col<double, 2>(5, 0)).defined);
  BOOST_TEST(measure::leading_ratio(Col<double, 3>(6, 4, 0)).value == 1.5);
  const auto rank_one = measure::leading_mode(Mat<double>(Col<double, 3>(1, 2, 3) * Row<double, 3>(1, 1, -1))).ratio;
  BOOST_TEST((!rank_one.defined || rank_one.value > 1e12));  // the second value is zero but for rounding
}

BOOST_AUTO_TEST_CASE(alignments_are_the_known_angles_whatever_sign_and_length) {
  Mat<double> x(4, 2);
  x << 1, 0, 0.5, std::sqrt(0.75), 0, -1e-200, -1e200, 1e200;
  const std::array<double, 4> want{1, 0.5, 0, std::sqrt(0.5)};
  for (const double scale : {1.0, -1.0, 1e-300, 1e300}) {
    const auto found = measure::alignments(x, Row<double, 2>(scale, 0));
    for (std::size_t n = 0; n < 4; ++n) {
      BOOST_TEST(found[n].defined);
      BOOST_TEST(std::abs(found[n].value - want[n]) < 1e-15);
    }
  }
  const std::array<Id, 3> group{3, 1, 1};
  const auto mean = measure::alignment(x, group, Col<float, 2>(0, -2));
  BOOST_TEST(std::abs(mean.mean - (std::sqrt(0.5) + 2 * std::sqrt(0.75)) / 3) < 1e-15);
  BOOST_TEST(mean.used == 3);
}

BOOST_AUTO_TEST_CASE(random_rows_align_by_chance_alone) {
  const Extent n = 4000, c = 50;
  Mat<double> x(n, c);
  const RandomStream stream(8, "rows");
  for (Extent i = 0; i < x.size(); ++i) x.data()[i] = stream.normal(static_cast<std::uint64_t>(i));
  double mean = 0;
  for (const auto& a : measure::alignments(x, Row<double>::Ones(c))) mean += a.value / static_cast<double>(n);
  const double chance = std::sqrt(2 / (3.14159265358979 * static_cast<double>(c)));
  BOOST_TEST(std::abs(mean / chance - 1) < 0.05);  // standard error 1.2 %, next order 1/(4 C)
}

BOOST_AUTO_TEST_CASE(zero_rows_and_zero_directions_are_undefined_and_counted) {
  Mat<double> x = Mat<double>::Ones(3, 2);
  x.row(1).setZero();
  const std::array<Id, 2> group{0, 1};
  const auto mean = measure::alignment(x, group, Row<double, 2>(1, 1));
  BOOST_TEST(std::abs(mean.mean - 1) < 1e-15);
  BOOST_TEST(mean.mean <= 1);
  BOOST_TEST(mean.used == 1);
  BOOST_TEST(mean.skipped == 1);
  const auto none = measure::alignment(x, group, Row<double, 2>(0, 0));
  BOOST_TEST(none.used == 0);
  BOOST_TEST(none.skipped == 2);
  BOOST_TEST(none.mean == 0);
}

BOOST_AUTO_TEST_CASE(wrong_directions_groups_and_entries_are_refused_by_name) {
  const auto named = [](std::string_view name) { return [name](const Error& e) { return e.argument() == name; }; };
  Mat<double> x = Mat<double>::Ones(3, 2);
  const std::array<Id, 1> beyond{3}, below{-1};
  BOOST_CHECK_EXCEPTION(measure::alignments(x, Row<double>::Ones(3)), ShapeError, named("direction"));
  BOOST_CHECK_EXCEPTION(measure::alignment(x, beyond, Row<double>::Ones(2)), IndexError, named("group"));
  BOOST_CHECK_EXCEPTION(measure::alignment(x, below, Row<double>::Ones(2)), IndexError, named("group"));
  BOOST_CHECK_EXCEPTION(measure::leading_mode(Mat<double>(0, 3), "W_V"), ShapeError, named("W_V"));
  x(2, 1) = std::numeric_limits<double>::infinity();
  BOOST_CHECK_EXCEPTION(measure::leading_mode(x, "W_V"), NonFiniteError, named("W_V(2,1)"));
  BOOST_CHECK_EXCEPTION(measure::alignments(x, Row<double>::Ones(2)), NonFiniteError, named("x(2,1)"));
}

BOOST_AUTO_TEST_CASE(token_means_average_the_rows_of_each_token) {
  Mat<float> x(4, 2);
  x << 1, 2, 3, 4, 5, 6, 7, 10;
  const std::array<Id, 4> tokens{2, 0, 2, 2};
  const auto means = measure::token_means(x, tokens, 4);
  BOOST_TEST((means.counts == Col<Extent, 4>(1, 0, 3, 0)));
  BOOST_TEST((means.rows.row(0) - Row<double, 2>(3, 4)).isZero(0));
  BOOST_TEST((means.rows.row(2) - Row<double, 2>(13.0 / 3, 6)).norm() < 1e-14);
  BOOST_TEST(means.rows.row(1).isZero(0));
  BOOST_CHECK_THROW(measure::token_means(x, tokens, 2), IndexError);
  BOOST_CHECK_THROW(measure::token_means(x, std::span<const Id>(tokens).first(3), 4), ShapeError);
  BOOST_CHECK_THROW(measure::token_means(x, tokens, 0), ShapeError);
}

BOOST_AUTO_TEST_SUITE_END()
