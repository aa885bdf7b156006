// SPDX-License-Identifier: MIT
/// @file
/// @brief Learning rates over training.
#pragma once

#include <incipit/core/error.hpp>

#include <cmath>
#include <numbers>

namespace incipit::inline INCIPIT_ABI::optim {

/// @brief Linear warm-up, then half a cosine from the peak down to a floor.
/// @par Formula Step k from 0: \f$ h_k = p\,(k+1)/w \f$ for k < w, then
///   \f$ h_k = f + \tfrac12 (p - f)(1 + \cos \pi \tfrac{k-w}{n-w}) \f$, and f from step n on. No step is taken at rate 0
///   unless the floor is 0. Never rises after the warm-up. @par Checked tests/optim/optim_test.cpp
class WarmupCosine {
 public:
  /// Settings.
  struct Options {
    double peak = 1e-3;       ///< p > 0
    double floor = 0;         ///< f, 0 <= f <= p
    long long warmup = 0;     ///< w, 0 <= w <= n
    long long total = 1;      ///< n >= 1, steps planned
  };
  /// @throws InvalidArgument for settings outside their range.
  explicit WarmupCosine(Options options) : options_(options) {
    require_positive("peak", options.peak);
    require_non_negative("floor", options.floor);
    require(options.floor <= options.peak, "floor", options.floor, "at most the peak");
    require(options.total >= 1, "total", options.total, ">= 1");
    require(options.warmup >= 0 && options.warmup <= options.total, "warmup", options.warmup, "0 to total");
  }
  /// Learning rate of step k. @throws InvalidArgument if k < 0.
  double operator()(long long k) const {
    require(k >= 0, "k", k, ">= 0");
    const auto& [peak, floor, warmup, total] = options_;
    if (k < warmup) return peak * static_cast<double>(k + 1) / static_cast<double>(warmup);
    if (k >= total) return floor;
    const double progress = static_cast<double>(k - warmup) / static_cast<double>(total - warmup);
    return floor + (peak - floor) * (1 + std::cos(std::numbers::pi * progress)) / 2;
  }

 private:
  Options options_;
};

}  // namespace incipit::inline INCIPIT_ABI::optim
