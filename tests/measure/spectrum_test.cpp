// SPDX-License-Identifier: MIT
#include <incipit/measure/spectrum.hpp>

#include <boost/test/unit_test.hpp>
#include <limits>

using namespace incipit;
using measure::Defined;

BOOST_AUTO_TEST_SUITE(measure_spectrum)

BOOST_AUTO_TEST_CASE(zero_matrix_has_no_ratio_and_no_nan_u37) {
  for (const Mat<double>& a : {Mat<double>(Mat<double>::Zero(2, 2)), Mat<double>(0, 0), Mat<double>(0, 3)}) {
    const auto s = measure::spectrum_of(a);
    BOOST_TEST(s.nuclear == 0);
    BOOST_TEST(s.largest == 0);
    BOOST_TEST(s.frobenius == 0);
    for (const auto& undefined : {s.ratio, s.effective_rank, s.stable_rank}) {
      BOOST_TEST(!undefined.defined);
      BOOST_TEST(undefined.value == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(rank_one_has_ratio_and_ranks_one_u37) {
  const auto s = measure::spectrum_of(Col<double, 2>(1, 2) * Row<double, 2>(3, 4));
  BOOST_TEST(std::abs(s.largest - 11.18034) < 1e-5);
  BOOST_TEST(std::abs(s.ratio.value - 1) < 1e-14);
  BOOST_TEST(std::abs(s.effective_rank.value - 1) < 1e-13);
  BOOST_TEST(std::abs(s.stable_rank.value - 1) < 1e-14);
}

BOOST_AUTO_TEST_CASE(reference_spectra_u37) {
  Mat<double> a(2, 2);
  a << 3, 0, 4, 5;
  const auto s = measure::spectrum_of(a);
  BOOST_TEST(std::abs(s.largest - 6.708204) < 1e-6);
  BOOST_TEST(std::abs(s.smallest - 2.236068) < 1e-6);
  BOOST_TEST(std::abs(s.nuclear - 8.944272) < 1e-6);
  BOOST_TEST(std::abs(s.frobenius - std::sqrt(50.0)) < 1e-13);
  BOOST_TEST(std::abs(s.ratio.value - 0.75) < 1e-14);
  const auto t = measure::spectrum(Col<double, 3>(2, 1, 1));
  BOOST_TEST(std::abs(t.effective_rank.value - 2.828427) < 1e-6);
  BOOST_TEST(std::abs(t.stable_rank.value - 1.5) < 1e-15);
  BOOST_TEST(std::abs(measure::spectrum(Col<double, 4>::Ones()).effective_rank.value - 4) < 1e-14);
  BOOST_TEST(std::abs(measure::spectrum(Col<double, 3>(1, 1, 0)).effective_rank.value - 2) < 1e-14);
}

BOOST_AUTO_TEST_CASE(ratios_do_not_depend_on_scale) {
  for (const double scale : {1e-300, 1e300}) {
    const auto s = measure::spectrum(Col<double>(Col<double, 3>(2, 1, 1) * scale));
    BOOST_TEST(std::abs(s.effective_rank.value - 2.828427) < 1e-6);
    BOOST_TEST(std::abs(s.stable_rank.value - 1.5) < 1e-14);
    BOOST_TEST(std::abs(s.frobenius / scale - std::sqrt(6.0)) < 1e-14);
  }
}

BOOST_AUTO_TEST_CASE(bad_spectra_are_refused_with_the_place_u36) {
  BOOST_CHECK_THROW(measure::spectrum(Col<double, 2>(1, -1)), InvalidArgument);
  BOOST_CHECK_THROW(measure::spectrum(Col<double, 2>(1, std::numeric_limits<double>::quiet_NaN())), NonFiniteError);
  Mat<double> a = Mat<double>::Ones(3, 3);
  a(1, 2) = std::numeric_limits<double>::infinity();
  BOOST_CHECK_EXCEPTION(measure::spectrum_of(a, "layer 7"), NonFiniteError,
                        [](const NonFiniteError& e) { return e.argument() == "layer 7(1,2)"; });
}

BOOST_AUTO_TEST_CASE(averages_skip_and_count_undefined_layers_u36) {
  const std::vector<Defined<double>> layers{{1, true}, {0, false}, {4, true}, {2, true}};
  const auto mean = measure::mean_defined(layers);
  BOOST_TEST(std::abs(mean.mean - 7.0 / 3) < 1e-15);
  BOOST_TEST(mean.used == 3);
  BOOST_TEST(mean.skipped == 1);
  const auto mad = measure::mean_absolute_difference(layers);
  BOOST_TEST(mad.mean == 2.5);
  BOOST_TEST(mad.used == 2);
  BOOST_TEST(mad.skipped == 1);
  const auto none = measure::mean_absolute_difference(std::vector<Defined<double>>{{0, false}});
  BOOST_TEST(none.mean == 0);
  BOOST_TEST(none.used == 0);
  BOOST_TEST(none.skipped == 1);
}

BOOST_AUTO_TEST_CASE(relative_frobenius_error_is_defined_wherever_it_has_a_meaning) {
  Mat<double> a(1, 2), b(1, 2);
  a << 3, 4;
  b << 3, 4.5;
  BOOST_TEST(std::abs(measure::relative_frobenius_error(b, a).value - 0.1) < 1e-15);
  const Mat<double> big_a = a * 1e300, big_b = b * 1e300;
  BOOST_TEST(std::abs(measure::relative_frobenius_error(big_b, big_a).value - 0.1) < 1e-14);
  const Mat<double> zero = Mat<double>::Zero(1, 2);
  BOOST_TEST(!measure::relative_frobenius_error(a, zero).defined);
  BOOST_TEST(measure::relative_frobenius_error(zero, zero).defined);
  BOOST_TEST(measure::relative_frobenius_error(zero, zero).value == 0);
  BOOST_CHECK_THROW(measure::relative_frobenius_error(a, Mat<double>(2, 1)), ShapeError);
  a(0, 1) = std::numeric_limits<double>::quiet_NaN();
  BOOST_CHECK_THROW(measure::relative_frobenius_error(a, b), NonFiniteError);
}

BOOST_AUTO_TEST_SUITE_END()
