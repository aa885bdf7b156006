// SPDX-License-Identifier: MIT
/// @file
/// @brief What one layer of a decoder did in its last forward pass.
#pragma once

#include <incipit/measure/attention.hpp>
#include <incipit/measure/cosine.hpp>
#include <incipit/measure/token_means.hpp>
#include <incipit/model/decoder.hpp>

namespace incipit::inline INCIPIT_ABI::probe {

namespace detail {
template <class M>
inline constexpr bool is_decoder = false;
template <Real T, model::DecoderConfig S, nn::ActivationFunction A>
inline constexpr bool is_decoder<model::Decoder<T, S, A>> = true;
}  // namespace detail

/// A model::Decoder of any scalar, style and activation.
template <class M>
concept AnyDecoder = detail::is_decoder<M>;

/// @brief A layer in the cache that forward filled, as matrices for the functions of measure.
/// @par Shapes B sequences of T positions; Tq = T, but 1 in the last layer of a model with Output::last.
/// @details Nothing is copied: the view is valid until the cache changes.
template <AnyDecoder M>
class LayerView {
 public:
  using Scalar = typename M::Scalar;  ///< scalar type

  /// @brief Layer 0 .. layers-1 of a cache.
  /// @throws IndexError for another layer; ShapeError if forward has not filled the cache with at least one sequence.
  LayerView(const typename M::Cache& cache, Extent layer) : cache_(cache), layer_(static_cast<std::size_t>(layer)) {
    const auto layers = static_cast<Extent>(cache.blocks.size());
    require<ShapeError>(layers > 0 && cache.tokens.rows() > 0, "cache", cache.tokens.rows(),
                        "one that forward filled with at least one sequence");
    require<IndexError>(layer >= 0 && layer < layers, "layer", layer, "0 <= layer < number of layers");
  }
  LayerView(const typename M::Cache&&, Extent) = delete;  ///< A view of a temporary would dangle.

  Extent sequences() const { return cache_.tokens.rows(); }                  ///< B
  Extent length() const { return cache_.tokens.cols(); }                     ///< T
  Extent queries() const { return attention().mixed.rows() / sequences(); }  ///< Tq
  /// Heads and queries of `weights`.
  measure::AttentionLayout layout() const { return {weights().rows() / attention().mixed.rows(), queries()}; }
  const Slot<Id>& tokens() const { return cache_.tokens; }             ///< (B, T)
  const Slot<Scalar>& weights() const { return attention().weights; }  ///< (B H Tq, T), row (b H + h) Tq + i
  const Slot<Scalar>& read() const { return attention().x; }           ///< (B T, C), rows that attention reads
  const Slot<Scalar>& mixed() const { return attention().mixed; }      ///< (B Tq, H d_v), weighted values
  /// (B Tq, C), what attention adds to the stream.
  const Slot<Scalar>& branch() const {
    if constexpr (M::config.block.projection)
      return attention().y;
    else
      return attention().mixed;
  }
  /// (B T, C), the stream before this layer.
  const Slot<Scalar>& before() const {
    if (layer_ == 0) return cache_.x;
    const auto& last = cache_.blocks[layer_ - 1];
    if constexpr (M::config.block.place == nn::NormPlace::post)
      return last.norm_2.y;
    else
      return last.y;
  }
  /// (B Tq, C), the stream between attention and feed-forward; for post-norm after the norm.
  const Slot<Scalar>& after() const {
    if constexpr (M::config.block.place == nn::NormPlace::post)
      return block().norm_1.y;
    else
      return block().h;
  }
  /// Row of `before` and `read` that belongs to query i of sequence b.
  Extent row_of(Extent b, Extent i) const { return (b + 1) * length() - queries() + i; }

 private:
  const typename M::Block::Cache& block() const { return cache_.blocks[layer_]; }
  const typename M::Block::Attention::Cache& attention() const { return block().attention; }
  const typename M::Cache& cache_;
  std::size_t layer_;
};

/// @brief Cosine between the stream before and after attention, by query position: mean over the sequences, (Tq).
/// @details 1 where attention only scales what is there. Zero rows are skipped and counted.
template <AnyDecoder M>
std::vector<measure::DefinedMean> kept_direction(const LayerView<M>& layer) {
  const Extent queries = layer.queries();
  std::vector<measure::DefinedMean> out;
  for (Extent i = 0; i < queries; ++i) {
    std::vector<measure::Defined<double>> cosines;
    for (Extent b = 0; b < layer.sequences(); ++b)
      cosines.push_back(measure::cosine(layer.before().row(layer.row_of(b, i)).template cast<double>(),
                                        layer.after().row(b * queries + i).template cast<double>()));
    out.push_back(measure::mean_defined(cosines));
  }
  return out;
}

/// @brief Cosines between tokens before and after attention, each token as the mean of its rows in the stream.
struct TokenCosines {
  measure::CosineMatrix<double> before;  ///< (G, G)
  measure::CosineMatrix<double> after;   ///< (G, G)
  std::vector<Extent> counts;            ///< (G), rows of each token; 0 makes it one of the zero rows
};

/// @brief Cosine matrices of a group of G tokens before and after the attention of a layer.
/// @details Both take the positions that have a query, so the same rows. @throws IndexError for a token outside
/// [0, vocab).
template <AnyDecoder M>
TokenCosines token_cosines(const LayerView<M>& layer, std::span<const Id> group, Extent vocab) {
  const Extent queries = layer.queries(), rows = layer.sequences() * queries;
  for (const Id token : group) require<IndexError>(token >= 0 && token < vocab, "group", token, "0 <= token < vocab");
  std::vector<Id> tokens;
  Mat<double> before(rows, layer.before().cols());
  for (Extent b = 0; b < layer.sequences(); ++b)
    for (Extent i = 0; i < queries; ++i) {
      tokens.push_back(layer.tokens()(b, layer.length() - queries + i));
      before.row(b * queries + i) = layer.before().row(layer.row_of(b, i)).template cast<double>();
    }
  const auto first = measure::token_means(before, tokens, vocab),
             second = measure::token_means(layer.after(), tokens, vocab);
  const auto chosen = [&](const measure::TokenMeans& means) {
    Mat<double> picked(static_cast<Extent>(group.size()), means.rows.cols());
    for (std::size_t g = 0; g < group.size(); ++g) picked.row(static_cast<Extent>(g)) = means.rows.row(group[g]);
    return measure::cosine_matrix(picked, "stream");
  };
  TokenCosines out{chosen(first), chosen(second), {}};
  for (const Id token : group) out.counts.push_back(first.counts(token));
  return out;
}

}  // namespace incipit::inline INCIPIT_ABI::probe
