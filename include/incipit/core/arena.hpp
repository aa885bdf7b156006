// SPDX-License-Identifier: MIT
/// @file
/// @brief One aligned buffer for all parameters of a model, with the parameters as Maps into it.
#pragma once

#include <incipit/core/matrix.hpp>

#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace incipit::inline INCIPIT_ABI {

/// Alignment in bytes of arenas, workspaces and the slots inside them: one cache line, one AVX-512 register.
inline constexpr std::size_t cache_line = 64;

/// @brief Allocator of cache-line aligned memory, independent of compiler flags.
template <class T>
struct AlignedAllocator {
  using value_type = T;                                       ///< element type
  AlignedAllocator() = default;                               ///< stateless
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) noexcept {}    ///< stateless; NOLINT(google-explicit-constructor)
  /// Room for n elements; throws std::bad_alloc.
  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{cache_line}));
  }
  /// Gives memory back.
  void deallocate(T* p, std::size_t) noexcept { ::operator delete(p, std::align_val_t{cache_line}); }
  friend bool operator==(AlignedAllocator, AlignedAllocator) { return true; }  ///< all alike
};

/// A cache-line aligned array.
template <class T>
using AlignedBuffer = std::vector<T, AlignedAllocator<T>>;

/// @brief Number of elements that a slot of `size` elements takes in an arena: the next multiple of a cache line.
template <class T>
constexpr Extent padded(Extent size) {
  constexpr auto line = static_cast<Extent>(cache_line / sizeof(T) ? cache_line / sizeof(T) : 1);
  return (size + line - 1) / line * line;
}

/// @brief A bundle of named Slots: `for_each_parameter(visitor)` calls `visitor(name, slot)` in a fixed order.
template <class P>
concept ParameterBundle = requires(P p, const P cp) {
  typename P::Scalar;
  p.for_each_parameter([](std::string_view, auto&) {});
  cp.for_each_parameter([](std::string_view, const auto&) {});
};

/// @brief Visits a member bundle of a larger one: visitor("prefix.name", slot) for every parameter of `part`.
template <class P, class F>
void visit_part(std::string_view prefix, P& part, F&& visitor) {
  part.for_each_parameter(
      [&](std::string_view name, auto& slot) { visitor(std::string(prefix) + "." + std::string(name), slot); });
}

/// @brief A parameter bundle `P` together with its memory.
/// @details All slots lie in one zero-initialised, cache-line aligned buffer, each at a line's start; padding stays zero,
/// so optimizers, norms and copies work on `flat()` in one pass. Copies are deep and keep shapes.
/// The gradient of a bundle is a second one of the same type and shape.
template <class P>
class Owned : public P {
 public:
  using typename P::Scalar;

  /// Builds the bundle from its sizes and seats every slot.
  template <class... Sizes>
    requires(std::constructible_from<P, Sizes...> && (... && !std::derived_from<std::remove_cvref_t<Sizes>, P>))
  explicit Owned(Sizes&&... sizes) : P(std::forward<Sizes>(sizes)...) {
    Extent total = 0;
    P::for_each_parameter([&](std::string_view, auto& slot) { total += padded<Scalar>(slot.size()); });
    memory_.assign(static_cast<std::size_t>(total), Scalar(0));
    seat();
  }
  /// A deep copy.
  Owned(const Owned& other) : P(other), memory_(other.memory_) { seat(); }
  /// Takes over the memory.
  Owned(Owned&& other) noexcept  // Maps are copied; NOLINTNEXTLINE(performance-move-constructor-init)
      : P(other), memory_(std::move(other.memory_)) {
    seat();
  }
  /// Copies values; shapes must agree tensor by tensor (ShapeError).
  Owned& operator=(const Owned& other) {
    require_same_shapes(other);
    flat() = other.flat();
    return *this;
  }
  /// Swaps memory with the other; shapes must agree tensor by tensor (ShapeError).
  Owned& operator=(Owned&& other) {  // NOLINT(performance-noexcept-move-constructor): shapes may differ
    require_same_shapes(other);
    memory_.swap(other.memory_);
    seat();
    other.seat();
    return *this;
  }
  ~Owned() = default;

  /// All parameters (and zero padding) as one row: (1, size of the arena).
  Slot<Scalar, 1, dyn> flat() { return {memory_.data(), 1, static_cast<Extent>(memory_.size())}; }
  /// All parameters (and zero padding) as one row, read only.
  Eigen::Map<const Row<Scalar>> flat() const { return {memory_.data(), 1, static_cast<Extent>(memory_.size())}; }
  /// Number of parameters, without padding.
  Extent count() const {
    Extent n = 0;
    P::for_each_parameter([&](std::string_view, const auto& slot) { n += slot.size(); });
    return n;
  }
  /// Sets every parameter to zero.
  void set_zero() { flat().setZero(); }

 private:
  void require_same_shapes(const Owned& other) const {
    std::vector<std::pair<Extent, Extent>> shapes;
    other.for_each_parameter([&](std::string_view, const auto& slot) { shapes.emplace_back(slot.rows(), slot.cols()); });
    std::size_t i = 0;
    P::for_each_parameter([&](std::string_view name, const auto& slot) {
      require_size(std::string(name) + ".rows", shapes[i].first, slot.rows());
      require_size(std::string(name) + ".cols", shapes[i++].second, slot.cols());
    });
  }
  void seat() {
    if (memory_.empty()) return;
    Scalar* at = memory_.data();
    P::for_each_parameter([&](std::string_view, auto& slot) {
      using S = std::remove_reference_t<decltype(slot)>;
      const Extent rows = slot.rows(), cols = slot.cols();
      new (&slot) S(at, rows, cols);
      at += padded<Scalar>(rows * cols);
    });
  }
  AlignedBuffer<Scalar> memory_;
};

}  // namespace incipit::inline INCIPIT_ABI
