// SPDX-License-Identifier: MIT
/// @file
/// @brief Shuffled minibatches, addressed: batch k of a seed is the same whenever it is asked for.
#pragma once

#include <incipit/core/random.hpp>
#include <incipit/data/examples.hpp>

#include <algorithm>

namespace incipit::inline INCIPIT_ABI::train {

/// @brief Batches of B rows of a set; every epoch visits every row once, in an order of its own.
/// @details Epoch e is permuted by the stream child(e), so step k needs no history: a resumed run continues with the same
/// batches. The last batch of an epoch is shorter when B does not divide N.
/// @par Cost one permutation per epoch and B L copies per batch; nothing is allocated after the first batch.
class Minibatches {
 public:
  /// Batches of `batch` rows of `set`, which must outlive this. @throws InvalidArgument unless 1 <= batch <= N.
  Minibatches(const data::Examples& set, Extent batch, const RandomStream& stream)
      : set_(&set), batch_(batch), stream_(stream) {
    set.validate();
    require(batch >= 1 && batch <= set.size(), "batch", batch, "1 to " + std::to_string(set.size()) + " rows");
    order_.resize(static_cast<std::size_t>(set.size()));
    rows_.labels.reserve(static_cast<std::size_t>(batch));
    rows_.vocab = set.vocab;
  }
  Minibatches(data::Examples&&, Extent, const RandomStream&) = delete;

  /// Number of batches in an epoch.
  long long per_epoch() const { return (set_->size() + batch_ - 1) / batch_; }
  /// Batch of step k >= 0; valid until the next call.
  const data::Examples& operator()(long long step) {
    require(step >= 0, "step", step, ">= 0");
    const long long epoch = step / per_epoch();
    if (epoch != epoch_) {
      for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<Extent>(i);
      stream_.child(static_cast<std::uint64_t>(epoch)).shuffle(order_);
      epoch_ = epoch;
    }
    const Extent first = (step % per_epoch()) * batch_, count = (std::min)(batch_, set_->size() - first);
    rows_.tokens.resize(count, set_->length());
    rows_.labels.resize(static_cast<std::size_t>(count));
    for (Extent n = 0; n < count; ++n) {
      const Extent row = order_[static_cast<std::size_t>(first + n)];
      rows_.tokens.row(n) = set_->tokens.row(row);
      rows_.labels[static_cast<std::size_t>(n)] = set_->labels[static_cast<std::size_t>(row)];
    }
    return rows_;
  }

 private:
  const data::Examples* set_;
  Extent batch_;
  RandomStream stream_;
  long long epoch_ = -1;
  std::vector<Extent> order_;
  data::Examples rows_;
};

}  // namespace incipit::inline INCIPIT_ABI::train
