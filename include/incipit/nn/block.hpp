// SPDX-License-Identifier: MIT
/// @file
/// @brief One transformer block: attention and feed-forward on a residual stream, norms before, after or nowhere.
#pragma once

#include <incipit/nn/feed_forward.hpp>
#include <incipit/nn/layer_norm.hpp>
#include <incipit/nn/rms_norm.hpp>
#include <incipit/nn/self_attention.hpp>

namespace incipit::inline INCIPIT_ABI::nn {

/// Where a block normalises.
enum class NormPlace {
  none,  ///< nowhere
  pre,   ///< what enters attention and feed-forward; the stream itself stays as it is
  post   ///< the stream, after each addition
};
/// By what a block normalises.
enum class NormKind {
  layer,  ///< LayerNorm
  rms     ///< RmsNorm, eps inside the root
};

/// What a block is made of; a template argument.
struct BlockStyle {
  NormPlace place = NormPlace::pre;   ///< where it normalises
  NormKind norm = NormKind::layer;    ///< by what
  bool bias = true;                   ///< in affine maps and LayerNorm
  bool projection = true;             ///< W_O after attention
};

/// Sizes of a block.
struct BlockSizes {
  AttentionSizes attention;  ///< C, H, d_k, d_v
  Extent hidden = 0;         ///< F
};

/// The norm of a style.
template <Real T, BlockStyle S>
using NormOf = std::conditional_t<S.norm == NormKind::layer, LayerNorm<T, S.bias>, RmsNorm<T>>;

/// @brief Attention A and feed-forward F on a residual stream, with norms N_1, N_2.
/// @par Shapes   x, dx: (B T, C); y, dy: the same, or (B, C) with `last_only`.
/// @par Forward  pre: \f$ h = x + A(N_1(x)),\; y = h + F(N_2(h)) \f$; post: \f$ h = N_1(x + A(x)),\; y = N_2(h + F(h))
///               \f$; none: \f$ h = x + A(x),\; y = h + F(h) \f$. With `last_only`, x in the sums is its last rows.
/// @par Backward pre: \f$ dh = dy + N_2'^T F'^T dy,\; dx = dh + N_1'^T A'^T dh \f$: the residual part passes no norm;
///               post: \f$ dt = N_2'^T dy,\; ds = N_1'^T(dt + F'^T dt),\; dx = ds + A'^T ds \f$
/// @par Derivation docs/derivations/transformer_layers.md  @par Checked tests/nn/attention_test.cpp
template <Real T, BlockStyle S = BlockStyle{}, ActivationFunction Act = GeluTanh>
struct Block {
  using Attention = SelfAttention<T, S.bias, S.projection>;  ///< A
  using Hidden = FeedForward<T, Act, S.bias>;                ///< F
  using Norm = NormOf<T, S>;                                 ///< N_1, N_2
  static constexpr bool normalises = S.place != NormPlace::none;  ///< whether there are norms

  Extent length = 1;           ///< T, rows of a sequence
  bool last_only = false;      ///< compute the last position of every sequence only
  double eps = 1e-5;           ///< of the norms
  Mask mask = Mask::causal();  ///< of attention

  /// All parameters.
  struct Params {
    using Scalar = T;                      ///< scalar type
    typename Norm::Params norm_1, norm_2;  ///< unseated without norms
    typename Attention::Params attention;  ///< A
    typename Hidden::Params hidden;        ///< F
    /// Sizes, without memory until Owned seats it. @throws ShapeError
    explicit Params(BlockSizes s)
        : norm_1(s.attention.width), norm_2(s.attention.width), attention(s.attention), hidden(s.attention.width, s.hidden) {
      require<ShapeError>(s.hidden >= 1, "hidden", s.hidden, "at least 1");
    }
    template <class V> void for_each_parameter(V&& v) { visit(*this, v); }        ///< "norm_1.gain", ...
    template <class V> void for_each_parameter(V&& v) const { visit(*this, v); }  ///< "norm_1.gain", ...

   private:
    template <class Self, class V>
    static void visit(Self& self, V& v) {
      if constexpr (normalises) visit_part("norm_1", self.norm_1, v);
      visit_part("attention", self.attention, v);
      if constexpr (normalises) visit_part("norm_2", self.norm_2, v);
      visit_part("hidden", self.hidden, v);
    }
  };
  /// What forward keeps.
  struct Cache {
    typename Norm::Cache norm_1, norm_2;  ///< of the norms
    typename Attention::Cache attention;  ///< of A
    typename Hidden::Cache hidden;        ///< of F
    Buffer<T> h;                          ///< (B Tq, C) between A and F; before N_1 for `post`
    Buffer<T> y;                          ///< (B Tq, C); before N_2 for `post`
    mutable Buffer<T> dh, branch;         ///< scratch of backward
  };

  /// y. @throws ShapeError
  const Slot<T>& forward(const Params& params, In<Mat<T>> x, Cache& cache) const {
    const Norm norm{eps};
    const Attention attention{length, last_only, mask};
    const Slot<T>* branch;
    if constexpr (S.place == NormPlace::pre)
      branch = &attention.forward(params.attention, norm.forward(params.norm_1, x, cache.norm_1), cache.attention);
    else
      branch = &attention.forward(params.attention, x, cache.attention);
    cache.h.resize(branch->rows(), branch->cols());
    for (Extent n = 0; n < branch->rows(); ++n) cache.h.row(n) = x.row(row_of(n)) + branch->row(n);
    const Slot<T>* h = &cache.h;
    if constexpr (S.place == NormPlace::post) h = &norm.forward(params.norm_1, cache.h, cache.norm_1);
    if constexpr (S.place == NormPlace::pre)
      branch = &Hidden{}.forward(params.hidden, norm.forward(params.norm_2, *h, cache.norm_2), cache.hidden);
    else
      branch = &Hidden{}.forward(params.hidden, *h, cache.hidden);
    cache.y.resize(h->rows(), h->cols());
    cache.y = *h + *branch;
    if constexpr (S.place == NormPlace::post) return norm.forward(params.norm_2, cache.y, cache.norm_2);
    return cache.y;
  }
  /// Gradients of the parameters are added; dx is written for every row, and may be dy itself where shapes agree.
  void backward(const Params& params, const Cache& cache, In<Mat<T>> dy, Out<Mat<T>> dx, Params& grad) const {
    require_size("dy.rows", dy.rows(), cache.y.rows());
    require_size("dy.cols", dy.cols(), cache.y.cols());
    require_size("dx.rows", dx.rows(), cache.attention.x.rows());
    require_size("dx.cols", dx.cols(), cache.attention.x.cols());
    const Norm norm{eps};
    const Attention attention{length, last_only, mask};
    cache.dh.resize(dy.rows(), dy.cols());
    cache.branch.resize(dy.rows(), dy.cols());
    if constexpr (S.place == NormPlace::post)
      norm.backward(params.norm_2, cache.norm_2, dy, cache.dh, grad.norm_2);
    else
      cache.dh = dy;
    Hidden{}.backward(params.hidden, cache.hidden, cache.dh, cache.branch, grad.hidden);
    if constexpr (S.place == NormPlace::pre) norm.backward(params.norm_2, cache.norm_2, cache.branch, cache.branch, grad.norm_2);
    cache.dh += cache.branch;
    if constexpr (S.place == NormPlace::post) norm.backward(params.norm_1, cache.norm_1, cache.dh, cache.dh, grad.norm_1);
    attention.backward(params.attention, cache.attention, cache.dh, dx, grad.attention);
    if constexpr (S.place == NormPlace::pre) norm.backward(params.norm_1, cache.norm_1, dx, dx, grad.norm_1);
    for (Extent n = 0; n < cache.dh.rows(); ++n) dx.row(row_of(n)) += cache.dh.row(n);
  }
  /// Gains 1 and biases of norms 0.
  static void reset_norms(Params& params) {
    if constexpr (normalises) {
      Norm::reset(params.norm_1);
      Norm::reset(params.norm_2);
    }
  }

 private:
  /// Row of x to which row n of the output belongs.
  Extent row_of(Extent n) const { return last_only ? (n + 1) * length - 1 : n; }
};

static_assert(ParameterBundle<typename Block<double>::Params>);

}  // namespace incipit::inline INCIPIT_ABI::nn
