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

/// One window: `steps` rounds of twelve independent vector FMAs, in GFLOP/s.
/// @details Twelve accumulators hide the latency (4 cycles by 2 units need eight) and fit sixteen registers with the two
/// factors. The empty asm makes each of them opaque in every round, so chains can be neither merged nor folded.
template <class T>
double fma_window(std::size_t steps, T& sum) {
  typedef T Vec __attribute__((vector_size(vector_bytes)));
  constexpr std::size_t chains = 12;
  Vec factor = Vec{} + T(0.999), term = Vec{} + T(0.001);
  Vec acc[chains] = {};
  asm volatile("" : "+x"(factor), "+x"(term));
  const double start = seconds();
  for (std::size_t s = 0; s < steps; ++s) {
#pragma GCC unroll 12
    for (std::size_t c = 0; c < chains; ++c) {
      acc[c] = acc[c] * factor + term;
      asm volatile("" : "+v"(acc[c]));
    }
  }
  const double elapsed = seconds() - start;
  Vec total = {};
#pragma GCC unroll 12
  for (std::size_t c = 0; c < chains; ++c) total += acc[c];
  T lanes[vector_bytes / sizeof(T)];
  std::memcpy(lanes, &total, sizeof total);
  sum = 0;
  for (const T lane : lanes) sum += lane;
  return 2.0 * static_cast<double>(steps * chains * (vector_bytes / sizeof(T))) / elapsed * 1e-9;
}

/// The best of many windows of about 0.1 ms: GFLOP/s of one core.
template <class T>
double fma_peak(int windows = 2000) {
  double best = 0;
  volatile T sink = 0;
  for (int w = 0; w < windows; ++w) {
    T sum;
    best = (std::max)(best, fma_window<T>(60000, sum));
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

/// Adds "GFLOP" (a second, mean) and "of_peak" to a benchmark that does `flops` an iteration; if the seconds of its best
/// iteration are known, also "best_of_peak", which a busy machine disturbs least.
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
