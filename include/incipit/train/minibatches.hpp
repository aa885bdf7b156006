// SPDX-License-Identifier: MIT
/// @file
/// @brief Shuffled minibatches, addressed: batch k of a seed is the same whenever it is asked for.
#pragma once

#include <incipit/core/random.hpp>
#include <incipit/data/examples.hpp>

#include <algorithm>
#include <span>

namespace incipit::inline INCIPIT_ABI::train {

/// @brief Rows 0..N-1 in batches of B; every epoch visits every row once, in an order of its own.
/// @details Epoch e is permuted by the stream child(e), so batch k needs no history: a resumed run continues with the same
/// batches. The last batch of an epoch is shorter when B does not divide N. Nothing is allocated after construction.
class EpochOrder {
 public:
  /// @throws InvalidArgument unless 1 <= batch <= rows.
  EpochOrder(Extent rows, Extent batch, const RandomStream& stream) : batch_(batch), stream_(stream) {
    require(batch >= 1 && batch <= rows, "batch", batch, "1 to " + std::to_string(rows) + " rows");
    order_.resize(static_cast<std::size_t>(rows));
  }
  /// Number of batches in an epoch.
  long long per_epoch() const { return (static_cast<Extent>(order_.size()) + batch_ - 1) / batch_; }
  /// Rows of batch k >= 0; valid until the next call. @par Cost one shuffle per new epoch.
  std::span<const Extent> operator()(long long step) {
    require(step >= 0, "step", step, ">= 0");
    const long long epoch = step / per_epoch();
    if (epoch != epoch_) {
      for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<Extent>(i);
      stream_.child(static_cast<std::uint64_t>(epoch)).shuffle(order_);
      epoch_ = epoch;
    }
    const auto first = static_cast<std::size_t>(step % per_epoch() * batch_);
    return std::span<const Extent>(order_).subspan(first, (std::min)(static_cast<std::size_t>(batch_), order_.size() - first));
  }

 private:
  Extent batch_;
  RandomStream stream_;
  long long epoch_ = -1;
  std::vector<Extent> order_;
};

/// @brief Shuffled minibatches of a set, in the order of EpochOrder. @par Cost B L copies per batch.
class Minibatches {
 public:
  /// Batches of `batch` rows of `set`, which must outlive this. @throws InvalidArgument unless 1 <= batch <= N.
  Minibatches(const data::Examples& set, Extent batch, const RandomStream& stream)
      : set_(&set), order_(set.size(), batch, stream) {
    set.validate();
    full_.vocab = last_.vocab = set.vocab;
  }
  Minibatches(data::Examples&&, Extent, const RandomStream&) = delete;

  /// Number of batches in an epoch.
  long long per_epoch() const { return order_.per_epoch(); }
  /// Batch of step k >= 0; valid until the next call.
  const data::Examples& operator()(long long step) {
    const auto rows = order_(step);
    // The short batch at the end of an epoch has a buffer of its own, so neither is ever resized again.
    data::Examples& to = (step + 1) % per_epoch() == 0 ? last_ : full_;
    to.tokens.resize(static_cast<Extent>(rows.size()), set_->length());
    to.labels.resize(rows.size());
    for (std::size_t n = 0; n < rows.size(); ++n) {
      to.tokens.row(static_cast<Extent>(n)) = set_->tokens.row(rows[n]);
      to.labels[n] = set_->labels[static_cast<std::size_t>(rows[n])];
    }
    return to;
  }

 private:
  const data::Examples* set_;
  EpochOrder order_;
  data::Examples full_, last_;
};

}  // namespace incipit::inline INCIPIT_ABI::train
