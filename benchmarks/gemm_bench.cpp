// SPDX-License-Identifier: MIT
// Products in float on one thread, warm caches: gemm_nn/M/K/N is A B, gemm_tn is A^T B added to C (a weight gradient),
// gemm_nt is A B^T, gemm_packed is A B with B packed before, eigen_* is the same by Eigen. All give C of (M, N).
// "checksum" is the sum of C; it is compared with (1^T A)(B 1), so a product that was not done cannot pass.
#include "peak.hpp"

#include <incipit/core/gemm.hpp>

#include <cmath>
#include <random>

namespace {
using namespace incipit;

enum class Kind { nn, tn, nt, packed };

Mat<float> numbers(Extent rows, Extent cols, unsigned seed) {
  std::minstd_rand engine(seed);
  Mat<float> m(rows, cols);
  for (Extent i = 0; i < m.size(); ++i) m.data()[i] = static_cast<float>(engine() % 2001u) * 1e-3f - 1.0f;
  return m;
}

template <Kind kind, bool eigen>
void gemm(benchmark::State& state) {
  const Extent m = state.range(0), k = state.range(1), n = state.range(2);
  const Mat<float> a = numbers(m, k, 1), b = numbers(k, n, 2), at = a.transpose(), bt = b.transpose();
  Mat<float> c(m, n);
  GemmWorkspace<float> ws;
  PackedB<float> packed(b);
  const auto once = [&] {
    if constexpr (eigen) {
      if constexpr (kind == Kind::nn) c.noalias() = a * b;
      if constexpr (kind == Kind::tn) c.noalias() += at.transpose() * b;
      if constexpr (kind == Kind::nt) c.noalias() = a * bt.transpose();
    } else {
      if constexpr (kind == Kind::nn) product(a, b, c, Accumulate::no, ws);
      if constexpr (kind == Kind::tn) product_tn(at, b, c, Accumulate::yes, ws);
      if constexpr (kind == Kind::nt) product_nt(a, bt, c, Accumulate::no, ws);
      if constexpr (kind == Kind::packed) product(a, packed, c, Accumulate::no, ws);
    }
  };
  c.setZero();
  once();
  const double sum = c.cast<double>().sum();
  const double want = a.cast<double>().colwise().sum().dot(b.cast<double>().rowwise().sum());
  const double scale = a.cast<double>().cwiseAbs().colwise().sum().dot(b.cast<double>().cwiseAbs().rowwise().sum());
  if (!(std::abs(sum - want) <= 1e-6 * scale)) return state.SkipWithError("checksum is wrong");

  double best = 1e9;
  for (auto _ : state) {
    const double start = bench::seconds();
    once();
    benchmark::DoNotOptimize(c.data());
    benchmark::ClobberMemory();
    best = (std::min)(best, bench::seconds() - start);
  }
  state.counters["checksum"] = sum;
  bench::report_flops(state, 2.0 * static_cast<double>(m * k * n), best);
}

/// The products of an Emb-MLP with D = 161 tokens, hidden sizes m and f, and rows R: forward, then backward.
void sizes(benchmark::internal::Benchmark* b, Kind kind) {
  constexpr Extent D = 161;
  for (const auto& [m, f] : {std::pair<Extent, Extent>{64, 128}, {200, 400}, {400, 400}}) {
    if (kind == Kind::nn) b->Args({D, m, f});
    if (kind == Kind::nt) b->Args({D, f, m});
    if (kind == Kind::tn) b->Args({m, D, f});
    for (const Extent R : {64, 256, 2048}) {
      if (m == 400) continue;
      if (kind == Kind::nn || kind == Kind::packed) b->Args({R, f, D});
      if (kind == Kind::nt) b->Args({R, D, f});
      if (kind == Kind::tn) b->Args({f, R, D});
    }
  }
  b->Args({512, 512, 512});
}

BENCHMARK(gemm<Kind::nn, false>)->Name("gemm_nn")->Apply([](auto* b) { sizes(b, Kind::nn); });
BENCHMARK(gemm<Kind::packed, false>)->Name("gemm_packed")->Apply([](auto* b) { sizes(b, Kind::packed); });
BENCHMARK(gemm<Kind::tn, false>)->Name("gemm_tn")->Apply([](auto* b) { sizes(b, Kind::tn); });
BENCHMARK(gemm<Kind::nt, false>)->Name("gemm_nt")->Apply([](auto* b) { sizes(b, Kind::nt); });
BENCHMARK(gemm<Kind::nn, true>)->Name("eigen_nn")->Apply([](auto* b) { sizes(b, Kind::nn); });
BENCHMARK(gemm<Kind::tn, true>)->Name("eigen_tn")->Apply([](auto* b) { sizes(b, Kind::tn); });
BENCHMARK(gemm<Kind::nt, true>)->Name("eigen_nt")->Apply([](auto* b) { sizes(b, Kind::nt); });

}  // namespace
