// SPDX-License-Identifier: MIT
/// @file
/// @brief Subnormal numbers: a scoped guard that flushes them to zero, and a counter.
#pragma once

#include <incipit/core/finite.hpp>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace incipit::inline INCIPIT_ABI {

/// @brief While it lives, this thread reads subnormal operands as zero and writes zero for subnormal results.
/// @details Small initial weights that decay for long reach subnormal numbers, which many machines handle 10 to 50
/// times slower. Flushing changes results, so nothing in the library does it unasked. The previous mode comes back at
/// the end of the scope, also after an exception; other threads are not touched; exception flags raised meanwhile are
/// kept. Sets FTZ and DAZ on x86, FZ on 64-bit ARM; elsewhere `supported` is false and the guard does nothing.
class FlushDenormals {
 public:
#if defined(__SSE__)
  static constexpr bool supported = true;  ///< whether this machine can flush

  /// Switches flushing on for this thread.
  FlushDenormals() noexcept : saved_(_mm_getcsr() & mode) { _mm_setcsr(_mm_getcsr() | mode); }
  /// Puts the previous mode back.
  ~FlushDenormals() { _mm_setcsr((_mm_getcsr() & ~mode) | saved_); }
  /// True if this thread flushes now.
  static bool active() noexcept { return (_mm_getcsr() & mode) == mode; }

 private:
  static constexpr unsigned mode = 0x8040;
  unsigned saved_;
#elif defined(__aarch64__)
  static constexpr bool supported = true;  ///< whether this machine can flush

  /// Switches flushing on for this thread.
  FlushDenormals() noexcept : saved_(get() & mode) { set(get() | mode); }
  /// Puts the previous mode back.
  ~FlushDenormals() { set((get() & ~mode) | saved_); }
  /// True if this thread flushes now.
  static bool active() noexcept { return (get() & mode) == mode; }

 private:
  static constexpr std::uint64_t mode = std::uint64_t{1} << 24;
  static std::uint64_t get() noexcept {
    std::uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
  }
  static void set(std::uint64_t fpcr) noexcept { __asm__ volatile("msr fpcr, %0" : : "r"(fpcr)); }
  std::uint64_t saved_;
#else
  static constexpr bool supported = false;  ///< whether this machine can flush

  /// Switches flushing on for this thread.
  FlushDenormals() noexcept {}
  /// Puts the previous mode back.
  ~FlushDenormals() {}
  /// True if this thread flushes now.
  static bool active() noexcept { return false; }
#endif

 public:
  FlushDenormals(const FlushDenormals&) = delete;             ///< bound to its scope
  FlushDenormals& operator=(const FlushDenormals&) = delete;  ///< bound to its scope
};

/// True if x is subnormal: not zero, but below the smallest normal number. Decided by bits, also while flushing.
inline bool is_denormal(float x) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return (bits & 0x7f800000u) == 0 && (bits & 0x007fffffu) != 0;
}
/// True if x is subnormal: not zero, but below the smallest normal number. Decided by bits, also while flushing.
inline bool is_denormal(double x) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return (bits & 0x7ff0000000000000) == 0 && (bits & 0x000fffffffffffff) != 0;
}

/// Number of subnormal entries of a float or double matrix; right also while flushing.
template <class D>
Extent count_denormals(const Eigen::DenseBase<D>& x) {
  const auto& values = x.derived();
  Extent count = 0;
  for (Extent i = 0; i < values.rows(); ++i)
    for (Extent j = 0; j < values.cols(); ++j) count += is_denormal(values.coeff(i, j)) ? 1 : 0;
  return count;
}

}  // namespace incipit::inline INCIPIT_ABI
