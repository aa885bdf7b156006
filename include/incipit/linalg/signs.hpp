// SPDX-License-Identifier: MIT
/// @file
/// @brief The one sign rule of eigenvectors, principal components and QR factors.
#pragma once

#include <incipit/core/matrix.hpp>

#include <cmath>

namespace incipit::inline INCIPIT_ABI {
namespace linalg {

/// @brief Sign (+1 or -1) that makes the largest-magnitude entry of a vector positive.
/// @details Entries within a relative sqrt(eps) of the largest count as tied, and the first of them decides: rounding,
/// another solver or another order of the data then cannot flip the choice. The zero vector has sign +1.
template <class Derived>
typename Derived::Scalar canonical_sign(const Eigen::MatrixBase<Derived>& v) {
  using T = typename Derived::Scalar;
  using std::abs;
  using std::sqrt;
  if (v.size() == 0) return T(1);
  const T threshold = T(v.cwiseAbs().maxCoeff()) * (T(1) - sqrt(T(Eigen::NumTraits<T>::epsilon())));
  for (Extent i = 0; i < v.size(); ++i)
    if (abs(v.coeff(i)) >= threshold) return v.coeff(i) < T(0) ? T(-1) : T(1);
  return T(1);
}

/// @brief Applies canonical_sign to every column of `vectors`: (n, k), in place.
template <class Derived>
void fix_column_signs(Eigen::MatrixBase<Derived>& vectors) {
  for (Extent j = 0; j < vectors.cols(); ++j) vectors.col(j) *= canonical_sign(vectors.col(j));
}

}  // namespace linalg
}  // namespace incipit::inline INCIPIT_ABI
