// SPDX-License-Identifier: MIT
/// @file
/// @brief Clipping of gradients by their global norm.
#pragma once

#include <incipit/core/arena.hpp>
#include <incipit/core/finite.hpp>

#include <cmath>
#include <limits>
#include <string>

namespace incipit::inline INCIPIT_ABI::optim {

/// What to do when a gradient holds a NaN or an infinity.
enum class NonFinitePolicy {
  error,  ///< throw NonFiniteError naming the tensor
  skip,   ///< leave the gradient as it is and say so: the caller skips the step
  zero    ///< set the whole gradient to zero and say so
};

/// What clip_norm found and did.
struct ClipResult {
  double norm = 0;             ///< global norm before clipping; NaN if not finite
  bool clipped = false;        ///< true if the gradient was scaled down
  std::string non_finite{};    ///< name of the first tensor with a NaN or an infinity; empty: none

  /// True if the step may be taken.
  bool usable() const { return non_finite.empty(); }
};

/// @brief Scales a gradient so that its global norm is at most `max_norm`.
/// @details The norm is that of all tensors together; it is formed from entries scaled by the largest one, so squares
/// neither overflow nor vanish. Parameters are never touched.
/// @throws InvalidArgument unless max_norm > 0; NonFiniteError under NonFinitePolicy::error. @par Cost three passes.
template <ParameterBundle P>
ClipResult clip_norm(Owned<P>& gradient, double max_norm, NonFinitePolicy policy = NonFinitePolicy::error) {
  using T = typename P::Scalar;
  require_positive("max_norm", max_norm);
  ClipResult result;
  double largest = 0;
  gradient.for_each_parameter([&](std::string_view name, const auto& slot) {
    if (result.usable() && !all_finite(slot)) result.non_finite = name;
    if (result.usable() && slot.size() > 0) largest = (std::max)(largest, static_cast<double>(slot.cwiseAbs().maxCoeff()));
  });
  if (!result.usable()) {
    if (policy == NonFinitePolicy::error) fail<NonFiniteError>(result.non_finite, "a NaN or an infinity", "finite gradients");
    if (policy == NonFinitePolicy::zero) gradient.set_zero();
    result.norm = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  if (largest == 0) return result;
  double sum = 0;
  for (const T& g : gradient.flat()) {
    const double x = static_cast<double>(g) / largest;
    sum += x * x;
  }
  result.norm = largest * std::sqrt(sum);
  result.clipped = result.norm > max_norm;
  if (result.clipped) gradient.flat() *= static_cast<T>(max_norm / largest / std::sqrt(sum));
  return result;
}

}  // namespace incipit::inline INCIPIT_ABI::optim
