// SPDX-License-Identifier: MIT
#include <incipit/core/random.hpp>
#include <incipit/measure/condensation.hpp>
#include <incipit/measure/cosine.hpp>

#include <array>
#include <boost/test/unit_test.hpp>
#include <limits>

using namespace incipit;

namespace {

Mat<double> random_matrix(Extent rows, Extent cols, std::string_view name = "rows") {
  const RandomStream stream(3, name);
  Mat<double> a(rows, cols);
  for (Extent i = 0; i < a.size(); ++i) a.data()[i] = stream.normal(static_cast<std::uint64_t>(i));
  return a;
}

/// Symmetric, with entry f(|i - j|).
template <class F>
Mat<double> by_distance(Extent n, F f) {
  Mat<double> a(n, n);
  for (Extent i = 0; i < n; ++i)
    for (Extent j = 0; j < n; ++j) a(i, j) = f(i < j ? j - i : i - j);
  return a;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(measure_cosine)

BOOST_AUTO_TEST_CASE(zero_vector_has_cosine_zero_and_is_flagged_u66) {
  const auto both = measure::cosine(Row<double, 2>(0, 0), Row<double, 2>(0, 0));
  BOOST_TEST(both.value == 0);
  BOOST_TEST(!both.defined);
  BOOST_TEST(!measure::cosine(Row<double, 2>(1, 0), Row<double, 2>(0, 0)).defined);
  Mat<float> x = Mat<float>::Ones(3, 2);
  x.row(1).setZero();
  const auto c = measure::cosine_matrix(x);
  BOOST_TEST((c.zero_rows == std::vector<Extent>{1}));
  BOOST_TEST(c.values.row(1).isZero(0));
  BOOST_TEST(c.values.col(1).isZero(0));
  BOOST_TEST(std::abs(c.values(0, 2) - 1.0F) < 1e-6F);
}

BOOST_AUTO_TEST_CASE(tiny_and_huge_vectors_have_cosine_one_with_themselves_u66) {
  const Row<float, 2> tiny_float(1e-25F, 0);
  BOOST_TEST(measure::cosine(tiny_float, tiny_float).value == 1.0F);
  for (const double scale : {1e-200, 1e200, 5e-324, (std::numeric_limits<double>::max)()}) {
    const Row<double, 2> x(scale, scale);
    BOOST_TEST(std::abs(measure::cosine(x, x).value - 1) < 4e-16);
    BOOST_TEST(measure::cosine(x, x).defined);
    BOOST_TEST(std::abs(measure::cosine(x, Row<double, 2>(1, 0)).value - std::sqrt(0.5)) < 4e-16);
  }
}

BOOST_AUTO_TEST_CASE(cosines_never_leave_their_range_u66) {
  const Row<double, 7> tenths = Row<double, 7>::Constant(0.1);
  BOOST_TEST(measure::cosine(tenths, tenths).value <= 1);
  BOOST_TEST(measure::cosine(tenths, Row<double, 7>(-tenths)).value >= -1);
  for (Extent c = 1; c < 60; ++c) {
    Mat<float> x = random_matrix(1, c).cast<float>().replicate(3, 1);
    x.row(2) *= -3.0F;
    const Mat<float> values = measure::cosine_matrix(x).values;
    BOOST_TEST(values.maxCoeff() <= 1.0F);
    BOOST_TEST(values.minCoeff() >= -1.0F);
    BOOST_TEST(std::abs(values(0, 2) + 1.0F) < 1e-6F);
  }
}

BOOST_AUTO_TEST_CASE(cosine_matrix_is_symmetric_scale_free_and_agrees_with_pairs) {
  Mat<double> x = random_matrix(9, 5);
  const Mat<double> c = measure::cosine_matrix(x).values;
  for (Extent i = 0; i < 9; ++i) {
    BOOST_TEST(c(i, i) == 1);
    for (Extent j = 0; j < 9; ++j) {
      BOOST_TEST(c(i, j) == c(j, i));
      if (i != j) BOOST_TEST(std::abs(c(i, j) - x.row(i).dot(x.row(j)) / (x.row(i).norm() * x.row(j).norm())) < 1e-15);
    }
  }
  for (Extent i = 0; i < 9; ++i) x.row(i) *= std::ldexp(1.0, static_cast<int>(100 * i) - 400);
  BOOST_TEST((measure::cosine_matrix(x).values - c).cwiseAbs().maxCoeff() < 1e-15);
  BOOST_TEST(measure::cosine_matrix(Mat<double>(0, 3)).values.size() == 0);
  BOOST_TEST(measure::cosine_matrix(Mat<double>(2, 0)).zero_rows.size() == 2U);
}

BOOST_AUTO_TEST_CASE(non_finite_rows_and_unequal_lengths_are_refused) {
  Mat<double> x = random_matrix(4, 3);
  x(2, 1) = std::numeric_limits<double>::quiet_NaN();
  BOOST_CHECK_EXCEPTION(measure::cosine_matrix(x, "W_E"), NonFiniteError,
                        [](const NonFiniteError& e) { return e.argument() == "W_E(2,1)"; });
  BOOST_CHECK_THROW(measure::cosine(x.row(2), x.row(0)), NonFiniteError);
  BOOST_CHECK_THROW(measure::cosine(Row<double>(3), Row<double>(4)), ShapeError);
}

BOOST_AUTO_TEST_CASE(profile_is_the_mean_by_distance_of_tokens) {
  const auto f = [](Extent d) { return 1.0 / static_cast<double>(1 + d); };
  const auto profile = measure::distance_profile(by_distance(5, f));
  BOOST_TEST_REQUIRE(profile.size() == 4U);
  for (std::size_t k = 0; k < 4; ++k) {
    BOOST_TEST(profile[k].distance == static_cast<Extent>(k + 1));
    BOOST_TEST(profile[k].count == static_cast<Extent>(4 - k));
    BOOST_TEST(std::abs(profile[k].mean - f(static_cast<Extent>(k + 1))) < 1e-15);
  }
  const std::array<Id, 3> tokens{20, 11, 13};
  Mat<double> c = Mat<double>::Identity(3, 3);
  c(0, 1) = 0.5;
  c(0, 2) = 0.25;
  c(1, 2) = -0.75;
  const auto by_token = measure::distance_profile(c, tokens);
  BOOST_TEST_REQUIRE(by_token.size() == 3U);
  BOOST_TEST(by_token[0].distance == 2);
  BOOST_TEST(by_token[0].mean == -0.75);
  BOOST_TEST(by_token[1].distance == 7);
  BOOST_TEST(by_token[1].mean == 0.25);
  BOOST_TEST(by_token[2].distance == 9);
  BOOST_TEST(by_token[2].mean == 0.5);
  BOOST_TEST(measure::distance_profile(Mat<double>::Ones(1, 1)).empty());
  BOOST_CHECK_THROW(measure::distance_profile(Mat<double>(2, 3)), ShapeError);
  BOOST_CHECK_THROW(measure::distance_profile(Mat<double>::Ones(2, 2), tokens), ShapeError);
}

BOOST_AUTO_TEST_CASE(off_diagonal_correlation_and_error_ignore_the_diagonal) {
  const Mat<double> raw = random_matrix(6, 6), a = raw + Mat<double>(raw.transpose());
  Mat<double> b = 3.0 * a + Mat<double>::Constant(6, 6, 2.0);
  b.diagonal().setConstant(1e6);
  BOOST_TEST(std::abs(measure::off_diagonal_correlation(a, b).value - 1) < 1e-14);
  BOOST_TEST(std::abs(measure::off_diagonal_correlation(a, Mat<double>(-b)).value + 1) < 1e-14);
  Mat<double> shifted = a.array() + 0.25;
  shifted.diagonal().setZero();
  BOOST_TEST(std::abs(measure::off_diagonal_mean_error(a, shifted).value - 0.25) < 1e-15);
  BOOST_TEST(std::abs(measure::off_diagonal_mean(shifted).value - measure::off_diagonal_mean(a).value - 0.25) < 1e-15);
  BOOST_CHECK_THROW(measure::off_diagonal_correlation(a, random_matrix(5, 5)), ShapeError);
  BOOST_CHECK_THROW(measure::off_diagonal_mean_error(a, random_matrix(5, 5)), ShapeError);
}

BOOST_AUTO_TEST_CASE(correlation_with_a_constant_matrix_is_undefined_not_nan) {
  const Mat<double> a = random_matrix(4, 4);
  for (const double level : {0.0, 0.1, 1e-300}) {
    const auto r = measure::off_diagonal_correlation(a, Mat<double>::Constant(4, 4, level));
    BOOST_TEST(!r.defined);
    BOOST_TEST(r.value == 0);
  }
  BOOST_TEST(!measure::off_diagonal_correlation(a.topLeftCorner(2, 2), a.topLeftCorner(2, 2)).defined);
  BOOST_TEST(!measure::off_diagonal_mean(a.topLeftCorner(1, 1)).defined);
  BOOST_TEST(!measure::off_diagonal_mean_error(a.topLeftCorner(1, 1), a.topLeftCorner(1, 1)).defined);
}

BOOST_AUTO_TEST_CASE(condensation_counts_directions_in_any_order_of_rows) {
  Mat<double> x(7, 2);
  x << 1, 0, 0, 3, -2, 0, 5, 0.001, 0, 0, 0.0001, 7, 1e-200, 0;
  for (const Mat<double>& rows : {x, Mat<double>(x.colwise().reverse())}) {
    const auto directed = measure::condensation(rows, 0.99);
    BOOST_TEST(directed.directions == 3);
    BOOST_TEST(directed.zero_rows == 1);
    BOOST_TEST(std::abs(directed.aligned.value - 4.0 / 15) < 1e-15);
    const auto line = measure::condensation(rows, 0.99, measure::Orientation::line);
    BOOST_TEST(line.directions == 2);
    BOOST_TEST(std::abs(line.aligned.value - 7.0 / 15) < 1e-15);
    BOOST_TEST(line.mean_cosine.value > directed.mean_cosine.value);
  }
}

BOOST_AUTO_TEST_CASE(condensation_of_few_rows_is_undefined_and_bad_thresholds_are_refused) {
  const auto none = measure::condensation(Mat<double>::Zero(3, 2), 0.9);
  BOOST_TEST(none.directions == 0);
  BOOST_TEST(none.zero_rows == 3);
  BOOST_TEST(!none.mean_cosine.defined);
  BOOST_TEST(!none.aligned.defined);
  const auto same = measure::condensation(Mat<double>::Ones(4, 3), 1 - 1e-12);
  BOOST_TEST(same.directions == 1);
  BOOST_TEST(same.aligned.value == 1);
  for (const double bad : {0.0, 1.5, -0.5, std::numeric_limits<double>::quiet_NaN()})
    BOOST_CHECK_THROW(measure::condensation(Mat<double>::Ones(2, 2), bad), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
