// SPDX-License-Identifier: MIT
/// @file
/// @brief The machine's peak of fused multiply-adds, measured so that the compiler can neither drop nor merge them, and
/// speeds as fractions of it.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <utility>

namespace incipit::bench {

/// Seconds of a clock that never steps back.
inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

#if defined(__AVX512F__)
inline constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t vector_bytes = 32;
#else
inline constexpr std::size_t vector_bytes = 16;
#endif

/// One window: `steps` rounds of independent vector FMAs, one to each of the accumulators C..., in GFLOP/s.
/// @details The empty asm makes every accumulator opaque in every round, so chains can be neither merged nor folded;
/// the pack expansion gives them constant indices, so they stay in registers; their sum is handed out.
template <class T, std::size_t... C>
[[gnu::noinline]] double fma_window(std::size_t steps, T& sum, std::index_sequence<C...>) {
  typedef T Vec __attribute__((vector_size(vector_bytes)));
  Vec factor = Vec{} + T(0.999), term = Vec{} + T(0.001), total = {};
  Vec acc[] = {(static_cast<void>(C), Vec{})...};
  asm volatile("" : "+v"(factor), "+v"(term));
  const double start = seconds();
  for (std::size_t s = 0; s < steps; ++s) {
    ((acc[C] = acc[C] * factor + term), ...);
    (
        [](Vec & opaque) __attribute__((always_inline)) { asm volatile(""
                                                                       : "+v"(opaque)); }(acc[C]), ...);
  }
  const double elapsed = seconds() - start;
  ((total += acc[C]), ...);
  T lanes[vector_bytes / sizeof(T)];
  std::memcpy(lanes, &total, sizeof total);
  sum = 0;
  for (const T lane : lanes) sum += lane;
  return 2.0 * static_cast<double>(steps * sizeof...(C) * (vector_bytes / sizeof(T))) / elapsed * 1e-9;
}

/// The best of many windows of about 0.1 ms: GFLOP/s of one core. Twelve accumulators hide the latency (4 cycles by two
/// units need eight) and, with the two factors, fit sixteen registers.
template <class T>
double fma_peak(int windows = 2000) {
  double best = 0;
  volatile T sink = 0;
  for (int w = 0; w < windows; ++w) {
    T sum;
    best = (std::max)(best, fma_window(60000, sum, std::make_index_sequence<12>{}));
    sink = sink + sum;
  }
  return best;
}

/// The peak in float of this run, measured once.
inline double machine_peak() {
  static const double peak = fma_peak<float>();
  return peak;
}

/// The fastest product seen in this run, in GFLOP/s: no true peak lies below it.
inline double& best_seen() {
  static double best = 0;
  return best;
}

/// Adds "GFLOP" (a second, mean) and "of_peak" to a benchmark that does `flops` an iteration; if the seconds of its
/// best iteration are known, also "best_of_peak", which a busy machine disturbs least.
inline void report_flops(benchmark::State& state, double flops, double best_seconds = 0) {
  using benchmark::Counter;
  state.counters["GFLOP"] = Counter(flops * 1e-9, Counter::kIsIterationInvariantRate);
  state.counters["of_peak"] = Counter(flops * 1e-9 / machine_peak(), Counter::kIsIterationInvariantRate);
  if (best_seconds > 0) {
    const double gflops = flops * 1e-9 / best_seconds;
    best_seen() = (std::max)(best_seen(), gflops);
    state.counters["best_of_peak"] = gflops / machine_peak();
  }
}

}  // namespace incipit::bench
