// SPDX-License-Identifier: MIT
/// @file
/// @brief Scaled dot-product attention of many heads, forward and backward, on rows that the caller has projected.
#pragma once

#include <incipit/core/buffer.hpp>
#include <incipit/core/numerics.hpp>
#include <incipit/nn/mask.hpp>

namespace incipit::inline INCIPIT_ABI::nn {

/// How rows divide into sequences and columns into heads.
struct AttentionShape {
  Extent sequences = 1;  ///< B
  Extent queries = 1;    ///< Tq of each sequence
  Extent keys = 1;       ///< Tk of each sequence
  Extent heads = 1;      ///< H
};

namespace detail {
/// Columns first .. first + width - 1 of row n, as a contiguous map.
template <class T>
Eigen::Map<const Row<T>> part(const Eigen::Ref<const Mat<T>>& x, Extent n, Extent first, Extent width) {
  return {x.data() + n * x.outerStride() + first, width};
}
/// The same, to write to.
template <class T>
Eigen::Map<Row<T>> part(Eigen::Ref<Mat<T>>& x, Extent n, Extent first, Extent width) {
  return {x.data() + n * x.outerStride() + first, width};
}

/// Checks q, k, v against the shape. @throws ShapeError
template <Real T>
void require_attention(const AttentionShape& s, In<Mat<T>> q, In<Mat<T>> k, In<Mat<T>> v, const Mask& mask) {
  require<ShapeError>(s.sequences >= 0 && s.queries >= 0 && s.keys >= 0, "shape", s.sequences, "extents >= 0");
  require<ShapeError>(s.heads >= 1, "heads", s.heads, "at least 1");
  require_size("q.rows", q.rows(), s.sequences * s.queries);
  require_size("k.rows", k.rows(), s.sequences * s.keys);
  require_size("v.rows", v.rows(), k.rows());
  require_size("k.cols", k.cols(), q.cols());
  require<ShapeError>(q.cols() % s.heads == 0 && q.cols() > 0, "q.cols", q.cols(), "a positive multiple of the heads");
  require<ShapeError>(v.cols() % s.heads == 0 && v.cols() > 0, "v.cols", v.cols(), "a positive multiple of the heads");
  mask.require_shape(s.sequences, s.queries, s.keys);
}
}  // namespace detail

/// @brief o = softmax(mask(q k^T / sqrt d_k)) v, for every sequence and head.
/// @par Shapes   q: (B Tq, H d_k); k: (B Tk, H d_k); v: (B Tk, H d_v); o: (B Tq, H d_v); weights A: (B H Tq, Tk), row
///               (b H + h) Tq + i. d_k and d_v are free; head h has columns h d_k to (h+1) d_k - 1.
/// @par Forward  \f$ \ell_{ij} = \langle q_i, k_j\rangle / \sqrt{d_k},\; A_{ij} = e^{\ell_{ij}} / \sum_{j'}
///               e^{\ell_{ij'}} \f$ over the visible keys, 0 elsewhere; \f$ o_i = \sum_j A_{ij} v_j \f$
/// @details A query that sees nothing has weights and output zero. Masked keys and values are not read.
/// @return the number of such queries, over all sequences (not times heads).
/// @par Cost     2 (d_k + d_v) FLOPs for each visible pair and head.  @par Checked tests/nn/attention_test.cpp
template <Real T>
Extent attend(const AttentionShape& s, const Mask& mask, std::type_identity_t<In<Mat<T>>> q,
              std::type_identity_t<In<Mat<T>>> k, std::type_identity_t<In<Mat<T>>> v, Buffer<T>& weights,
              std::type_identity_t<Out<Mat<T>>> o) {
  detail::require_attention<T>(s, q, k, v, mask);
  require_size("o.rows", o.rows(), q.rows());
  require_size("o.cols", o.cols(), v.cols());
  const Extent dk = q.cols() / s.heads, dv = v.cols() / s.heads;
  const T scale = T(T(1) / scalar::sqrt(T(static_cast<double>(dk))));
  weights.resize(s.sequences * s.heads * s.queries, s.keys);
  Extent blind = 0;
  for (Extent b = 0; b < s.sequences; ++b)
    for (Extent h = 0; h < s.heads; ++h)
      for (Extent i = 0; i < s.queries; ++i) {
        T* const a = weights.data() + ((b * s.heads + h) * s.queries + i) * s.keys;
        const Extent reach = mask.reach(i, s.queries, s.keys);
        const Eigen::Map<const Row<T>> qi = detail::part<T>(q, b * s.queries + i, h * dk, dk);
        Extent seen = 0;
        for (Extent j = 0; j < reach; ++j) {
          if (!mask.visible(b, i, j, s.queries)) continue;
          // Compact: visible scores first, so that softmax meets no infinity that stands for a mask.
          a[seen++] = T(qi.dot(detail::part<T>(k, b * s.keys + j, h * dk, dk)) * scale);
        }
        if (seen == 0 && h == 0) ++blind;
        softmax_in_place(a, seen);
        for (Extent j = s.keys; j > 0; --j)  // spread out again, from the end
          a[j - 1] = j <= reach && mask.visible(b, i, j - 1, s.queries) ? a[--seen] : T(0);
        Eigen::Map<Row<T>> oi = detail::part<T>(o, b * s.queries + i, h * dv, dv);
        oi.setZero();
        for (Extent j = 0; j < reach; ++j)
          if (mask.visible(b, i, j, s.queries))
            oi += a[j] * detail::part<T>(v, b * s.keys + j, h * dv, dv);
      }
  return blind;
}

/// @brief Backward of attend: dq, dk and dv are written. Shapes as in attend; `weights` are those that attend left.
/// @par Backward \f$ dA_{ij} = \langle do_i, v_j\rangle,\; d\ell_{ij} = A_{ij}(dA_{ij} - \sum_{j'} A_{ij'} dA_{ij'}),\;
///               dv_j = \sum_i A_{ij} do_i,\; dq_i = \sum_j d\ell_{ij} k_j / \sqrt{d_k},\; dk_j = \sum_i d\ell_{ij} q_i
///               / \sqrt{d_k} \f$, sums over visible pairs only.
/// @details No output may overlap an input. @par Derivation docs/derivations/transformer_layers.md
/// @par Cost     4 (d_k + d_v) FLOPs for each visible pair and head.
template <Real T>
void attend_backward(const AttentionShape& s, const Mask& mask, std::type_identity_t<In<Mat<T>>> q,
                     std::type_identity_t<In<Mat<T>>> k, std::type_identity_t<In<Mat<T>>> v, const Buffer<T>& weights,
                     std::type_identity_t<In<Mat<T>>> d_o, std::type_identity_t<Out<Mat<T>>> dq,
                     std::type_identity_t<Out<Mat<T>>> dk, std::type_identity_t<Out<Mat<T>>> dv, Buffer<T>& scratch) {
  detail::require_attention<T>(s, q, k, v, mask);
  require_size("weights.rows", weights.rows(), s.sequences * s.heads * s.queries);
  require_size("weights.cols", weights.cols(), s.keys);
  require_size("do.rows", d_o.rows(), q.rows());
  require_size("do.cols", d_o.cols(), v.cols());
  const Extent width = q.cols() / s.heads, value = v.cols() / s.heads;
  const T scale = T(T(1) / scalar::sqrt(T(static_cast<double>(width))));
  scratch.resize(1, s.keys);
  dq.setZero();
  dk.setZero();
  dv.setZero();
  for (Extent b = 0; b < s.sequences; ++b)
    for (Extent h = 0; h < s.heads; ++h)
      for (Extent i = 0; i < s.queries; ++i) {
        const T* const a = weights.data() + ((b * s.heads + h) * s.queries + i) * s.keys;
        T* const da = scratch.data();
        const Extent reach = mask.reach(i, s.queries, s.keys);
        const Eigen::Map<const Row<T>> doi = detail::part<T>(d_o, b * s.queries + i, h * value, value);
        T mean(0);
        for (Extent j = 0; j < reach; ++j) {
          if (!mask.visible(b, i, j, s.queries)) continue;
          da[j] = doi.dot(detail::part<T>(v, b * s.keys + j, h * value, value));
          mean += a[j] * da[j];
          detail::part<T>(dv, b * s.keys + j, h * value, value) += a[j] * doi;
        }
        const Eigen::Map<const Row<T>> qi = detail::part<T>(q, b * s.queries + i, h * width, width);
        Eigen::Map<Row<T>> dqi = detail::part<T>(dq, b * s.queries + i, h * width, width);
        for (Extent j = 0; j < reach; ++j) {
          if (!mask.visible(b, i, j, s.queries)) continue;
          const T dl = T(a[j] * T(da[j] - mean) * scale);
          dqi += dl * detail::part<T>(k, b * s.keys + j, h * width, width);
          detail::part<T>(dk, b * s.keys + j, h * width, width) += dl * qi;
        }
      }
}

}  // namespace incipit::inline INCIPIT_ABI::nn
