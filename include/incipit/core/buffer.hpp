// SPDX-License-Identifier: MIT
/// @file
/// @brief A matrix that keeps its memory when it becomes smaller: what caches and workspaces are made of.
#pragma once

#include <incipit/core/arena.hpp>

#include <utility>

namespace incipit::inline INCIPIT_ABI {

/// @brief A row-major matrix over memory that only ever grows, so that batches of changing size allocate nothing after
/// the largest.
/// @details It is a Map over its own cache-line aligned memory. `resize` leaves the contents unspecified.
template <class T>
class Buffer : public Slot<T> {
 public:
  /// (0, 0).
  Buffer() : Slot<T>(nullptr, 0, 0) {}
  /// A deep copy.
  Buffer(const Buffer& other) : Buffer() { *this = other; }
  /// Takes over the memory; the other becomes empty.
  Buffer(Buffer&& other) noexcept : Slot<T>(other), memory_(std::move(other.memory_)) { other.seat(0, 0); }
  /// A deep copy.
  Buffer& operator=(const Buffer& other) {
    if (this != &other) assign(other);
    return *this;
  }
  /// Takes over the memory; the other becomes empty.
  Buffer& operator=(Buffer&& other) noexcept {
    memory_ = std::move(other.memory_);
    seat(other.rows(), other.cols());
    other.memory_.clear();
    other.seat(0, 0);
    return *this;
  }
  ~Buffer() = default;
  using Slot<T>::operator=;

  /// Becomes (rows, cols); allocates only beyond the largest size so far. @throws ShapeError for a negative size.
  void resize(Extent rows, Extent cols) {
    require<ShapeError>(rows >= 0, "rows", rows, ">= 0");
    require<ShapeError>(cols >= 0, "cols", cols, ">= 0");
    const auto size = static_cast<std::size_t>(rows * cols);
    if (memory_.size() < size) memory_.resize(size);
    seat(rows, cols);
  }
  /// Becomes a copy of x, whose memory must not be this one's.
  void assign(In<Mat<T>> x) {
    resize(x.rows(), x.cols());
    static_cast<Slot<T>&>(*this) = x;
  }

 private:
  void seat(Extent rows, Extent cols) { new (static_cast<Slot<T>*>(this)) Slot<T>(memory_.data(), rows, cols); }
  AlignedBuffer<T> memory_;
};

}  // namespace incipit::inline INCIPIT_ABI
