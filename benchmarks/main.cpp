// SPDX-License-Identifier: MIT
// The benchmark program. It records what it ran on, and checks itself: that work which is asked for is really done,
// that the check of this would notice if it were not, and that no product is faster than the peak it is compared with.
#include "peak.hpp"

#include <incipit/core/config.hpp>

#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#define INCIPIT_BENCH_TEXT2(x) #x
#define INCIPIT_BENCH_TEXT(x) INCIPIT_BENCH_TEXT2(x)

namespace {

std::string first_line_with(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.find(key) == 0) return line.substr(key.empty() ? 0 : (std::min)(line.find(": ") + 2, line.size()));
  return "unknown";
}

/// Best time of a pass of arithmetic over n numbers, whose result is used or not.
template <bool consumed>
double pass_seconds(std::size_t n) {
  const std::vector<float> x(n, 1.5f);
  double best = 1e9;
  for (int trial = 0; trial < 20; ++trial) {
    float sum[16] = {};
    const double start = incipit::bench::seconds();
    for (std::size_t i = 0; i + 16 <= n; i += 16)
      for (std::size_t l = 0; l < 16; ++l) sum[l] += 1.0f / x[i + l];
    if constexpr (consumed) {
      benchmark::DoNotOptimize(sum);
      benchmark::ClobberMemory();
    }
    best = (std::min)(best, incipit::bench::seconds() - start);
  }
  return best;
}

/// Sixteen times the work must take about sixteen times as long.
template <bool consumed>
bool scales() {
  const double ratio = pass_seconds<consumed>(std::size_t{1} << 20) / pass_seconds<consumed>(std::size_t{1} << 16);
  return ratio > 8 && ratio < 40;
}

bool complain(const char* what) {
  std::cerr << "self-check failed: " << what << '\n';
  return false;
}

bool self_check() {
  bool good = true;
  if (!scales<true>()) good = complain("16 times the work does not take 8 to 40 times as long");
#ifdef __OPTIMIZE__
  if (scales<false>()) good = complain("a result that nobody uses is computed all the same");
#endif
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::AddCustomContext("cpu", first_line_with("/proc/cpuinfo", "model name"));
  benchmark::AddCustomContext("governor", first_line_with("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", ""));
#ifdef __clang__
  benchmark::AddCustomContext("compiler", __VERSION__);
#else
  benchmark::AddCustomContext("compiler", "g++ " __VERSION__);
#endif
#ifdef INCIPIT_BENCH_FLAGS
  benchmark::AddCustomContext("flags", INCIPIT_BENCH_FLAGS);
#endif
  benchmark::AddCustomContext("kernels", INCIPIT_BENCH_TEXT(INCIPIT_ABI));
  benchmark::AddCustomContext("threads", "1");
  benchmark::AddCustomContext("caches", "warm");
  benchmark::AddCustomContext("fma_peak_float", std::to_string(incipit::bench::machine_peak()) + " GFLOP/s");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  bool good = self_check();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (incipit::bench::best_seen() > 1.01 * incipit::bench::machine_peak())
    good = complain("a product was faster than the peak: the peak is wrong");
  return good ? 0 : 1;
}
