// SPDX-License-Identifier: MIT
// One AdamW step of a two-layer decoder in float on one thread, as people train it on anchor sequences: pre-norm LayerNorm,
// learned positions, biases, gelu (tanh), final norm, untied head without bias, one head, V = 161, L = 9, loss on the
// last token. `of_peak` is the needed FLOPs a second over the machine's FMA peak: 6 FLOPs a weight and row, all rows in
// the first layer and for keys and values of the second, last rows elsewhere, and the attention products.
#include "peak.hpp"

#include <incipit/core/random.hpp>
#include <incipit/model/decoder.hpp>
#include <incipit/optim/adam.hpp>

#include <benchmark/benchmark.h>

namespace {
using namespace incipit;

void anchor_transformer_step(benchmark::State& state) {
  using Model = model::Decoder<float>;
  const Extent batch = state.range(0), width = state.range(1), key = state.range(2), hidden = state.range(3);
  const Extent vocab = 161, length = 9;
  const model::DecoderSizes sizes{.vocab = vocab, .width = width, .layers = 2, .heads = 1, .key = key, .hidden = hidden, .length = length};
  Model::Parameters parameters(sizes), gradient(sizes);
  Model::initialize(parameters, init::Gamma{0.5}, 1);
  const RandomStream stream(2, "batch");
  Mat<Id> tokens(batch, length);
  std::vector<Id> labels(static_cast<std::size_t>(batch));
  for (Extent i = 0; i < tokens.size(); ++i) tokens.data()[i] = static_cast<Id>(stream.integer(static_cast<std::uint64_t>(i), 161));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<Id>(stream.child("labels").integer(i, 161));
  optim::Adam<float> adam(parameters.flat().size(), {.step = 1e-3, .weight_decay = 0.01});
  Model::Workspace workspace;
  float last = 0;
  for (auto _ : state) {
    gradient.set_zero();
    last = Model{}.loss_and_gradient(parameters, tokens, loss::LabelRows<float>(labels), workspace, gradient);
    adam(parameters.flat(), gradient.flat());
    benchmark::DoNotOptimize(last);
    benchmark::DoNotOptimize(parameters.flat().data());
    benchmark::ClobberMemory();
  }
  const double rows = static_cast<double>(batch * length), last_rows = static_cast<double>(batch);
  const double projection = static_cast<double>(width * key), mlp = 2 * static_cast<double>(width * hidden);
  const double pairs = last_rows * static_cast<double>(length * (length + 1) / 2 + length);
  state.counters["loss"] = static_cast<double>(last);
  bench::report_flops(state, 6 * (rows * (4 * projection + mlp) + rows * 2 * projection + last_rows * (2 * projection + mlp) +
                                  last_rows * static_cast<double>(width * vocab)) +
                                 12 * pairs * static_cast<double>(key));
}
BENCHMARK(anchor_transformer_step)
    ->Args({64, 64, 64, 256})
    ->Args({512, 64, 64, 256})
    ->Args({512, 128, 64, 512})
    ->Unit(benchmark::kMillisecond);

}  // namespace
