// SPDX-License-Identifier: MIT
// One AdamW step of the Emb-MLP in float on one thread: forward, cross entropy, backward, update of all three matrices.
// V = 161, L = 3, tanh. `of_peak` is the needed FLOPs (6 B f V + 6 min(B, V) m f) a second over the machine's FMA peak.
#include "peak.hpp"

#include <incipit/core/random.hpp>
#include <incipit/init/initialize.hpp>
#include <incipit/model/emb_mlp.hpp>
#include <incipit/optim/adam.hpp>

#include <benchmark/benchmark.h>

namespace {
using namespace incipit;

void emb_mlp_step(benchmark::State& state) {
  using Model = model::EmbMlp<float>;
  const Extent batch = state.range(0), m = state.range(1), f = state.range(2), vocab = 161, length = 3;
  Model::Parameters parameters(vocab, m, f), gradient(vocab, m, f);
  init::initialize(parameters, init::Gamma{0.5}, 1);
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
  const double flops = 6.0 * static_cast<double>(batch * f * vocab) + 6.0 * static_cast<double>((std::min)(batch, vocab) * m * f);
  state.counters["loss"] = static_cast<double>(last);
  bench::report_flops(state, flops);
}
BENCHMARK(emb_mlp_step)
    ->Args({256, 64, 128})
    ->Args({2048, 64, 128})
    ->Args({2048, 200, 400})
    ->Unit(benchmark::kMillisecond);

}  // namespace
