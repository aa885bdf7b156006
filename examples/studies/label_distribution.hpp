// SPDX-License-Identifier: MIT
// Memory whose labels follow a law of their own: how much faster it is learned, and what is put out before it is known.
#pragma once

#include "anchor_runs.hpp"

namespace studies {

/// What is seen of the label-range groups at one step.
struct GroupStep {
  double step;
  train::Score memory;
  std::vector<double> mass;  // by group: probability inside its range
};

/// Runs at gamma 0.8 on memory labels around the sum (F_mem2) and on four label-range groups.
struct LabelRuns {
  RunScale scale;

 private:
  std::uint64_t seed_;

 public:
  AnchorData around_sum, groups;
  TransformerRun around_sum_run;
  std::vector<GroupStep> group_steps;

  LabelRuns(const RunScale& s, std::uint64_t seed);
  LabelRuns(const LabelRuns&) = delete;
  LabelRuns& operator=(const LabelRuns&) = delete;
  /// One part a run; they fill the members above.
  std::vector<Part> parts();

 private:
  void run_groups(const Ticker& tick);
};

/// Speed of F_mem1 against F_mem2, and early outputs of the four groups (figure 8 of paper A). `uniform`: the run on F_mem1.
Outcome label_distribution(const LabelRuns& runs, const TransformerRun& uniform);

}  // namespace studies
