// SPDX-License-Identifier: MIT
/// @file
/// @brief Multi-head self-attention with separate projections.
#pragma once

#include <incipit/nn/attention.hpp>
#include <incipit/nn/linear.hpp>

namespace incipit::inline INCIPIT_ABI::nn {

/// Widths of an attention layer; key and value widths are those of one head, free of width / heads.
struct AttentionSizes {
  Extent width = 0;  ///< C, of input and output
  Extent heads = 1;  ///< H
  Extent key = 0;    ///< d_k
  Extent value = 0;  ///< d_v
};

/// @brief y = Attn(x W_Q, x W_K, x W_V) W_O over sequences of `length` rows, causal unless told otherwise.
/// @par Shapes   x, dx: (B T, C), sequence b in rows b T to (b+1) T - 1; y, dy: the same, or (B, C) with `last_only`;
///               query, key: (C, H d_k); value: (C, H d_v); output: (H d_v, C); biases optional.
/// @par Forward  \f$ Q = x W_Q + b_Q,\; K = x W_K + b_K,\; V = x W_V + b_V,\; y = \mathrm{attend}(Q, K, V)\, W_O + b_O
///               \f$; without an output projection y is what attend gives, and H d_v = C
/// @par Backward attend_backward between the backwards of the affine maps; \f$ dx = dQ\,W_Q^T + dK\,W_K^T + dV\,W_V^T
///               \f$
/// @details With `last_only`, queries are made for the last row of every sequence alone: the same numbers as the last
/// rows of the full output, for a T-th of the work on queries, scores and outputs.
/// @par Source   Vaswani et al. 2017, section 3.2; paper A, Definition 2 (one head, no biases, d_v = d_k).
/// @par Cost     2 B T C (2 H d_k + 2 H d_v) FLOPs and those of attend.  @par Checked tests/nn/attention_test.cpp
template <Real T, bool Bias = true, bool Projection = true>
struct SelfAttention {
  using Map = Linear<T, dyn, dyn, Bias>;  ///< every projection

  Extent length = 1;           ///< T, rows of a sequence
  bool last_only = false;      ///< compute the last position of every sequence only
  Mask mask = Mask::causal();  ///< over (T, T); see Mask

  /// The projections.
  struct Params {
    using Scalar = T;             ///< scalar type
    AttentionSizes sizes;         ///< C, H, d_k, d_v
    typename Map::Params query;   ///< (C, H d_k)
    typename Map::Params key;     ///< (C, H d_k)
    typename Map::Params value;   ///< (C, H d_v)
    typename Map::Params output;  ///< (H d_v, C); unseated without a projection
    /// @brief Sizes, without memory until Owned seats it. @throws ShapeError for sizes below 1, or H d_v != C without a
    /// projection.
    explicit Params(AttentionSizes s)
        : sizes(checked(s)), query(s.width, s.heads * s.key), key(query), value(s.width, s.heads * s.value), output(s.heads * s.value, s.width) {}
    template <class V> void for_each_parameter(V&& v) { visit(*this, v); }        ///< "query.weight", ..., "output.bias"
    template <class V> void for_each_parameter(V&& v) const { visit(*this, v); }  ///< "query.weight", ..., "output.bias"

   private:
    static AttentionSizes checked(AttentionSizes s) {
      require<ShapeError>(s.width >= 1, "width", s.width, "at least 1");
      require<ShapeError>(s.heads >= 1, "heads", s.heads, "at least 1");
      require<ShapeError>(s.key >= 1, "key", s.key, "at least 1");
      require<ShapeError>(s.value >= 1, "value", s.value, "at least 1");
      require<ShapeError>(Projection || s.heads * s.value == s.width, "heads * value", s.heads * s.value,
                          "the width, where no output projection follows");
      return s;
    }
    template <class Self, class V>
    static void visit(Self& self, V& v) {
      visit_part("query", self.query, v);
      visit_part("key", self.key, v);
      visit_part("value", self.value, v);
      if constexpr (Projection) visit_part("output", self.output, v);
    }
  };
  /// What forward keeps.
  struct Cache {
    Buffer<T> x;                                        ///< (B T, C)
    Buffer<T> last;                                     ///< (B, C) last rows of x, with `last_only`
    Buffer<T> q, k, v;                                  ///< projected rows
    Buffer<T> weights;                                  ///< (B H Tq, T) attention, row (b H + h) Tq + i
    Buffer<T> mixed;                                    ///< (B Tq, H d_v) what attend gives
    Buffer<T> y;                                        ///< (B Tq, C)
    Extent blind = 0;                                   ///< queries that the mask left without a key
    mutable Buffer<T> dq, dk, dv, dmixed, dlast, row;   ///< scratch of backward
    mutable GemmWorkspace<T> workspace;                 ///< scratch of the products
  };
  /// y; keeps x. @throws ShapeError unless x has C columns and whole sequences of rows.
  const Slot<T>& forward(const Params& params, In<Mat<T>> x, Cache& cache) const {
    const AttentionShape shape = shape_of(params, x.rows());
    require_size("x.cols", x.cols(), params.sizes.width);
    cache.x.assign(x);
    if (last_only) {
      cache.last.resize(shape.sequences, x.cols());
      for (Extent b = 0; b < shape.sequences; ++b) cache.last.row(b) = cache.x.row((b + 1) * length - 1);
    }
    const Buffer<T>& asking = last_only ? cache.last : cache.x;
    cache.q.resize(asking.rows(), params.query.weight.cols());
    cache.k.resize(x.rows(), params.key.weight.cols());
    cache.v.resize(x.rows(), params.value.weight.cols());
    Map::apply(params.query, asking, cache.q, cache.workspace);
    Map::apply(params.key, cache.x, cache.k, cache.workspace);
    Map::apply(params.value, cache.x, cache.v, cache.workspace);
    cache.mixed.resize(asking.rows(), params.value.weight.cols());
    cache.blind = attend<T>(shape, asked(), cache.q, cache.k, cache.v, cache.weights, cache.mixed);
    if constexpr (!Projection) return cache.mixed;
    cache.y.resize(asking.rows(), x.cols());
    Map::apply(params.output, cache.mixed, cache.y, cache.workspace);
    return cache.y;
  }
  /// Gradients of the parameters are added; dx is written for every row, and may be dy itself where shapes agree.
  void backward(const Params& params, const Cache& cache, In<Mat<T>> dy, Out<Mat<T>> dx, Params& grad) const {
    const AttentionShape shape = shape_of(params, cache.x.rows());
    require_size("dy.rows", dy.rows(), cache.mixed.rows());
    require_size("dy.cols", dy.cols(), params.sizes.width);
    require_size("dx.rows", dx.rows(), cache.x.rows());
    require_size("dx.cols", dx.cols(), cache.x.cols());
    cache.dq.resize(cache.q.rows(), cache.q.cols());
    cache.dk.resize(cache.k.rows(), cache.k.cols());
    cache.dv.resize(cache.v.rows(), cache.v.cols());
    if constexpr (Projection) {
      cache.dmixed.resize(cache.mixed.rows(), cache.mixed.cols());
      Map::add_gradient(cache.mixed, dy, grad.output, cache.workspace);
      product_nt(dy, params.output.weight, cache.dmixed, Accumulate::no, cache.workspace);
    } else {
      cache.dmixed.assign(dy);
    }
    attend_backward<T>(shape, asked(), cache.q, cache.k, cache.v, cache.weights, cache.dmixed, cache.dq, cache.dk,
                       cache.dv, cache.row);
    Map::add_gradient(last_only ? cache.last : cache.x, cache.dq, grad.query, cache.workspace);
    Map::add_gradient(cache.x, cache.dk, grad.key, cache.workspace);
    Map::add_gradient(cache.x, cache.dv, grad.value, cache.workspace);
    product_nt(cache.dk, params.key.weight, dx, Accumulate::no, cache.workspace);
    product_nt(cache.dv, params.value.weight, dx, Accumulate::yes, cache.workspace);
    if (!last_only) return product_nt(cache.dq, params.query.weight, dx, Accumulate::yes, cache.workspace);
    cache.dlast.resize(shape.sequences, dx.cols());
    product_nt(cache.dq, params.query.weight, cache.dlast, Accumulate::no, cache.workspace);
    for (Extent b = 0; b < shape.sequences; ++b) dx.row((b + 1) * length - 1) += cache.dlast.row(b);
  }

 private:
  AttentionShape shape_of(const Params& params, Extent rows) const {
    require<ShapeError>(length >= 1, "length", length, "at least 1");
    if (rows % length != 0) [[unlikely]]
      fail<ShapeError>("x.rows", rows, "a multiple of the length, " + std::to_string(length));
    return {rows / length, last_only ? 1 : length, length, params.sizes.heads};
  }
  Mask asked() const { return last_only ? mask.last_query(length) : mask; }
};

static_assert(ParameterBundle<typename SelfAttention<double>::Params>);

}  // namespace incipit::inline INCIPIT_ABI::nn
