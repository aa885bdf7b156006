// SPDX-License-Identifier: MIT
/// @file
/// @brief Root-mean-square normalisation over the feature axis.
#pragma once

#include <incipit/core/buffer.hpp>
#include <incipit/core/scalar.hpp>

namespace incipit::inline INCIPIT_ABI::nn {

/// Where eps is added.
enum class EpsPlace {
  inside_root,  ///< \f$ 1/\sqrt{\tfrac1C\sum x^2 + \epsilon} \f$, as Llama has it
  outside_root  ///< \f$ 1/(\sqrt{\tfrac1C\sum x^2} + \epsilon) \f$
};

/// @brief Root-mean-square normalisation of rows, times a gain.
/// @par Shapes   x, y, dy, dx: (N, C); gain: (C).
/// @par Forward  inside: \f$ r_n = (\tfrac1C \sum_c x_{nc}^2 + \epsilon)^{-1/2} \f$; outside: \f$ r_n = (\rho_n +
///               \epsilon)^{-1},\; \rho_n = (\tfrac1C \sum_c x_{nc}^2)^{1/2} \f$; \f$ y_n = r_n\, x_n \odot g \f$
/// @par Backward \f$ u = dy \odot g,\; dx_n = r_n u_n - \tfrac{q_n}{C}\langle u_n, x_n\rangle x_n \f$ with \f$ q_n =
///               r_n^3 \f$ inside, \f$ q_n = r_n^2/\rho_n \f$ outside (0 where \f$ \rho_n = 0 \f$: there y is linear in
///               x to first order); \f$ dg \mathrel{+}= \sum_n r_n\, dy_n \odot x_n \f$
/// @details With eps = 0 a row of zeros has no direction: its output and its dx are 0.
/// @par Source   Zhang & Sennrich 2019, eq. 4.  @par Derivation docs/derivations/transformer_layers.md
/// @par Cost     about 5 N C FLOPs forward, 10 N C backward.  @par Checked tests/nn/norm_test.cpp
template <Real T, EpsPlace Place = EpsPlace::inside_root>
struct RmsNorm {
  double eps = 1e-5;  ///< see EpsPlace; >= 0

  /// The gain, which starts at 1: call `reset`.
  struct Params {
    using Scalar = T;      ///< scalar type
    Slot<T, 1, dyn> gain;  ///< (1, C)
    /// Width C, without memory until Owned seats it.
    explicit Params(Extent width) : gain(nullptr, 1, width) {}
    template <class F> void for_each_parameter(F&& f) { f("gain", gain); }        ///< "gain"
    template <class F> void for_each_parameter(F&& f) const { f("gain", gain); }  ///< "gain"
  };
  /// What forward keeps.
  struct Cache {
    Buffer<T> x;        ///< (N, C)
    Buffer<T> inverse;  ///< (2, N): r, and q
    Buffer<T> y;        ///< (N, C)
  };
  /// y; keeps x. @throws ShapeError unless x is as wide as the gain.
  const Slot<T>& forward(const Params& params, In<Mat<T>> x, Cache& cache) const {
    const Extent width = params.gain.cols();
    require_size("x.cols", x.cols(), width);
    require_non_negative("eps", eps);
    cache.x.assign(x);
    cache.inverse.resize(2, x.rows());
    cache.y.resize(x.rows(), width);
    const T share = T(T(1) / T(static_cast<double>(width)));
    for (Extent n = 0; n < x.rows(); ++n) {
      const T mean = T(x.row(n).squaredNorm() * share);
      T r, q;
      if constexpr (Place == EpsPlace::inside_root) {
        const T square = T(mean + T(eps));
        r = T(0) < square ? T(T(1) / scalar::sqrt(square)) : T(0);
        q = T(r * r * r);
      } else {
        const T root = scalar::sqrt(mean);
        r = T(0) < T(root + T(eps)) ? T(T(1) / T(root + T(eps))) : T(0);
        q = T(0) < root ? T(r * r / root) : T(0);
      }
      cache.inverse(0, n) = r;
      cache.inverse(1, n) = q;
      cache.y.row(n) = (x.row(n) * r).cwiseProduct(params.gain);
    }
    return cache.y;
  }
  /// Adds the gradient of the gain; dx is written and may be dy itself.
  void backward(const Params& params, const Cache& cache, In<Mat<T>> dy, Out<Mat<T>> dx, Params& grad) const {
    const Extent width = params.gain.cols();
    require_size("dy.rows", dy.rows(), cache.y.rows());
    require_size("dy.cols", dy.cols(), width);
    require_size("dx.rows", dx.rows(), dy.rows());
    require_size("dx.cols", dx.cols(), width);
    const T share = T(T(1) / T(static_cast<double>(width)));
    for (Extent n = 0; n < dy.rows(); ++n) {
      const auto x = cache.x.row(n);
      const T r = cache.inverse(0, n);
      grad.gain += r * dy.row(n).cwiseProduct(x);
      dx.row(n) = dy.row(n).cwiseProduct(params.gain);
      const T along = T(dx.row(n).dot(x) * share * cache.inverse(1, n));
      dx.row(n) = r * dx.row(n) - along * x;
    }
  }
  /// Gain 1: the usual start.
  static void reset(Params& params) { params.gain.setOnes(); }
};

static_assert(ParameterBundle<typename RmsNorm<double>::Params>);

}  // namespace incipit::inline INCIPIT_ABI::nn
