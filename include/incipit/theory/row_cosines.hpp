// SPDX-License-Identifier: MIT
/// @file
/// @brief Cosines between the rows of a matrix, as the laws of this room need them: every row must have a direction.
#pragma once

#include <incipit/core/matrix.hpp>

namespace incipit::inline INCIPIT_ABI::theory {

/// @brief \f$ x_s x_t^\top / (|x_s||x_t|) \f$ for all pairs, kept within [-1, 1] against rounding.
/// @par Shapes x: (n, k); result: (n, n). @throws InvalidArgument if a row is zero: its direction is undefined.
inline Mat<double> row_cosines(Mat<double> x) {
  for (Extent s = 0; s < x.rows(); ++s) {
    const double norm = x.row(s).stableNorm();
    require(norm > 0, "row", s, "a row that is not zero: a token that occurs, with a law that is not uniform");
    x.row(s) /= norm;
  }
  const Mat<double> products = x * x.transpose();
  return products.cwiseMax(-1.0).cwiseMin(1.0);
}

}  // namespace incipit::inline INCIPIT_ABI::theory
