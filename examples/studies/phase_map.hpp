// SPDX-License-Identifier: MIT
// Memory and reasoning accuracy over initialization, width and depth.
#pragma once

#include "anchor_runs.hpp"

#include <incipit/compare/phase_map.hpp>
#include <incipit/train/sweep.hpp>

namespace studies {

/// A grid of small transformers, each of which learns the anchor task for a while.
class PhaseMap {
 public:
  /// The grid of a preset; every job makes its own data from the seed.
  PhaseMap(Preset preset, std::uint64_t seed);
  /// One job a transformer: {memory hits, trials, held-out hits, trials}.
  const std::vector<train::SweepJob>& jobs() const { return jobs_; }
  /// The jobs as parts, which keep their results.
  std::vector<Part> parts();
  /// Takes the results of all jobs, in their order.
  void take(std::vector<std::vector<double>> results) { results_ = std::move(results); }
  /// What the numbers depend on besides the keys of the jobs.
  std::string fingerprint() const;
  /// A line for every width and depth: the gamma that serves the goal best. All results must be there.
  std::vector<std::string> recommendations(const compare::PhaseGoal& goal) const;
  /// Heat maps, table with intervals, claims. All results must be there.
  Outcome conclude() const;

 private:
  struct Cell {
    double gamma;
    Extent width, layers;
    std::uint64_t seed;
  };
  std::vector<compare::PhasePoint> points(Extent width, Extent layers) const;
  RunScale scale_;
  std::vector<double> gammas_;
  std::vector<Extent> widths_, depths_;
  std::uint64_t seed_;
  std::vector<Cell> cells_;
  std::vector<train::SweepJob> jobs_;
  std::vector<std::vector<double>> results_;
};

}  // namespace studies
