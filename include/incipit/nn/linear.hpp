// SPDX-License-Identifier: MIT
/// @file
/// @brief Affine map y = x W + b.
#pragma once

#include <incipit/core/buffer.hpp>
#include <incipit/core/gemm.hpp>

namespace incipit::inline INCIPIT_ABI::nn {

/// @brief Affine map of rows, with or without a bias.
/// @par Shapes   x, dx: (N, I); y, dy: (N, O); weight: (I, O); bias: (O). N free; I = Inputs, O = Outputs.
/// @par Forward  \f$ y = x W + 1\,b \f$
/// @par Backward \f$ dx = dy\,W^T,\quad dW \mathrel{+}= x^T dy,\quad db \mathrel{+}= \sum_n dy_n \f$
/// @par Cost     2 N I O FLOPs forward, twice that backward.  @par Checked tests/nn/layers_test.cpp
template <Real T, Extent Inputs = dyn, Extent Outputs = dyn, bool Bias = true>
struct Linear {
  /// Weight and, if `Bias`, bias.
  struct Params {
    using Scalar = T;                 ///< scalar type
    Slot<T, Inputs, Outputs> weight;  ///< (I, O)
    Slot<T, 1, Outputs> bias;         ///< (1, O); unseated without a bias
    /// Sizes in and out, without memory until Owned seats it.
    Params(Extent in, Extent out) : weight(nullptr, in, out), bias(nullptr, 1, out) {}
    template <class F> void for_each_parameter(F&& f) { visit(*this, f); }        ///< "weight", then "bias"
    template <class F> void for_each_parameter(F&& f) const { visit(*this, f); }  ///< "weight", then "bias"

   private:
    template <class Self, class F>
    static void visit(Self& self, F& f) {
      f("weight", self.weight);
      if constexpr (Bias) f("bias", self.bias);
    }
  };
  /// Input, output and the product's packing space.
  struct Cache {
    Mat<T, dyn, Inputs> x;               ///< (N, I)
    Mat<T, dyn, Outputs> y;              ///< (N, O)
    mutable GemmWorkspace<T> workspace;  ///< scratch of the products, backward's too
  };
  /// y = x W + b; keeps x.
  const Mat<T, dyn, Outputs>& forward(const Params& params, In<Mat<T, dyn, Inputs>> x, Cache& cache) const {
    require_size("x.cols", x.cols(), params.weight.rows());
    cache.x = x;
    cache.y.resize(x.rows(), params.weight.cols());
    apply(params, cache.x, cache.y, cache.workspace);
    return cache.y;
  }
  /// Gradients of weight and bias are added to `grad`; dx is written, and may be dy itself when I = O.
  void backward(const Params& params, const Cache& cache, In<Mat<T, dyn, Outputs>> dy, Out<Mat<T, dyn, Inputs>> dx,
                Params& grad) const {
    require_size("dy.rows", dy.rows(), cache.y.rows());
    require_size("dy.cols", dy.cols(), cache.y.cols());
    require_size("dx.rows", dx.rows(), cache.x.rows());
    require_size("dx.cols", dx.cols(), cache.x.cols());
    add_gradient(cache.x, dy, grad, cache.workspace);
    if (static_cast<const void*>(dx.data()) == static_cast<const void*>(dy.data())) {
      const Mat<T, dyn, Outputs> copy = dy;
      product_nt(copy, params.weight, dx, Accumulate::no, cache.workspace);
    } else {
      product_nt(dy, params.weight, dx, Accumulate::no, cache.workspace);
    }
  }

  /// y = x W + b without a cache: for layers that keep x themselves. y must not overlap x.
  static void apply(const Params& params, std::type_identity_t<MatrixView<const T>> x, Out<Mat<T, dyn, Outputs>> y,
                    GemmWorkspace<T>& workspace) {
    product(x, params.weight, y, Accumulate::no, workspace);
    if constexpr (Bias) y.rowwise() += params.bias;
  }
  /// The parameters' part of backward: dW += x^T dy, db += sum of dy.
  static void add_gradient(std::type_identity_t<MatrixView<const T>> x, In<Mat<T, dyn, Outputs>> dy, Params& grad,
                           GemmWorkspace<T>& workspace) {
    product_tn(x, dy, grad.weight, Accumulate::yes, workspace);
    if constexpr (Bias)
      for (Extent n = 0; n < dy.rows(); ++n) grad.bias += dy.row(n);
  }
};

}  // namespace incipit::inline INCIPIT_ABI::nn
