// SPDX-License-Identifier: MIT
/// @file
/// @brief The value path W_V W_O of a layer: what it captures of a row, and where that arrives.
#pragma once

#include <incipit/measure/alignment.hpp>
#include <incipit/probe/layer_view.hpp>

#include <optional>

namespace incipit::inline INCIPIT_ABI::probe {

/// @brief The matrices that carry values from one position to others, without biases.
struct ValuePath {
  Mat<double> value;    ///< (C, W) W_V, W = H d_v or that of one head
  Mat<double> output;   ///< (W, C) W_O; columns of the identity where the model has no projection
  Mat<double> product;  ///< (C, C) W_VO = W_V W_O: what average attention applies to the mean of the prefix
};

/// @brief The value path of a layer, of all heads together or of one.
/// @throws IndexError for a layer or head that is not there. @par Cost 2 C^2 W FLOPs.
template <AnyDecoder M>
ValuePath value_path(const typename M::Params& params, Extent layer, std::optional<Extent> head = std::nullopt) {
  require<IndexError>(layer >= 0 && layer < params.sizes.layers, "layer", layer, "0 <= layer < number of layers");
  require<IndexError>(!head || (*head >= 0 && *head < params.sizes.heads), "head", head.value_or(0),
                      "0 <= head < number of heads");
  const auto& attention = params.blocks[static_cast<std::size_t>(layer)].attention;
  const Extent all = attention.value.weight.cols(), one = all / params.sizes.heads;
  const Extent first = head ? *head * one : 0, width = head ? one : all;
  ValuePath out;
  out.value = attention.value.weight.middleCols(first, width).template cast<double>();
  if constexpr (M::config.block.projection)
    out.output = attention.output.weight.middleRows(first, width).template cast<double>();
  else
    out.output = Mat<double>::Identity(all, all).middleRows(first, width);
  out.product.noalias() = out.value * out.output;
  return out;
}

/// @brief What the first attention reads for every token of the vocabulary when it stands at `position`: (D, C).
/// @details The embedding, plus the position if one is given and the model has positions, normalised if the model is
/// pre-norm: the rows whose alignment with an input direction of W_V says which tokens it captures.
/// @throws IndexError for a position outside [0, longest sequence).
template <AnyDecoder M>
Mat<double> first_inputs(const typename M::Params& params, std::optional<Extent> position = std::nullopt) {
  using T = typename M::Scalar;
  require<IndexError>(!position || (*position >= 0 && *position < params.sizes.length), "position",
                      position.value_or(0), "0 <= position < longest sequence");
  Mat<T> x = params.embedding.weight;
  if (position) {
    if constexpr (M::config.positions == model::Positions::learned)
      x.rowwise() += params.positions.weight.row(*position);
    if constexpr (M::config.positions == model::Positions::sinusoidal) {
      const Mat<double> table = nn::sinusoidal_positions(params.sizes.length, params.sizes.width);
      x.rowwise() += table.row(*position).template cast<T>();
    }
  }
  if constexpr (M::config.block.place == nn::NormPlace::pre) {
    typename M::Norm::Cache cache;
    x = typename M::Norm{M::config.eps}.forward(params.blocks.front().norm_1, x, cache);
  }
  return x.template cast<double>();
}

/// @brief What arrives at one distance from the source.
struct Arrival {
  Extent offset = 0;       ///< position of the row minus position of the source; negative before it
  Extent count = 0;        ///< rows at that distance
  double from_source = 0;  ///< mean |A_ij <x_j, v_1>| S: what the source j sends by its part along v_1
  double branch = 0;       ///< mean |<mixed_i W_O, u>|: all that the head puts along it, value bias included
  double stream = 0;       ///< mean |cos(h_i, u)|, h the stream after attention; a zero row counts as 0
};

/// @brief How far the direction that a head captures at one position spreads to others.
struct Propagation {
  Row<double> input;              ///< (C) v_1, top left singular vector of W_V: the direction captured
  Row<double> output;             ///< (C) u = v_1 W_V W_O / S: the direction in which it leaves
  double gain = 0;                ///< S = |v_1 W_V W_O|
  double captured = 0;            ///< mean |<x_j, v_1>| of the sources, x the rows that attention reads
  std::vector<Arrival> arrivals;  ///< by offset, ascending
};

/// @brief Follows the leading direction of W_V of one head from a source position in every sequence to all queries.
/// @param layer   a layer after forward.
/// @param path    value_path of that layer and head.
/// @param sources (B) position of the source in each sequence, from 0, e.g. of its first reasoning anchor.
/// @param head    whose attention weights and values.
/// @details Signs do not matter: every mean is of absolute values. Under average attention the source's share at query
/// i is S |<x_j, v_1>| / (i + 1) for i >= j and nothing before it.
/// @throws ShapeError if `path` or `sources` do not fit; IndexError for a source or head outside its range;
/// InvalidArgument if W_O maps the direction to zero.
template <AnyDecoder M>
Propagation propagation(const LayerView<M>& layer, const ValuePath& path, std::span<const Extent> sources,
                        Extent head = 0) {
  const Extent queries = layer.queries(), length = layer.length(), heads = layer.layout().heads;
  const Extent width = layer.mixed().cols() / heads;
  require<IndexError>(head >= 0 && head < heads, "head", head, "0 <= head < number of heads");
  require_size("rows of path.value", path.value.rows(), layer.read().cols());
  require_size("columns of path.value", path.value.cols(), width);
  require_size("sources", sources.size(), layer.sequences());
  Propagation out;
  out.input = measure::leading_mode(path.value, "W_V").input;
  out.output = out.input * path.product;
  out.gain = out.output.norm();
  require(out.gain > 0, "path", out.gain, "a path that does not map its leading direction to zero");
  out.output /= out.gain;
  const Col<double> through = path.output * out.output.transpose();
  for (Extent offset = 1 - length; offset < length; ++offset) out.arrivals.push_back({.offset = offset});

  for (Extent b = 0; b < layer.sequences(); ++b) {
    const Extent source = sources[static_cast<std::size_t>(b)];
    require<IndexError>(source >= 0 && source < length, "sources", source, "a position of the sequence");
    const double captured = std::abs(layer.read().row(b * length + source).template cast<double>().dot(out.input));
    out.captured += captured / static_cast<double>(layer.sequences());
    for (Extent i = 0; i < queries; ++i) {
      Arrival& at = out.arrivals[static_cast<std::size_t>(length - queries + i - source + length - 1)];
      const Row<double> mixed = layer.mixed().row(b * queries + i).segment(head * width, width).template cast<double>();
      const Row<double> stream = layer.after().row(b * queries + i).template cast<double>();
      ++at.count;
      at.from_source +=
          static_cast<double>(layer.weights()((b * heads + head) * queries + i, source)) * captured * out.gain;
      at.branch += std::abs(mixed.dot(through));
      at.stream += std::abs(measure::cosine(stream, out.output).value);
    }
  }
  std::erase_if(out.arrivals, [](const Arrival& at) { return at.count == 0; });
  for (Arrival& at : out.arrivals) {
    const double share = 1 / static_cast<double>(at.count);
    at.from_source *= share;
    at.branch *= share;
    at.stream *= share;
  }
  return out;
}

}  // namespace incipit::inline INCIPIT_ABI::probe
