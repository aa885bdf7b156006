// SPDX-License-Identifier: MIT
/// @file
/// @brief Labels of many rows, one each or several with masses, as a view.
#pragma once

#include <incipit/loss/cross_entropy.hpp>

#include <span>

namespace incipit::inline INCIPIT_ABI::loss {

/// @brief Labels of N rows: one label a row, or a sparse list of (label, mass) a row.
/// @details The loss they stand for is \f$ \sum_n \sum_k m_{nk} (\mathrm{lse}(z_n) - z_{n y_{nk}}) \f$: masses 1/N give the mean.
/// Non-owning; building one allocates nothing.
template <Real T>
class LabelRows {
 public:
  /// One label a row, each of mass 1/N (the mean) or 1.
  explicit LabelRows(std::span<const Id> labels, bool mean = true)
      : labels_(labels), mass_(mean && !labels.empty() ? T(T(1) / static_cast<T>(labels.size())) : T(1)) {}
  /// @brief Row n owns entries begin[n] .. begin[n+1]-1 of labels and masses.
  /// @throws ShapeError if begin does not start at 0, decreases, or does not end at the number of labels and masses.
  LabelRows(std::span<const std::size_t> begin, std::span<const Id> labels, std::span<const T> masses)
      : begin_(begin), labels_(labels), masses_(masses) {
    require_size("masses.size", masses.size(), labels.size());
    require<ShapeError>(!begin.empty() && begin.front() == 0, "begin", begin.size(), "N + 1 offsets from 0");
    for (std::size_t n = 1; n < begin.size(); ++n)
      if (begin[n] < begin[n - 1]) fail<ShapeError>("begin[" + std::to_string(n) + "]", begin[n], "non-decreasing offsets");
    require_size("begin.back", begin.back(), labels.size());
  }
  /// Number of rows N.
  Extent rows() const { return static_cast<Extent>(begin_.empty() ? labels_.size() : begin_.size() - 1); }
  /// First entry of row n.
  Extent first(Extent n) const { return begin_.empty() ? n : static_cast<Extent>(begin_[static_cast<std::size_t>(n)]); }
  /// Label of entry k.
  Id label(Extent k) const { return labels_[static_cast<std::size_t>(k)]; }
  /// Mass of entry k.
  T mass(Extent k) const { return masses_.empty() ? mass_ : masses_[static_cast<std::size_t>(k)]; }
  /// @brief Checks in one pass that every label lies in [0, classes). @throws IndexError naming entry and value.
  void require_labels(Extent classes) const {
    for (std::size_t k = 0; k < labels_.size(); ++k)
      if (labels_[k] < 0 || labels_[k] >= classes) [[unlikely]]
        fail<IndexError>("labels[" + std::to_string(k) + "]", labels_[k], "0 <= label < " + std::to_string(classes));
  }

 private:
  std::span<const std::size_t> begin_{};
  std::span<const Id> labels_;
  std::span<const T> masses_{};
  T mass_{1};
};

/// What losses of rows are summed in: a float sum over thousands of rows would lose digits that the loss curves show.
template <Real T>
using LossSum = std::conditional_t<std::is_same_v<T, float>, double, T>;

/// @brief Cross entropy of logits z (D) against row n of the labels; z becomes its gradient.
/// @par Cost D exponentials.
template <Real T>
T label_row(T* z, Extent classes, const LabelRows<T>& labels, Extent n) {
  const Extent first = labels.first(n), last = labels.first(n + 1);
  T mass(0), against(0);
  for (Extent k = first; k < last; ++k) {
    mass += labels.mass(k);
    against += labels.mass(k) * z[labels.label(k)];
  }
  T value = log_sum_exp_and_softmax(z, classes, mass) - against;
  for (Extent k = first; k < last; ++k) z[labels.label(k)] -= labels.mass(k);
  return value;
}

}  // namespace incipit::inline INCIPIT_ABI::loss
