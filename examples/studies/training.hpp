// SPDX-License-Identifier: MIT
// A decoder that learns sequences with one label each, as all studies have it.
#pragma once

#include <incipit/init/initialize.hpp>
#include <incipit/model/decoder.hpp>
#include <incipit/optim/adam.hpp>
#include <incipit/train/trainer.hpp>

namespace studies {

using namespace incipit;

/// The transformer of paper A, of any depth and number of heads.
constexpr model::DecoderConfig any_depth() {
  auto config = model::paper_transformer;
  config.sizes = {};
  return config;
}
using Transformer = model::Decoder<float, any_depth(), nn::Relu>;

/// AdamW with weight decay 0.01 on minibatches of 100, from weights with standard deviation d_in^-gamma.
template <class Model>
class Training {
 public:
  /// On `set`, which must outlive this.
  Training(const data::Examples& set, const model::DecoderSizes& sizes, double rate, double gamma, std::uint64_t seed)
      : trainer_(at_start(sizes, rate, gamma, seed)), batches_(set, 100, RandomStream(seed, "batches")) {}
  void step(long long k) { trainer_.step(batches_(k)); }
  train::Score score(const data::Examples& set) { return train::evaluate<Model>(trainer_.parameters, set, trainer_.workspace); }
  const typename Model::Parameters& parameters() const { return trainer_.parameters; }

 private:
  using Trainer = train::Trainer<Model, optim::Adam<float>>;
  static Trainer at_start(const model::DecoderSizes& sizes, double rate, double gamma, std::uint64_t seed) {
    typename Model::Parameters start(sizes);
    Model::initialize(start, init::Gamma{gamma}, seed);
    return {start, optim::Adam<float>(start.flat().size(), {.step = rate, .weight_decay = 0.01})};
  }
  Trainer trainer_;
  train::Minibatches batches_;
};

extern template class Training<Transformer>;  // in anchor_runs.cpp

}  // namespace studies
