// SPDX-License-Identifier: MIT
/// @file
/// @brief Thin QR factorisation with a unique sign.
#pragma once

#include <incipit/linalg/status.hpp>

#include <Eigen/QR>

namespace incipit::inline INCIPIT_ABI {
namespace linalg {

/// @brief a = q r with orthonormal columns in q and r upper trapezoidal with a non-negative diagonal.
template <Real T>
struct ThinQr {
  Mat<T> q;  ///< (R, K), K = min(R, C), q^T q = 1
  Mat<T> r;  ///< (K, C), r_ii >= 0
};

/// @brief Thin QR of `a` (R, C) by Householder reflections; the signs make diag(r) >= 0, so it is unique at full rank.
/// @throws NonFiniteError naming the entry. @par Cost about 4 R C K FLOPs.
template <class Derived>
ThinQr<typename Derived::Scalar> thin_qr(const Eigen::MatrixBase<Derived>& a, std::string_view name = "matrix") {
  using T = typename Derived::Scalar;
  const Mat<T> input = a;
  require_ok(check_finite(input), name);
  const Extent k = (std::min)(input.rows(), input.cols());
  ThinQr<T> out{Mat<T>::Zero(input.rows(), k), Mat<T>::Zero(k, input.cols())};
  if (k == 0) return out;
  const Eigen::HouseholderQR<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>> qr(input);
  out.q.setIdentity();
  out.q.applyOnTheLeft(qr.householderQ());
  out.r = qr.matrixQR().topRows(k).template triangularView<Eigen::Upper>();
  for (Extent i = 0; i < k; ++i)
    if (out.r(i, i) < T(0)) {
      out.r.row(i) *= T(-1);
      out.q.col(i) *= T(-1);
    }
  return out;
}

}  // namespace linalg
}  // namespace incipit::inline INCIPIT_ABI
