// SPDX-License-Identifier: MIT
/// @file
/// @brief Position-wise feed-forward network.
#pragma once

#include <incipit/nn/activation.hpp>
#include <incipit/nn/linear.hpp>

namespace incipit::inline INCIPIT_ABI::nn {

/// @brief Two affine maps with an activation between them, applied to every row.
/// @par Shapes   x, dx, y, dy: (N, C); in.weight: (C, F); out.weight: (F, C); biases (F), (C).
/// @par Forward  \f$ y = \mathrm{act}(x W_1 + b_1)\, W_2 + b_2 \f$
/// @par Backward \f$ dW_2 \mathrel{+}= a^T dy,\; dh = (dy\,W_2^T) \odot \mathrm{act}'(h),\; dW_1 \mathrel{+}= x^T dh,\;
///               dx = dh\,W_1^T \f$, biases the column sums of dy and dh
/// @par Source   paper A, Definition 2 (without biases).  @par Cost 4 N C F FLOPs forward, twice that backward.
/// @par Checked  tests/nn/attention_test.cpp
template <Real T, ActivationFunction A = GeluTanh, bool Bias = true>
struct FeedForward {
  using Map = Linear<T, dyn, dyn, Bias>;  ///< either affine map

  /// Both maps.
  struct Params {
    using Scalar = T;          ///< scalar type
    typename Map::Params in;   ///< (C, F)
    typename Map::Params out;  ///< (F, C)
    /// Widths C and F, without memory until Owned seats it.
    Params(Extent width, Extent hidden) : in(width, hidden), out(hidden, width) {}
    template <class V> void for_each_parameter(V&& v) { visit(*this, v); }        ///< "in.weight", ..., "out.bias"
    template <class V> void for_each_parameter(V&& v) const { visit(*this, v); }  ///< "in.weight", ..., "out.bias"

   private:
    template <class Self, class V>
    static void visit(Self& self, V& v) {
      visit_part("in", self.in, v);
      visit_part("out", self.out, v);
    }
  };
  /// What forward keeps.
  struct Cache {
    Buffer<T> x;                         ///< (N, C)
    Buffer<T> slope;                     ///< (N, F) act'(h)
    Buffer<T> hidden;                    ///< (N, F) act(h)
    Buffer<T> y;                         ///< (N, C)
    mutable Buffer<T> dh;                ///< scratch of backward
    mutable GemmWorkspace<T> workspace;  ///< scratch of the products
  };
  /// y; keeps x. @throws ShapeError
  const Slot<T>& forward(const Params& params, In<Mat<T>> x, Cache& cache) const {
    require_size("x.cols", x.cols(), params.in.weight.rows());
    cache.x.assign(x);
    cache.slope.resize(x.rows(), params.in.weight.cols());
    cache.hidden.resize(x.rows(), params.in.weight.cols());
    cache.y.resize(x.rows(), params.out.weight.cols());
    Map::apply(params.in, cache.x, cache.slope, cache.workspace);
    activate_with_slope<A>(cache.slope.data(), cache.hidden.data(), cache.slope.size());
    Map::apply(params.out, cache.hidden, cache.y, cache.workspace);
    return cache.y;
  }
  /// Gradients of the parameters are added; dx is written and may be dy itself.
  void backward(const Params& params, const Cache& cache, In<Mat<T>> dy, Out<Mat<T>> dx, Params& grad) const {
    require_size("dy.rows", dy.rows(), cache.y.rows());
    require_size("dy.cols", dy.cols(), cache.y.cols());
    require_size("dx.rows", dx.rows(), cache.x.rows());
    require_size("dx.cols", dx.cols(), cache.x.cols());
    cache.dh.resize(cache.hidden.rows(), cache.hidden.cols());
    Map::add_gradient(cache.hidden, dy, grad.out, cache.workspace);
    product_nt(dy, params.out.weight, cache.dh, Accumulate::no, cache.workspace);
    cache.dh.array() *= cache.slope.array();
    Map::add_gradient(cache.x, cache.dh, grad.in, cache.workspace);
    product_nt(cache.dh, params.in.weight, dx, Accumulate::no, cache.workspace);
  }
};

static_assert(ParameterBundle<typename FeedForward<double>::Params>);

}  // namespace incipit::inline INCIPIT_ABI::nn
