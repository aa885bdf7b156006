// SPDX-License-Identifier: MIT
/// @file
/// @brief Typed outcome of a decomposition: fine, not a finite matrix (and where), or not converged.
#pragma once

#include <incipit/core/finite.hpp>
#include <incipit/core/matrix.hpp>

namespace incipit::inline INCIPIT_ABI {
namespace linalg {

/// How a decomposition ended.
enum class Outcome {
  ok,              ///< the result is valid
  non_finite,      ///< the input holds a NaN or an infinity; nothing was computed
  no_convergence,  ///< finite input, but the iteration did not converge
};

/// @brief Outcome of a decomposition, with the first non-finite entry (in row-major order) if there is one.
struct Status {
  Outcome outcome = Outcome::ok;  ///< how it ended
  Extent row = -1;                ///< row of the first non-finite entry, -1 if none
  Extent col = -1;                ///< column of the first non-finite entry, -1 if none

  /// True if the result is valid.
  explicit operator bool() const { return outcome == Outcome::ok; }
};

/// @brief Looks for the first NaN or infinity of `a`, in row-major order.
/// @par Cost one pass; it survives -ffast-math.
template <class Derived>
Status check_finite(const Eigen::DenseBase<Derived>& a) {
  for (Extent i = 0; i < a.rows(); ++i)
    for (Extent j = 0; j < a.cols(); ++j)
      if (!is_finite(a.coeff(i, j))) return {Outcome::non_finite, i, j};
  return {};
}

namespace detail {
/// True for Eigen's `Success`, whose name X11 headers define as a macro.
inline bool converged(Eigen::ComputationInfo info) { return static_cast<int>(info) == 0; }
}  // namespace detail

/// @brief Turns a status into an exception.
/// @throws NonFiniteError naming the entry as `name(row,col)`; Error when the iteration did not converge.
inline void require_ok(const Status& status, std::string_view name) {
  if (status) return;
  if (status.outcome == Outcome::non_finite)
    throw NonFiniteError(std::string(name) + "(" + std::to_string(status.row) + "," + std::to_string(status.col) + ")",
                         "a NaN or an infinity", "finite entries");
  throw Error(std::string(name), "a matrix on which the iteration did not converge", "any finite matrix");
}

}  // namespace linalg
}  // namespace incipit::inline INCIPIT_ABI
