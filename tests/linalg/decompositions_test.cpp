// SPDX-License-Identifier: MIT
#include <incipit/core/random.hpp>
#include <incipit/linalg/pca.hpp>
#include <incipit/linalg/symmetric_eigen.hpp>
#include <incipit/linalg/thin_qr.hpp>

#include <boost/test/unit_test.hpp>
#include <limits>

using namespace incipit;
using linalg::PcaSolver;

namespace {

Mat<double> random_matrix(Extent rows, Extent cols) {
  const RandomStream stream(11, "points");
  Mat<double> a(rows, cols);
  for (Extent i = 0; i < a.size(); ++i) a.data()[i] = stream.normal(static_cast<std::uint64_t>(i));
  return a;
}

constexpr PcaSolver solvers[] = {PcaSolver::svd, PcaSolver::covariance};

}  // namespace

BOOST_AUTO_TEST_SUITE(linalg_decompositions)

BOOST_AUTO_TEST_CASE(thin_qr_gives_back_the_matrix_with_orthonormal_q_and_positive_diagonal) {
  for (const auto& [rows, cols] : {std::pair<Extent, Extent>{1, 1}, {9, 4}, {4, 9}, {20, 20}}) {
    const Mat<double> a = random_matrix(rows, cols);
    const auto [q, r] = linalg::thin_qr(a);
    const Extent k = (std::min)(rows, cols);
    BOOST_TEST_REQUIRE(q.cols() == k);
    BOOST_TEST((q * r - a).cwiseAbs().maxCoeff() < 1e-13);
    BOOST_TEST((q.transpose() * q - Mat<double>::Identity(k, k)).cwiseAbs().maxCoeff() < 1e-13);
    for (Extent i = 0; i < k; ++i) {
      BOOST_TEST(r(i, i) > 0);
      for (Extent j = 0; j < i; ++j) BOOST_TEST(r(i, j) == 0);
    }
  }
  BOOST_TEST(linalg::thin_qr(Mat<double>(0, 3)).q.size() == 0);
}

BOOST_AUTO_TEST_CASE(symmetric_eigen_is_descending_and_gives_back_the_matrix) {
  const Mat<double> b = random_matrix(8, 8);
  const Mat<double> a = b + Mat<double>(b.transpose());
  const auto [values, vectors] = linalg::symmetric_eigen(a);
  BOOST_TEST((vectors * values.asDiagonal() * vectors.transpose() - a).cwiseAbs().maxCoeff() < 1e-13);
  for (Extent i = 1; i < 8; ++i) BOOST_TEST(values(i) <= values(i - 1));
  for (Extent j = 0; j < 8; ++j) BOOST_TEST(linalg::canonical_sign(vectors.col(j)) == 1);
}

BOOST_AUTO_TEST_CASE(symmetric_eigen_refuses_what_is_not_symmetric_square_and_finite) {
  BOOST_CHECK_THROW(linalg::symmetric_eigen(random_matrix(3, 4)), ShapeError);
  BOOST_CHECK_THROW(linalg::symmetric_eigen(random_matrix(4, 4)), InvalidArgument);
  Mat<double> a = Mat<double>::Identity(3, 3);
  a(1, 2) = std::numeric_limits<double>::quiet_NaN();
  BOOST_CHECK_EXCEPTION(linalg::symmetric_eigen(a, "C"), NonFiniteError,
                        [](const NonFiniteError& e) { return e.argument() == "C(1,2)"; });
}

BOOST_AUTO_TEST_CASE(pca_sign_is_fixed_under_negation_permutation_and_solver_u39) {
  Mat<double> points(4, 2);
  points << -2, -4, -1, -2, 1, 2, 2, 4;
  Mat<double> permuted(4, 2);
  permuted << 1, 2, -2, -4, 2, 4, -1, -2;
  for (const Mat<double>& x : {points, Mat<double>(-points), permuted})
    for (const PcaSolver solver : solvers) {
      const auto p = linalg::pca(x, 1, solver);
      BOOST_TEST(std::abs(p.components(0, 0) - 0.447214) < 1e-6);
      BOOST_TEST(std::abs(p.components(0, 1) - 0.894427) < 1e-6);
      const Mat<double> want = (x.rowwise() - p.mean) * p.components.transpose();
      BOOST_TEST((p.scores - want).cwiseAbs().maxCoeff() < 1e-14);
      BOOST_TEST(std::abs(p.variance(0) - 50.0 / 3) < 1e-13);
      BOOST_TEST(std::abs(p.share(0) - 1) < 1e-14);
    }
}

BOOST_AUTO_TEST_CASE(tied_loadings_take_the_sign_of_the_first_u39) {
  Mat<double> points(4, 2);
  points << 3, -3, -1, 1, -2, 2, 0, 0;
  for (const Mat<double>& x : {points, Mat<double>(-points), Mat<double>(points.colwise().reverse())})
    for (const PcaSolver solver : solvers) {
      const auto p = linalg::pca(x, 1, solver);
      BOOST_TEST(p.components(0, 0) > 0.7);
      BOOST_TEST(p.components(0, 1) < -0.7);
    }
}

BOOST_AUTO_TEST_CASE(pca_solvers_agree_and_shares_sum_to_one) {
  Mat<double> x = random_matrix(30, 5);
  for (Extent j = 0; j < 5; ++j) x.col(j) *= static_cast<double>(j + 1);
  const auto a = linalg::pca(x, 5, PcaSolver::svd), b = linalg::pca(x, 5, PcaSolver::covariance);
  BOOST_TEST((a.components - b.components).cwiseAbs().maxCoeff() < 1e-10);
  BOOST_TEST((a.scores - b.scores).cwiseAbs().maxCoeff() < 1e-9);
  BOOST_TEST(std::abs(a.share.sum() - 1) < 1e-13);
  BOOST_TEST((a.scores * a.components - (x.rowwise() - a.mean).eval()).cwiseAbs().maxCoeff() < 1e-12);
}

BOOST_AUTO_TEST_CASE(pca_of_coinciding_points_has_no_share_and_bad_arguments_are_refused) {
  const auto p = linalg::pca(Mat<double>::Ones(3, 2), 2);
  BOOST_TEST(p.share.isZero(0));
  BOOST_TEST(p.scores.isZero(0));
  BOOST_CHECK_THROW(linalg::pca(Mat<double>::Ones(1, 2), 1), InvalidArgument);
  BOOST_CHECK_THROW(linalg::pca(Mat<double>::Ones(3, 2), 0), InvalidArgument);
  BOOST_CHECK_THROW(linalg::pca(Mat<double>::Ones(3, 2), 3), InvalidArgument);
  Mat<double> x = random_matrix(4, 3);
  x(2, 1) = -std::numeric_limits<double>::infinity();
  BOOST_CHECK_EXCEPTION(linalg::pca(x, 1), NonFiniteError,
                        [](const NonFiniteError& e) { return e.argument() == "points(2,1)"; });
}

BOOST_AUTO_TEST_SUITE_END()
