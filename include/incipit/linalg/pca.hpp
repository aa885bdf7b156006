// SPDX-License-Identifier: MIT
/// @file
/// @brief Principal components with fixed signs.
#pragma once

#include <incipit/linalg/signs.hpp>
#include <incipit/linalg/status.hpp>
#include <incipit/linalg/symmetric_eigen.hpp>

#include <Eigen/SVD>

namespace incipit::inline INCIPIT_ABI {
namespace linalg {

/// How the components are found; both follow the same sign rule.
enum class PcaSolver {
  svd,         ///< SVD of the centred points: accurate for small components
  covariance,  ///< eigenvectors of the (C, C) covariance: fast for many points of few features
};

/// @brief Principal components of N points with C features.
template <Real T>
struct Pca {
  Row<T> mean;        ///< (C), mean of the points
  Mat<T> components;  ///< (k, C), orthonormal rows, by falling variance, signs by canonical_sign
  Mat<T> scores;      ///< (N, k) = (points - mean) components^T
  Row<T> variance;    ///< (k), sum of squared scores / (N - 1)
  Row<T> share;       ///< (k), variance / total variance; 0 when all points coincide
};

/// @brief The first `k` principal components of `points` (N, C).
/// @details The largest-magnitude loading of each component is positive (canonical_sign), for every solver, so pictures
/// do not flip between versions, solvers or orders of the points. Directions of equal variance are not unique.
/// @throws InvalidArgument unless N >= 2 and 1 <= k <= min(N, C); NonFiniteError naming the entry.
template <class Derived>
Pca<typename Derived::Scalar> pca(const Eigen::MatrixBase<Derived>& points, Extent k,
                                  PcaSolver solver = PcaSolver::svd) {
  using T = typename Derived::Scalar;
  using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const Extent n = points.rows(), c = points.cols();
  require(n >= 2, "points", n, "at least two rows");
  require(k >= 1 && k <= (std::min)(n, c), "k", k, "1 .. min(rows, columns)");
  const Mat<T> input = points;
  require_ok(check_finite(input), "points");

  Pca<T> out;
  out.mean = input.colwise().mean();
  const Dense centred = input.rowwise() - out.mean;
  require_ok(check_finite(centred), "points - mean");
  Dense vectors;
  if (solver == PcaSolver::svd) {
    const Eigen::BDCSVD<Dense> svd(centred, Eigen::ComputeThinV);
    if (!detail::converged(svd.info())) require_ok({Outcome::no_convergence, -1, -1}, "points");
    vectors = svd.matrixV().leftCols(k);
    fix_column_signs(vectors);
  } else {
    vectors = symmetric_eigen(Dense(centred.transpose() * centred), "covariance").vectors.leftCols(k);
  }
  out.components = vectors.transpose();
  out.scores = centred * vectors;
  out.variance = out.scores.colwise().squaredNorm() / T(n - 1);
  const T total = centred.squaredNorm() / T(n - 1);
  out.share = total > T(0) ? Row<T>(out.variance / total) : Row<T>(Row<T>::Zero(k));
  return out;
}

}  // namespace linalg
}  // namespace incipit::inline INCIPIT_ABI
