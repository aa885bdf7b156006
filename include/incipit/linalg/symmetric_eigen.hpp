// SPDX-License-Identifier: MIT
/// @file
/// @brief Eigenvalues and eigenvectors of a symmetric matrix: descending, with fixed signs.
#pragma once

#include <incipit/linalg/signs.hpp>
#include <incipit/linalg/status.hpp>

#include <Eigen/Eigenvalues>

namespace incipit::inline INCIPIT_ABI {
namespace linalg {

/// @brief a = vectors diag(values) vectors^T.
template <Real T>
struct SymmetricEigen {
  Col<T> values;   ///< (n), descending
  Mat<T> vectors;  ///< (n, n), orthonormal columns in the order of `values`, signs by canonical_sign
};

/// @brief Spectral decomposition of a symmetric `a` (n, n).
/// @throws ShapeError unless square; NonFiniteError naming the entry; InvalidArgument if entries differ from their
/// mirror image by more than 64 eps times the largest entry. @par Cost about 9 n^3 FLOPs.
template <class Derived>
SymmetricEigen<typename Derived::Scalar> symmetric_eigen(const Eigen::MatrixBase<Derived>& a,
                                                         std::string_view name = "matrix") {
  using T = typename Derived::Scalar;
  using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const Dense input = a;
  require_size(name, input.cols(), input.rows());
  require_ok(check_finite(input), name);
  SymmetricEigen<T> out{Col<T>(input.rows()), Mat<T>(input.rows(), input.rows())};
  if (input.size() == 0) return out;
  const T largest = input.cwiseAbs().maxCoeff();
  const T skew = (input - input.transpose()).cwiseAbs().maxCoeff();
  require(skew <= T(64) * T(Eigen::NumTraits<T>::epsilon()) * largest, name, skew, "equal to its transpose");
  const Eigen::SelfAdjointEigenSolver<Dense> solver(input);
  if (!detail::converged(solver.info())) require_ok({Outcome::no_convergence, -1, -1}, name);
  out.values = solver.eigenvalues().reverse();
  out.vectors = solver.eigenvectors().rowwise().reverse();
  fix_column_signs(out.vectors);
  return out;
}

}  // namespace linalg
}  // namespace incipit::inline INCIPIT_ABI
