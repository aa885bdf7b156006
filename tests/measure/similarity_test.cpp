// SPDX-License-Identifier: MIT
#include <incipit/core/random.hpp>
#include <incipit/linalg/thin_qr.hpp>
#include <incipit/measure/similarity.hpp>

#include <array>
#include <boost/test/unit_test.hpp>
#include <limits>

using namespace incipit;

namespace {

Mat<double> random_matrix(Extent rows, Extent cols, std::string_view name = "rows") {
  const RandomStream stream(4, name);
  Mat<double> a(rows, cols);
  for (Extent i = 0; i < a.size(); ++i) a.data()[i] = stream.normal(static_cast<std::uint64_t>(i));
  return a;
}

Mat<double> random_cosines(Extent n, std::string_view name = "rows") {
  return measure::cosine_matrix(random_matrix(n, 5, name)).values;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(measure_similarity)

BOOST_AUTO_TEST_CASE(ranks_share_ties_and_ignore_the_diagonal) {
  Mat<double> a = Mat<double>::Constant(4, 4, 99);
  a.row(0) << 99, 0.5, 0.25, 0.5;
  a.row(1) << 0, 99, -1, 2;
  a.row(2) << 0, 0, 99, 0.5;
  const Mat<double> r = measure::off_diagonal_ranks(a);
  BOOST_TEST(r(1, 2) == 1);
  BOOST_TEST(r(0, 2) == 2);
  for (const auto& [i, j] : {std::pair<Extent, Extent>{0, 1}, {0, 3}, {2, 3}}) BOOST_TEST(r(i, j) == 4);
  BOOST_TEST(r(1, 3) == 6);
  BOOST_TEST(r.diagonal().isZero(0));
  BOOST_TEST((r - r.transpose()).isZero(0));
  BOOST_TEST(measure::off_diagonal_ranks(Mat<double>(0, 0)).size() == 0);
}

BOOST_AUTO_TEST_CASE(spearman_is_invariant_to_increasing_maps_and_pearson_to_affine_ones) {
  const Mat<double> a = random_cosines(8), b = random_cosines(8, "others");
  const auto plain = measure::representational_similarity(a, b);
  BOOST_TEST(std::abs(plain.pearson.value) < 0.9);
  const Mat<double> bent = b.array().cube().exp(), straight = 3.0 * b.array() - 7.0;
  const auto monotone = measure::representational_similarity(a, bent);
  BOOST_TEST(std::abs(monotone.spearman.value - plain.spearman.value) < 1e-14);
  BOOST_TEST(std::abs(monotone.pearson.value - plain.pearson.value) > 1e-3);
  const auto affine = measure::representational_similarity(a, straight);
  BOOST_TEST(std::abs(affine.pearson.value - plain.pearson.value) < 1e-13);
  const auto same = measure::representational_similarity(b, bent);
  BOOST_TEST(std::abs(same.spearman.value - 1) < 1e-14);
  BOOST_TEST(same.pearson.value < 1);
  BOOST_TEST(std::abs(measure::representational_similarity(b, Mat<double>(-bent)).spearman.value + 1) < 1e-14);
}

BOOST_AUTO_TEST_CASE(spearman_without_ties_is_the_formula_of_rank_differences) {
  const Mat<double> a = random_cosines(6), b = random_cosines(6, "others");
  const Mat<double> d = measure::off_diagonal_ranks(a) - measure::off_diagonal_ranks(b);
  const double n = 15, want = 1 - 6 * (d.squaredNorm() / 2) / (n * (n * n - 1));
  BOOST_TEST(std::abs(measure::representational_similarity(a, b).spearman.value - want) < 1e-14);
}

BOOST_AUTO_TEST_CASE(similarity_with_a_constant_or_tiny_matrix_is_undefined) {
  const Mat<double> a = random_cosines(4);
  const auto constant = measure::representational_similarity(a, Mat<double>::Constant(4, 4, 0.5));
  BOOST_TEST(!constant.pearson.defined);
  BOOST_TEST(!constant.spearman.defined);
  const auto tiny = measure::representational_similarity(a.topLeftCorner(2, 2), a.topLeftCorner(2, 2));
  BOOST_TEST(!tiny.pearson.defined);
  BOOST_TEST(!tiny.spearman.defined);
  Mat<double> bad = a;
  bad(1, 3) = std::numeric_limits<double>::quiet_NaN();
  BOOST_CHECK_EXCEPTION(measure::representational_similarity(bad, a), NonFiniteError,
                        [](const NonFiniteError& e) { return e.argument() == "matrix(1,3)"; });
  BOOST_CHECK_THROW(measure::representational_similarity(a, random_cosines(5)), ShapeError);
  BOOST_CHECK_THROW(measure::off_diagonal_ranks(Mat<double>(2, 3)), ShapeError);
}

BOOST_AUTO_TEST_CASE(profile_difference_weighs_distances_by_their_pairs) {
  Mat<double> a = Mat<double>::Identity(3, 3), b = a;
  a(0, 1) = 0.5;
  a(1, 2) = 0.7;
  a(0, 2) = 0.1;
  b(0, 1) = 0.4;
  b(1, 2) = 0.4;
  b(0, 2) = 0.7;
  const auto d = measure::profile_difference(a, b);
  BOOST_TEST_REQUIRE(d.first.size() == 2U);
  BOOST_TEST(std::abs(d.first[0].mean - 0.6) < 1e-15);
  BOOST_TEST(std::abs(d.second[0].mean - 0.4) < 1e-15);
  BOOST_TEST(std::abs(d.largest.value - 0.6) < 1e-15);
  BOOST_TEST(std::abs(d.mean.value - (2 * 0.2 + 0.6) / 3) < 1e-15);
  BOOST_TEST(measure::profile_difference(a, a).mean.value == 0);
  BOOST_TEST(!measure::profile_difference(a.topLeftCorner(1, 1), b.topLeftCorner(1, 1)).mean.defined);
  BOOST_TEST(!measure::profile_difference(a.topLeftCorner(1, 1), b.topLeftCorner(1, 1)).largest.defined);
  BOOST_CHECK_THROW(measure::profile_difference(a, Mat<double>::Identity(2, 2)), ShapeError);
}

BOOST_AUTO_TEST_CASE(tables_that_differ_by_a_rotation_and_row_scales_have_one_geometry) {
  const Mat<double> x = random_matrix(9, 4);
  const Mat<double> turn = linalg::thin_qr(random_matrix(6, 4, "turn")).q.transpose();  // (4, 6), orthonormal rows
  Mat<double> y = x * turn;
  for (Extent i = 0; i < 9; ++i) y.row(i) *= static_cast<double>(1 + i);
  y.row(3).setZero();
  const std::array<Id, 5> tokens{7, 3, 1, 5, 2};
  const auto found = measure::compare_geometry(x, Mat<float>(y.cast<float>()), tokens);
  BOOST_TEST((found.tokens == std::vector<Id>{7, 1, 5, 2}));
  BOOST_TEST((found.zero_rows == std::vector<Id>{3}));
  BOOST_TEST((found.first - found.second).cwiseAbs().maxCoeff() < 1e-6);
  BOOST_TEST(std::abs(found.similarity.pearson.value - 1) < 1e-6);
  BOOST_TEST(std::abs(found.similarity.spearman.value - 1) < 1e-12);
  BOOST_TEST(found.profiles.largest.value < 1e-6);
  BOOST_TEST(found.profiles.first.front().distance == 1);
  const std::array<Id, 1> beyond{9};
  BOOST_CHECK_THROW(measure::compare_geometry(x, y, beyond), IndexError);
}

BOOST_AUTO_TEST_CASE(cka_is_one_for_rotations_small_for_strangers_and_undefined_for_constants) {
  const Mat<double> x = random_matrix(200, 4);
  const Mat<double> turn = linalg::thin_qr(random_matrix(6, 4, "turn")).q.transpose();
  Mat<double> y = -1e200 * x * turn;
  y.rowwise() += Row<double>::Constant(6, 1e200);
  BOOST_TEST(std::abs(measure::linear_cka(x, y).value - 1) < 1e-12);
  BOOST_TEST(measure::linear_cka(x, random_matrix(200, 4, "stranger")).value < 0.1);
  Mat<double> p(4, 1), q(4, 1);
  p << 1, -1, 1, -1;
  q << 1, 1, -1, -1;
  BOOST_TEST(measure::linear_cka(p, q).value == 0);
  BOOST_TEST(std::abs(measure::linear_cka(p, Mat<double>(p + q)).value - 0.5) < 1e-15);
  for (const double level : {0.0, 0.1, 1e300})
    BOOST_TEST(!measure::linear_cka(x, Mat<double>::Constant(200, 3, level)).defined);
  BOOST_CHECK_THROW(measure::linear_cka(x, p), ShapeError);
  p(2, 0) = std::numeric_limits<double>::quiet_NaN();
  BOOST_CHECK_THROW(measure::linear_cka(q, p), NonFiniteError);
}

BOOST_AUTO_TEST_SUITE_END()
