// SPDX-License-Identifier: MIT
// Statements of paper A that rest on no figure, each with a number and a verdict.
#pragma once

#include "anchor_runs.hpp"

namespace studies {

/// Losses at the end of a run.
struct EndLosses {
  double memory = 0, reasoning = 0, held_out = 0;
};

/// Runs made for the statements only: transformers with a part left out, and graphs in context.
class StatementRuns {
 public:
  /// Of the first seed of the shared runs, which must outlive this.
  StatementRuns(const AnchorRuns& shared, std::uint64_t seed);
  /// One part a run.
  std::vector<Part> parts();
  /// All verdicts, from these runs and the shared ones.
  Outcome conclude() const;

 private:
  static constexpr std::array<const char*, 4> left_out_{"LayerNorm", "the final projection", "LayerNorm and the final projection", "positions"};
  const AnchorRuns& shared_;
  std::uint64_t seed_;
  std::array<std::array<EndLosses, 2>, left_out_.size()> without_;  // gamma 0.3 and 0.8
  EndLosses full(std::size_t g) const;
  std::array<std::array<double, 3>, 2> graph_accuracy_{};           // own and shared graph, by gamma: fresh sequences
  Mat<double> noise_free_;                                          // (D, m) embedding of Emb-MLP on sequences without noise
};

}  // namespace studies
