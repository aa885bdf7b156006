// SPDX-License-Identifier: MIT
// The AdamW step of the Emb-MLP in libtorch, for comparison with incipit_bench's emb_mlp_step/B/m/f: same sizes (V = 161,
// L = 3, tanh, float, one thread), same work: forward, cross entropy, backward, AdamW on all three matrices.
#include <benchmark/benchmark.h>
#include <torch/torch.h>

namespace {

void emb_mlp_step(benchmark::State& state) {
  torch::set_num_threads(1);
  torch::manual_seed(1);
  const int64_t batch = state.range(0), m = state.range(1), f = state.range(2), vocab = 161, length = 3;
  auto embedding = torch::randn({vocab, m}) * 0.1;
  auto hidden = torch::randn({m, f}) * 0.1;
  auto output = torch::randn({f, vocab}) * 0.1;
  for (auto* w : {&embedding, &hidden, &output}) w->set_requires_grad(true);
  const auto tokens = torch::randint(vocab, {batch, length});
  const auto labels = torch::randint(vocab, {batch});
  torch::optim::AdamW optimizer({embedding, hidden, output}, torch::optim::AdamWOptions(1e-3).weight_decay(0.01));
  double last = 0;
  for (auto _ : state) {
    optimizer.zero_grad();
    const auto x = torch::embedding(embedding, tokens).sum(1);
    const auto logits = torch::tanh(x.matmul(hidden)).matmul(output);
    auto loss = torch::nn::functional::cross_entropy(logits, labels);
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
    benchmark::DoNotOptimize(last);
  }
  state.counters["loss"] = last;
}
BENCHMARK(emb_mlp_step)->Args({256, 64, 128})->Args({2048, 64, 128})->Args({2048, 200, 400})->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
