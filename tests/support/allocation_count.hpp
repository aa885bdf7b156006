// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace incipit::test {

/// Number of allocations made so far by this thread: operator new, and malloc and its kin (Eigen's own way to memory).
std::size_t allocations() noexcept;

/// Counts what this thread allocates from its construction on.
class AllocationCount {
 public:
  AllocationCount() noexcept : start_(allocations()) {}
  std::size_t count() const noexcept { return allocations() - start_; }

 private:
  std::size_t start_;
};

}  // namespace incipit::test
