// SPDX-License-Identifier: MIT
/// @file
/// @brief Layer normalisation over the feature axis.
#pragma once

#include <incipit/core/buffer.hpp>
#include <incipit/core/scalar.hpp>

namespace incipit::inline INCIPIT_ABI::nn {

/// @brief Layer normalisation of rows: mean 0, variance 1, then gain and bias.
/// @par Shapes   x, y, dy, dx: (N, C); gain, bias: (C).
/// @par Forward  \f$ \mu_n = \tfrac1C \sum_c x_{nc},\; r_n = (\tfrac1C \sum_c (x_{nc}-\mu_n)^2 + \epsilon)^{-1/2},\;
///               \hat x_n = r_n (x_n - \mu_n),\; y_n = \hat x_n \odot g + b \f$; eps is inside the root.
/// @par Backward \f$ u_n = dy_n \odot g,\; dx_n = r_n (u_n - \tfrac1C \langle u_n, 1\rangle 1 - \tfrac1C \langle u_n,
///               \hat x_n\rangle \hat x_n),\; dg \mathrel{+}= \sum_n dy_n \odot \hat x_n,\; db \mathrel{+}= \sum_n dy_n \f$
/// @details The mean is subtracted before squaring, so a large mean cancels nothing. A row of equal values has no
/// direction: its output is the bias, and with eps = 0 its dx is 0. With C = 1 that is every row.
/// @par Source   Ba, Kiros, Hinton 2016, eq. 3 and 4.  @par Derivation docs/derivations/transformer_layers.md
/// @par Cost     about 8 N C FLOPs forward, 12 N C backward.  @par Checked tests/nn/norm_test.cpp
template <Real T, bool Bias = true>
struct LayerNorm {
  double eps = 1e-5;  ///< added to the variance, inside the root; >= 0

  /// Gain and, if `Bias`, bias. A gain starts at 1: call `reset`.
  struct Params {
    using Scalar = T;      ///< scalar type
    Slot<T, 1, dyn> gain;  ///< (1, C)
    Slot<T, 1, dyn> bias;  ///< (1, C); unseated without a bias
    /// Width C, without memory until Owned seats it.
    explicit Params(Extent width) : gain(nullptr, 1, width), bias(nullptr, 1, width) {}
    template <class F> void for_each_parameter(F&& f) { visit(*this, f); }        ///< "gain", then "bias"
    template <class F> void for_each_parameter(F&& f) const { visit(*this, f); }  ///< "gain", then "bias"

   private:
    template <class Self, class F>
    static void visit(Self& self, F& f) {
      f("gain", self.gain);
      if constexpr (Bias) f("bias", self.bias);
    }
  };
  /// What forward keeps.
  struct Cache {
    Buffer<T> normalised;  ///< (N, C) \f$ \hat x \f$
    Buffer<T> inv_std;     ///< (1, N) r
    Buffer<T> y;           ///< (N, C)
  };
  /// y; keeps the normalised rows. @throws ShapeError unless x is as wide as the gain.
  const Slot<T>& forward(const Params& params, In<Mat<T>> x, Cache& cache) const {
    const Extent width = params.gain.cols();
    require_size("x.cols", x.cols(), width);
    require_non_negative("eps", eps);
    cache.normalised.resize(x.rows(), width);
    cache.inv_std.resize(1, x.rows());
    cache.y.resize(x.rows(), width);
    const T share = T(T(1) / T(static_cast<double>(width)));
    for (Extent n = 0; n < x.rows(); ++n) {
      auto hat = cache.normalised.row(n);
      const T mean = T(x.row(n).sum() * share);
      hat = (x.row(n).array() - mean).matrix();
      hat.array() -= T(hat.sum() * share);  // what rounding left in a large mean
      const T variance = T(hat.squaredNorm() * share + T(eps));
      const T inverse = T(0) < variance ? T(T(1) / scalar::sqrt(variance)) : T(0);
      cache.inv_std(0, n) = inverse;
      hat *= inverse;
      cache.y.row(n) = hat.cwiseProduct(params.gain);
      if constexpr (Bias) cache.y.row(n) += params.bias;
    }
    return cache.y;
  }
  /// Adds the gradients of gain and bias; dx is written and may be dy itself.
  void backward(const Params& params, const Cache& cache, In<Mat<T>> dy, Out<Mat<T>> dx, Params& grad) const {
    const Extent width = params.gain.cols();
    require_size("dy.rows", dy.rows(), cache.y.rows());
    require_size("dy.cols", dy.cols(), width);
    require_size("dx.rows", dx.rows(), dy.rows());
    require_size("dx.cols", dx.cols(), width);
    const T share = T(T(1) / T(static_cast<double>(width)));
    for (Extent n = 0; n < dy.rows(); ++n) {
      const auto hat = cache.normalised.row(n);
      grad.gain += dy.row(n).cwiseProduct(hat);
      if constexpr (Bias) grad.bias += dy.row(n);
      dx.row(n) = dy.row(n).cwiseProduct(params.gain);
      const T mean = T(dx.row(n).sum() * share), along = T(dx.row(n).dot(hat) * share);
      dx.row(n) = (cache.inv_std(0, n) * (dx.row(n).array() - mean - along * hat.array())).matrix();
    }
  }
  /// Gain 1, bias 0: the usual start.
  static void reset(Params& params) {
    params.gain.setOnes();
    if constexpr (Bias) params.bias.setZero();
  }
};

static_assert(ParameterBundle<typename LayerNorm<double>::Params>);

}  // namespace incipit::inline INCIPIT_ABI::nn
