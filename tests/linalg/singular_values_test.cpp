// SPDX-License-Identifier: MIT
#include <incipit/core/random.hpp>
#include <incipit/linalg/singular_values.hpp>
#include <incipit/linalg/thin_qr.hpp>

#include <boost/test/unit_test.hpp>
#include <limits>

using namespace incipit;
using linalg::Outcome;

namespace {

Mat<double> random_matrix(Extent rows, Extent cols, std::string_view name) {
  const RandomStream stream(7, name);
  Mat<double> a(rows, cols);
  for (Extent i = 0; i < a.size(); ++i) a.data()[i] = stream.normal(static_cast<std::uint64_t>(i));
  return a;
}

/// U diag(s) V^T with random orthonormal U (rows, k) and V (cols, k).
Mat<double> with_spectrum(Extent rows, Extent cols, const Col<double>& s) {
  const Mat<double> u = linalg::thin_qr(random_matrix(rows, s.size(), "left")).q;
  const Mat<double> v = linalg::thin_qr(random_matrix(cols, s.size(), "right")).q;
  return u * s.asDiagonal() * v.transpose();
}

void check_spectrum(Extent rows, Extent cols) {
  const Extent k = (std::min)(rows, cols);
  Col<double> s(k);
  for (Extent i = 0; i < k; ++i) s(i) = 3.0 / static_cast<double>(1 + i * i);
  const auto got = linalg::try_singular_values(with_spectrum(rows, cols, s));
  BOOST_TEST_REQUIRE(bool(got.status));
  BOOST_TEST_REQUIRE(got.values.size() == k);
  BOOST_TEST((got.values - s).cwiseAbs().maxCoeff() <= 100 * std::numeric_limits<double>::epsilon() * s(0));
  BOOST_TEST(got.values.minCoeff() >= 0);
  for (Extent i = 1; i < k; ++i) BOOST_TEST(got.values(i) <= got.values(i - 1));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(linalg_singular_values)

BOOST_AUTO_TEST_CASE(known_spectra_are_found_in_every_shape) {
  for (const auto& [rows, cols] : {std::pair<Extent, Extent>{1, 1},
                                   {1, 7},
                                   {7, 1},
                                   {2, 2},
                                   {5, 3},
                                   {3, 5},
                                   {17, 16},
                                   {16, 17},
                                   {40, 12},
                                   {12, 40},
                                   {33, 33},
                                   {90, 61}})
    check_spectrum(rows, cols);
}

BOOST_AUTO_TEST_CASE(double_and_float_agree_with_long_double) {
  const Mat<double> a = random_matrix(13, 9, "plain");
  const Col<double> exact = linalg::singular_values(a.cast<long double>()).cast<double>();
  const Col<double> low = linalg::singular_values(a), lower = linalg::singular_values(a.cast<float>()).cast<double>();
  BOOST_TEST((low - exact).cwiseAbs().maxCoeff() <= 20 * std::numeric_limits<double>::epsilon() * exact(0));
  BOOST_TEST((lower - exact).cwiseAbs().maxCoeff() <= 20 * std::numeric_limits<float>::epsilon() * exact(0));
}

BOOST_AUTO_TEST_CASE(small_values_next_to_large_ones_are_not_squared_away) {
  Col<double> s(4);
  s << 1, 1e-6, 1e-10, 1e-13;
  const Col<double> got = linalg::singular_values(with_spectrum(30, 20, s));
  for (Extent i = 0; i < 4; ++i) BOOST_TEST(std::abs(got(i) - s(i)) < 2e-15);
}

BOOST_AUTO_TEST_CASE(any_scale_gives_the_scaled_values) {
  const Mat<double> a = random_matrix(6, 5, "plain");
  const Col<double> s = linalg::singular_values(a);
  for (const int exponent : {-1000, -600, 600, 1000}) {
    const double scale = std::ldexp(1.0, exponent);
    const Col<double> scaled = linalg::singular_values(Mat<double>(a * scale));
    for (Extent i = 0; i < s.size(); ++i) BOOST_TEST(scaled(i) == s(i) * scale);
  }
  const double tiny = std::numeric_limits<double>::denorm_min();
  BOOST_TEST(linalg::singular_values(Mat<double>(Mat<double>::Constant(1, 1, tiny)))(0) == tiny);
}

BOOST_AUTO_TEST_CASE(infinite_entry_is_refused_with_its_place_u36) {
  Mat<double> a = Mat<double>::Ones(3, 3);
  a(0, 0) = std::numeric_limits<double>::infinity();
  const auto got = linalg::try_singular_values(a);
  BOOST_TEST((got.status.outcome == Outcome::non_finite));
  BOOST_TEST(got.status.row == 0);
  BOOST_TEST(got.status.col == 0);
  BOOST_TEST(got.values.size() == 0);
  BOOST_CHECK_EXCEPTION(linalg::singular_values(a, "layer 3"), NonFiniteError,
                        [](const NonFiniteError& e) { return e.argument() == "layer 3(0,0)"; });
}

BOOST_AUTO_TEST_CASE(nan_anywhere_in_a_bidiagonal_matrix_is_refused_with_its_place_u36) {
  for (const Extent at : {0, 14, 29}) {
    Mat<double> a = Mat<double>::Zero(30, 30);
    for (Extent i = 0; i < 30; ++i) {
      a(i, i) = static_cast<double>(i + 1);
      if (i < 29) a(i, i + 1) = 0.5;
    }
    BOOST_TEST(bool(linalg::try_singular_values(a).status));
    a(at, at) = std::numeric_limits<double>::quiet_NaN();
    const auto got = linalg::try_singular_values(a);
    BOOST_TEST((got.status.outcome == Outcome::non_finite));
    BOOST_TEST(got.status.row == at);
    BOOST_TEST(got.status.col == at);
  }
}

BOOST_AUTO_TEST_CASE(first_non_finite_entry_is_in_row_order_also_of_a_wide_matrix_u36) {
  Mat<float> a = Mat<float>::Ones(2, 5);
  a(1, 0) = a(0, 4) = std::numeric_limits<float>::quiet_NaN();
  const auto got = linalg::try_singular_values(a);
  BOOST_TEST(got.status.row == 0);
  BOOST_TEST(got.status.col == 4);
}

BOOST_AUTO_TEST_CASE(zero_empty_and_rank_one_matrices_are_defined_u37) {
  BOOST_TEST(linalg::singular_values(Mat<double>::Zero(2, 2)).isZero(0));
  BOOST_TEST(linalg::singular_values(Mat<double>(0, 4)).size() == 0);
  BOOST_TEST(linalg::singular_values(Mat<double>(4, 0)).size() == 0);
  const Mat<double> rank_one = Col<double, 2>(1, 2) * Row<double, 2>(3, 4);
  const Col<double> s = linalg::singular_values(rank_one);
  BOOST_TEST(std::abs(s(0) - std::sqrt(125.0)) < 1e-14);
  BOOST_TEST(s(1) >= 0);
  BOOST_TEST(s(1) < 1e-14);
  const Col<double> big = linalg::singular_values(Mat<double>::Ones(60, 50));
  BOOST_TEST(std::abs(big(0) - std::sqrt(3000.0)) < 1e-12);
  BOOST_TEST(big.tail(49).maxCoeff() < 1e-12);
}

BOOST_AUTO_TEST_CASE(values_come_sorted_u39) {
  Mat<double> a = Mat<double>::Zero(3, 3);
  a.diagonal() << 1, -3, 2;
  const Col<double> s = linalg::singular_values(a);
  BOOST_TEST(std::abs(s(0) - 3) < 1e-15);
  BOOST_TEST(std::abs(s(1) - 2) < 1e-15);
  BOOST_TEST(std::abs(s(2) - 1) < 1e-15);
}

BOOST_AUTO_TEST_CASE(orthogonal_matrices_have_only_ones) {
  const Mat<double> q = linalg::thin_qr(random_matrix(40, 40, "plain")).q;
  BOOST_TEST((linalg::singular_values(q).array() - 1).abs().maxCoeff() < 1e-14);
  BOOST_TEST((linalg::singular_values(Mat<double>::Identity(9, 9)).array() - 1).abs().maxCoeff() < 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
