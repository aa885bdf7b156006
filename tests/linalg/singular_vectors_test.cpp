// SPDX-License-Identifier: MIT
#include <incipit/core/random.hpp>
#include <incipit/linalg/singular_values.hpp>
#include <incipit/linalg/singular_vectors.hpp>

#include <boost/test/unit_test.hpp>
#include <limits>

using namespace incipit;

namespace {

Mat<double> random_matrix(Extent rows, Extent cols) {
  const RandomStream stream(12, "matrix");
  Mat<double> a(rows, cols);
  for (Extent i = 0; i < a.size(); ++i) a.data()[i] = stream.normal(static_cast<std::uint64_t>(i));
  return a;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(linalg_singular_vectors)

BOOST_AUTO_TEST_CASE(they_give_the_matrix_back_and_agree_with_the_values_alone) {
  for (const auto& [rows, cols] : {std::pair<Extent, Extent>{1, 1}, {1, 5}, {9, 4}, {4, 9}, {24, 24}}) {
    const Mat<double> a = random_matrix(rows, cols);
    const auto [values, left, right] = linalg::singular_vectors(a);
    const Extent k = (std::min)(rows, cols);
    BOOST_TEST_REQUIRE(left.cols() == k);
    BOOST_TEST_REQUIRE(right.cols() == k);
    BOOST_TEST((left * values.asDiagonal() * right.transpose() - a).cwiseAbs().maxCoeff() < 1e-13);
    BOOST_TEST((left.transpose() * left - Mat<double>::Identity(k, k)).cwiseAbs().maxCoeff() < 1e-13);
    BOOST_TEST((right.transpose() * right - Mat<double>::Identity(k, k)).cwiseAbs().maxCoeff() < 1e-13);
    BOOST_TEST((values - linalg::singular_values(a)).cwiseAbs().maxCoeff() < 1e-13);
    for (Extent j = 0; j < k; ++j) BOOST_TEST(linalg::canonical_sign(left.col(j)) == 1);
  }
}

BOOST_AUTO_TEST_CASE(signs_do_not_depend_on_the_order_of_columns_or_a_flip_of_outputs) {
  const Mat<double> a = random_matrix(7, 5);
  const Mat<double> turned = -a.rowwise().reverse();
  BOOST_TEST((linalg::singular_vectors(a).left - linalg::singular_vectors(turned).left).cwiseAbs().maxCoeff() < 1e-12);
}

BOOST_AUTO_TEST_CASE(rank_one_and_zero_and_empty_matrices_are_fine) {
  const auto one = linalg::singular_vectors(Col<double, 2>(0.6, -0.8) * Row<double, 2>(3, 4));
  BOOST_TEST(std::abs(one.values(0) - 5) < 1e-14);
  BOOST_TEST(std::abs(one.values(1)) < 1e-14);
  BOOST_TEST((one.left.col(0) - Col<double, 2>(-0.6, 0.8)).norm() < 1e-14);
  BOOST_TEST((one.right.col(0) + Col<double, 2>(0.6, 0.8)).norm() < 1e-14);
  const auto zero = linalg::singular_vectors(Mat<double>::Zero(3, 2));
  BOOST_TEST(zero.values.isZero(0));
  BOOST_TEST(std::abs(zero.left.col(0).norm() - 1) < 1e-15);
  BOOST_TEST(linalg::singular_vectors(Mat<double>(0, 3)).values.size() == 0);
}

BOOST_AUTO_TEST_CASE(a_non_finite_entry_is_named) {
  Mat<double> a = Mat<double>::Identity(3, 3);
  a(1, 2) = std::numeric_limits<double>::quiet_NaN();
  BOOST_CHECK_EXCEPTION(linalg::singular_vectors(a, "W_V"), NonFiniteError,
                        [](const NonFiniteError& e) { return e.argument() == "W_V(1,2)"; });
}

BOOST_AUTO_TEST_SUITE_END()
