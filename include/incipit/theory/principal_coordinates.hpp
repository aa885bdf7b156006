// SPDX-License-Identifier: MIT
/// @file
/// @brief The principal components that a table of embeddings will have, from its predicted inner products alone.
#pragma once

#include <incipit/core/matrix.hpp>
#include <incipit/linalg/symmetric_eigen.hpp>

#include <algorithm>
#include <cmath>

namespace incipit::inline INCIPIT_ABI::theory {

/// @brief Predicted picture of n embeddings: the scores that a PCA of them would show.
struct PrincipalCoordinates {
  Mat<double> coordinates;  ///< (n, k); columns centred, by falling variance, signs fixed by linalg::fix_column_signs
  Row<double> variance;     ///< (k), sum of squares / (n - 1)
  Row<double> share;        ///< (k), variance / total variance; 0 when all points coincide
};

/// @brief Coordinates from a Gram matrix: with \f$ H = I - \mathbf 1\mathbf 1^T/n \f$, \f$ H G H = V \Lambda V^T \f$
/// and the scores are \f$ V \Lambda^{1/2} \f$.
/// @details The same numbers as linalg::pca of the rows themselves, up to the sign of a component. A white noise of
/// the rows adds a constant to the diagonal of G: it leaves the directions and raises every variance alike.
/// @par Shapes gram: (n, n), symmetric. @throws ShapeError, NonFiniteError; InvalidArgument unless n >= 2, 1 <= k <= n,
/// and the matrix is symmetric and positive semi-definite up to rounding.
inline PrincipalCoordinates principal_coordinates(In<Mat<double>> gram, Extent k) {
  const Extent n = gram.rows();
  require_size("gram.cols()", gram.cols(), n);
  require(n >= 2, "gram", n, "at least two points");
  require(k >= 1 && k <= n, "k", k, "1 to the number of points");
  Mat<double> centred = gram;
  centred.rowwise() -= Row<double>(centred.colwise().mean());
  centred.colwise() -= Col<double>(centred.rowwise().mean());
  const Mat<double> mirror = centred.transpose();
  const auto eigen = linalg::symmetric_eigen((centred + mirror) / 2, "gram");
  const double rounding = 1e-12 * static_cast<double>(n) * gram.cwiseAbs().maxCoeff();
  require((gram - gram.transpose()).cwiseAbs().maxCoeff() <= rounding, "gram", n, "a symmetric matrix");
  require(eigen.values.minCoeff() >= -rounding, "gram", eigen.values.minCoeff(), "no negative eigenvalue");
  const Row<double> values = eigen.values.transpose().cwiseMax(0.0);
  PrincipalCoordinates out;
  out.coordinates = eigen.vectors.leftCols(k);
  for (Extent i = 0; i < k; ++i) out.coordinates.col(i) *= std::sqrt(values[i]);
  out.variance = values.head(k) / static_cast<double>(n - 1);
  const double total = values.sum();
  out.share = total > 0 ? Row<double>(values.head(k) / total) : Row<double>(Row<double>::Zero(k));
  return out;
}

}  // namespace incipit::inline INCIPIT_ABI::theory
