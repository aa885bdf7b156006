// SPDX-License-Identifier: MIT
/// @file
/// @brief Singular values with their vectors: checked, descending, with fixed signs.
#pragma once

#include <incipit/linalg/signs.hpp>
#include <incipit/linalg/status.hpp>

#include <Eigen/SVD>
#include <algorithm>

namespace incipit::inline INCIPIT_ABI {
namespace linalg {

/// @brief a = left diag(values) right^T.
template <Real T>
struct SingularVectors {
  Col<T> values;  ///< (K), K = min(R, C), descending, >= 0
  Mat<T> left;    ///< (R, K), orthonormal columns, signs by canonical_sign
  Mat<T> right;   ///< (C, K), orthonormal columns, signs so that the product gives `a` back
};

/// @brief Singular values and vectors of `a` (R, C), of any size.
/// @details Directions of equal singular values are not unique, those of a zero value belong to the kernel.
/// @throws NonFiniteError naming the entry as `name(row,col)`. @par Cost about 20 n^3 FLOPs for (n, n): where the
/// values are enough, linalg::singular_values is much faster.
template <class Derived>
SingularVectors<typename Derived::Scalar> singular_vectors(const Eigen::MatrixBase<Derived>& a,
                                                           std::string_view name = "matrix") {
  using T = typename Derived::Scalar;
  using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const Dense input = a;
  require_ok(check_finite(input), name);
  const Extent k = (std::min)(input.rows(), input.cols());
  if (k == 0) return {Col<T>(0), Mat<T>(input.rows(), 0), Mat<T>(input.cols(), 0)};
  const Eigen::BDCSVD<Dense> svd(input, Eigen::ComputeThinU | Eigen::ComputeThinV);
  if (!detail::converged(svd.info())) require_ok({Outcome::no_convergence, -1, -1}, name);
  SingularVectors<T> out{svd.singularValues(), svd.matrixU(), svd.matrixV()};
  for (Extent j = 0; j < k; ++j) {
    const T sign = canonical_sign(out.left.col(j));
    out.left.col(j) *= sign;
    out.right.col(j) *= sign;
  }
  return out;
}

}  // namespace linalg
}  // namespace incipit::inline INCIPIT_ABI
