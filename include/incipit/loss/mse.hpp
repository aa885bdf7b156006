// SPDX-License-Identifier: MIT
/// @file
/// @brief Mean squared error.
#pragma once

#include <incipit/loss/cross_entropy.hpp>

namespace incipit::inline INCIPIT_ABI::loss {

/// @brief Squared error between rows.
/// @par Shapes   y, target, dy: (N, C).
/// @par Forward  \f$ \ell = \tfrac{1}{NC}\sum (y - t)^2 \f$ (mean) or the plain sum  @par Backward \f$ dy = \tfrac{2}{NC}(y - t) \f$ or \f$ 2 (y - t) \f$
/// @throws ShapeError.  @par Checked tests/loss/cross_entropy_test.cpp
template <Real T>
struct SquaredError {
  Reduction reduction = Reduction::mean;  ///< mean over all entries, or their sum
  /// Loss and gradient; dy may be y's own storage.
  LossValue<T> operator()(In<Mat<T>> y, In<Mat<T>> target, Out<Mat<T>> dy) const {
    require_size("target.rows", target.rows(), y.rows());
    require_size("target.cols", target.cols(), y.cols());
    require_size("dy.rows", dy.rows(), y.rows());
    require_size("dy.cols", dy.cols(), y.cols());
    LossValue<T> result{T(0), y.rows()};
    if (y.size() == 0) return result;
    const T weight = reduction == Reduction::mean ? T(T(1) / static_cast<T>(y.size())) : T(1);
    for (Extent n = 0; n < y.rows(); ++n) {
      for (Extent c = 0; c < y.cols(); ++c) {
        const T difference = y(n, c) - target(n, c);
        result.loss += weight * difference * difference;
        dy(n, c) = T(2) * weight * difference;
      }
    }
    return result;
  }
};

}  // namespace incipit::inline INCIPIT_ABI::loss
