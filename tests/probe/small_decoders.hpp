// SPDX-License-Identifier: MIT
#pragma once

#include <incipit/check/layer.hpp>
#include <incipit/model/decoder.hpp>

namespace incipit::test {

/// Pre-norm with everything: two heads, biases, learned positions, final norm, the last output.
inline constexpr model::DecoderConfig pre_config{.eps = 0.1};
using Pre = model::Decoder<double, pre_config, nn::Tanh>;
/// Post-norm without biases, all outputs.
inline constexpr model::DecoderConfig post_config{.block = {.place = nn::NormPlace::post, .bias = false},
                                                  .positions = model::Positions::sinusoidal,
                                                  .final_norm = false,
                                                  .output = model::Output::every,
                                                  .eps = 0.1};
using Post = model::Decoder<double, post_config, nn::Tanh>;
/// Neither norms, positions nor biases, all outputs.
inline constexpr model::DecoderConfig bare_config{.block = {.place = nn::NormPlace::none, .bias = false},
                                                  .positions = model::Positions::none,
                                                  .final_norm = false,
                                                  .output = model::Output::every};
using Bare = model::Decoder<double, bare_config, nn::Tanh>;

inline constexpr model::DecoderSizes small_sizes{
    .vocab = 7, .width = 6, .layers = 2, .heads = 2, .key = 3, .hidden = 5, .length = 4};

template <class M>
typename M::Parameters random_parameters(const model::DecoderSizes& sizes = small_sizes) {
  typename M::Parameters params(sizes);
  check::fill_parameters(params, RandomStream(3, "decoder"), 0.5);
  return params;
}

inline Mat<Id> some_tokens(Extent rows = 5, Extent length = 4, std::uint64_t vocab = 7) {
  Mat<Id> ids(rows, length);
  const RandomStream stream(1, "tokens");
  for (Extent i = 0; i < ids.size(); ++i)
    ids.data()[i] = static_cast<Id>(stream.integer(static_cast<std::uint64_t>(i), vocab));
  return ids;
}

/// For BOOST_CHECK_EXCEPTION: the error names this argument.
inline auto named(std::string_view name) {
  return [name](const Error& e) { return e.argument() == name; };
}

}  // namespace incipit::test
