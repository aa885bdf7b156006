// SPDX-License-Identifier: MIT
/// @file
/// @brief One training run: parameters, gradient, optimizer, and what a step is.
#pragma once

#include <incipit/data/examples.hpp>
#include <incipit/data/soft_examples.hpp>
#include <incipit/loss/label_rows.hpp>
#include <incipit/train/minibatches.hpp>

namespace incipit::inline INCIPIT_ABI::train {

/// @brief A set as a full batch: identical inputs merged, with the masses that make their loss the mean over the set.
/// @details For models that do not see the order of tokens, such as EmbMlp: half the rows of the anchor population.
template <Real T>
class FullBatch {
 public:
  /// Merges `set`. @throws what Examples::validate throws.
  explicit FullBatch(const data::Examples& set) : merged_(data::merge_identical(set)) {
    masses_.reserve(merged_.label_counts.size());
    for (const std::int64_t n : merged_.label_counts)
      masses_.push_back(static_cast<T>(static_cast<double>(n) / static_cast<double>(merged_.total)));
  }
  /// (U, L) distinct inputs.
  const Mat<Id>& tokens() const { return merged_.tokens; }
  /// Their labels with masses, summing to 1.
  loss::LabelRows<T> labels() const { return {merged_.offsets, merged_.labels, masses_}; }
  /// The merged set, with its realised floor and best accuracy.
  const data::SoftExamples& merged() const { return merged_; }

 private:
  data::SoftExamples merged_;
  std::vector<T> masses_;
};

/// @brief Shuffled minibatches of a merged set, in the order of EpochOrder: identical inputs with different labels come as one
/// row with a soft label, so their disagreement is no noise in the gradient.
/// @details Masses are scaled by U/B, so the expected loss is the mean over the set.
template <Real T>
class MergedMinibatches {
 public:
  /// Batches of `batch` distinct inputs of `set`, which must outlive this. @throws InvalidArgument unless 1 <= batch <= U.
  MergedMinibatches(const FullBatch<T>& set, Extent batch, const RandomStream& stream)
      : set_(&set), order_(set.tokens().rows(), batch, stream), tokens_(batch, set.tokens().cols()) {
    begin_.reserve(static_cast<std::size_t>(batch) + 1);
    labels_.reserve(set.merged().labels.size());
    masses_.reserve(set.merged().labels.size());
  }
  MergedMinibatches(FullBatch<T>&&, Extent, const RandomStream&) = delete;

  /// Draws batch k >= 0: tokens() and labels() are then its rows.
  void draw(long long step) {
    const auto rows = order_(step);
    const auto from = set_->labels();
    rows_ = static_cast<Extent>(rows.size());
    begin_.assign(1, 0);
    labels_.clear();
    masses_.clear();
    const T scale = static_cast<T>(static_cast<double>(set_->tokens().rows()) / static_cast<double>(rows.size()));
    for (std::size_t n = 0; n < rows.size(); ++n) {
      tokens_.row(static_cast<Extent>(n)) = set_->tokens().row(rows[n]);
      for (Extent k = from.first(rows[n]); k < from.first(rows[n] + 1); ++k) {
        labels_.push_back(from.label(k));
        masses_.push_back(scale * from.mass(k));
      }
      begin_.push_back(labels_.size());
    }
  }
  /// (B, L) distinct inputs of the batch drawn last.
  Eigen::Map<const Mat<Id>> tokens() const { return {tokens_.data(), rows_, tokens_.cols()}; }
  /// Their labels with masses.
  loss::LabelRows<T> labels() const { return {begin_, labels_, masses_}; }

 private:
  const FullBatch<T>* set_;
  EpochOrder order_;
  Mat<Id> tokens_;
  Extent rows_ = 0;
  std::vector<std::size_t> begin_{0};
  std::vector<Id> labels_;
  std::vector<T> masses_;
};

/// @brief A model in training. @details A step zeroes the gradient, computes loss and gradient, and lets the optimizer move.
template <class Model, class Optimizer>
struct Trainer {
  using T = typename Model::Scalar;            ///< scalar type
  using Parameters = typename Model::Parameters;  ///< parameters with their memory

  Parameters parameters;                 ///< current parameters
  Parameters gradient;                   ///< gradient of the last step
  Optimizer optimizer;                   ///< called as optimizer(theta, gradient)
  typename Model::Workspace workspace{};  ///< buffers

  /// Starts at `initial`.
  Trainer(const Parameters& initial, Optimizer opt) : parameters(initial), gradient(initial), optimizer(std::move(opt)) {}

  /// One step on rows of tokens; returns the loss before it. @throws NonFiniteError when the run has blown up.
  T step(In<Mat<Id>> tokens, const loss::LabelRows<T>& labels) {
    const T loss = evaluate(tokens, labels);
    optimizer(parameters.flat(), gradient.flat());
    return loss;
  }
  /// One step on a minibatch, mean loss.
  T step(const data::Examples& batch) { return step(batch.tokens, loss::LabelRows<T>(batch.labels)); }
  /// One step on a full batch.
  T step(const FullBatch<T>& batch) { return step(batch.tokens(), batch.labels()); }
  /// Loss and `gradient` without a step.
  T evaluate(In<Mat<Id>> tokens, const loss::LabelRows<T>& labels) {
    gradient.set_zero();
    return Model{}.loss_and_gradient(parameters, tokens, labels, workspace, gradient);
  }
};

/// Mean loss and accuracy over a set.
struct Score {
  double loss = 0;      ///< mean cross entropy, nats
  double accuracy = 0;  ///< share of rows whose largest logit (first of equals) is the label
};

/// @brief Mean loss and accuracy of a model on a set, without a gradient. @throws ShapeError for an empty set, IndexError.
template <class Model>
Score evaluate(const typename Model::Parameters& parameters, const data::Examples& set, typename Model::Workspace& ws) {
  set.validate();
  double loss = 0;
  Extent hits = 0;
  Model{}.for_each_logits(parameters, set.tokens, ws, [&](Extent n, const auto& z) {
    const Id label = set.labels[static_cast<std::size_t>(n)];
    require<IndexError>(label < z.size(), "label", label, "a class of the model");
    Extent best = 0;
    const double top = static_cast<double>(z.maxCoeff(&best));
    loss += top + std::log((z.template cast<double>().array() - top).exp().sum()) - static_cast<double>(z(label));
    hits += best == label;
  });
  const double rows = static_cast<double>(set.size());
  return {loss / rows, static_cast<double>(hits) / rows};
}

}  // namespace incipit::inline INCIPIT_ABI::train
