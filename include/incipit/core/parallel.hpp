// SPDX-License-Identifier: MIT
/// @file
/// @brief A loop over independent items on several threads, with the same result for any number of them.
#pragma once

#include <incipit/core/matrix.hpp>

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace incipit::inline INCIPIT_ABI {

/// Number of threads that this machine runs at once, at least 1.
inline int hardware_threads() noexcept { return static_cast<int>((std::max)(1u, std::thread::hardware_concurrency())); }

/// @brief Calls f(0), ..., f(n-1), each once, in consecutive blocks of nearly equal length, one block a thread.
/// @details Items must not touch each other's results; then the outcome does not depend on `threads`. The calling
/// thread works on the first block. Returns when all are done. If calls throw, that thread's block ends there, the
/// other blocks run to their ends, and the exception of the lowest throwing block is rethrown here.
/// @throws InvalidArgument unless n >= 0 and threads >= 1.
/// @par Cost starting threads, some 20 us each; none is started for one thread or one item.
template <class F>
void parallel_for(Extent n, int threads, F&& f) {
  require(n >= 0, "n of parallel_for", n, "at least 0");
  require(threads >= 1, "threads of parallel_for", threads, "at least 1");
  const Extent blocks = (std::max)(Extent{1}, (std::min)(n, static_cast<Extent>(threads)));
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(blocks));
  const auto run = [&](Extent block) noexcept {
    const Extent length = n / blocks, longer = n % blocks;
    const Extent begin = block * length + (std::min)(block, longer);
    const Extent end = begin + length + (block < longer ? 1 : 0);
    try {
      for (Extent i = begin; i < end; ++i) f(i);
    } catch (...) {
      failures[static_cast<std::size_t>(block)] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> workers;
    workers.reserve(static_cast<std::size_t>(blocks - 1));
    for (Extent block = 1; block < blocks; ++block) workers.emplace_back([&run, block] { run(block); });
    run(0);
  }
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace incipit::inline INCIPIT_ABI
