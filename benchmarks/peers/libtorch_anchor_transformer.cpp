// SPDX-License-Identifier: MIT
// The AdamW step of the two-layer decoder in libtorch, for comparison with incipit_bench's anchor_transformer_step/B/d/dk/f:
// pre-norm LayerNorm, learned positions, biases, gelu (tanh), final norm, untied head without bias, one head, V = 161,
// L = 9, float, one thread; logits and blocks for all positions, loss on the last token.
#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <cmath>

namespace {
namespace nn = torch::nn;

struct BlockImpl : nn::Module {
  nn::LayerNorm n1, n2;
  nn::Linear q, k, v, o, in, out;
  double scale;
  BlockImpl(int64_t d, int64_t dk, int64_t f)
      : n1(nn::LayerNormOptions({d})), n2(nn::LayerNormOptions({d})), q(d, dk), k(d, dk), v(d, dk), o(dk, d), in(d, f), out(f, d),
        scale(1 / std::sqrt(static_cast<double>(dk))) {
    register_module("n1", n1), register_module("n2", n2), register_module("q", q), register_module("k", k);
    register_module("v", v), register_module("o", o), register_module("in", in), register_module("out", out);
  }
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& mask) {
    const auto h = n1(x);
    const auto scores = (torch::matmul(q(h), k(h).transpose(1, 2)) * scale) + mask;
    x = x + o(torch::matmul(torch::softmax(scores, -1), v(h)));
    return x + out(torch::gelu(in(n2(x)), "tanh"));
  }
};
TORCH_MODULE(Block);

struct ModelImpl : nn::Module {
  nn::Embedding tokens, positions;
  Block first, second;
  nn::LayerNorm norm;
  nn::Linear head;
  torch::Tensor mask, at;
  ModelImpl(int64_t d, int64_t dk, int64_t f)
      : tokens(161, d), positions(9, d), first(d, dk, f), second(d, dk, f), norm(nn::LayerNormOptions({d})),
        head(nn::LinearOptions(d, 161).bias(false)),
        mask(torch::full({9, 9}, -INFINITY).triu(1)), at(torch::arange(9)) {
    register_module("tokens", tokens), register_module("positions", positions), register_module("first", first);
    register_module("second", second), register_module("norm", norm), register_module("head", head);
  }
  torch::Tensor forward(const torch::Tensor& ids) {
    return head(norm(second(first(tokens(ids) + positions(at), mask), mask)));
  }
};
TORCH_MODULE(Model);

void anchor_transformer_step(benchmark::State& state) {
  torch::set_num_threads(1);
  torch::manual_seed(1);
  Model model(state.range(1), state.range(2), state.range(3));
  const auto ids = torch::randint(161, {state.range(0), 9});
  const auto labels = torch::randint(161, {state.range(0)});
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(1e-3).weight_decay(0.01));
  double last = 0;
  for (auto _ : state) {
    optimizer.zero_grad();
    auto loss = nn::functional::cross_entropy(model(ids).select(1, 8), labels);
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
    benchmark::DoNotOptimize(last);
  }
  state.counters["loss"] = last;
}
BENCHMARK(anchor_transformer_step)
    ->Args({64, 64, 64, 256})
    ->Args({512, 64, 64, 256})
    ->Args({512, 128, 64, 512})
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
