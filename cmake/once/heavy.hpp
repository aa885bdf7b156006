// SPDX-License-Identifier: MIT
// What costs most to compile, instantiated once for all tests, and once for all examples, in heavy.cpp: products and singular values.
#pragma once

#include <incipit/core/gemm.hpp>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#ifndef INCIPIT_ONCE_EXTERN
#define INCIPIT_ONCE_EXTERN extern
#endif

namespace incipit::inline INCIPIT_ABI::detail {
#define INCIPIT_ONCE_PRODUCT(transposed, T)                                                                            \
  INCIPIT_ONCE_EXTERN template void block_product<transposed, T>(                                                      \
      const MatrixView<const T>&, Extent, Extent, const GemmPlan<T>&, const T*, Extent, Extent, const T*,              \
      const MatrixView<T>&, bool, T*);
INCIPIT_ONCE_PRODUCT(false, float)
INCIPIT_ONCE_PRODUCT(true, float)
INCIPIT_ONCE_PRODUCT(false, double)
INCIPIT_ONCE_PRODUCT(true, double)
#undef INCIPIT_ONCE_PRODUCT
}  // namespace incipit::inline INCIPIT_ABI::detail

INCIPIT_ONCE_EXTERN template class Eigen::BDCSVD<Eigen::MatrixXd>;
INCIPIT_ONCE_EXTERN template class Eigen::JacobiSVD<Eigen::MatrixXd>;
INCIPIT_ONCE_EXTERN template class Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;
