// SPDX-License-Identifier: MIT
/// @file
/// @brief What was reached at each exponent of initialization, and the exponent that serves a stated goal best.
#pragma once

#include <incipit/measure/wilson.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace incipit::inline INCIPIT_ABI::compare {

/// Successes out of trials.
struct Count {
  long long hits = 0;    ///< right answers
  long long trials = 0;  ///< answers, >= 1
  /// Share of right answers.
  double share() const { return static_cast<double>(hits) / static_cast<double>(trials); }
  /// Its 95 % interval.
  measure::ProbabilityInterval interval() const { return measure::wilson_interval(hits, trials); }
};

/// What runs at one gamma reached, pooled over seeds.
struct PhasePoint {
  double gamma = 0;  ///< exponent of the initialization
  Count memory;      ///< memory sequences of the training set
  Count reasoning;   ///< held-out reasoning sequences
};

/// @brief A goal: how much memory and how much reasoning on held-out tuples count.
/// @details The score of a point is the weighted mean of the lower ends of its intervals, so a point that few trials
/// support does not win by luck. Points below a required share (by their lower end) are not recommended at all.
struct PhaseGoal {
  double memory = 0;             ///< weight of memory accuracy, >= 0
  double reasoning = 1;          ///< weight of held-out reasoning accuracy, >= 0
  double required_memory = 0;    ///< least memory accuracy, 0 .. 1
  double required_reasoning = 0; ///< least reasoning accuracy, 0 .. 1
};

/// An answer of recommend_gamma.
struct Recommendation {
  bool found = false;  ///< false if no point meets what is required
  double gamma = 0;    ///< the recommended exponent, if found
  double score = 0;    ///< its score
  std::string reason;  ///< in words
};

/// @brief The gamma among the measured points that serves the goal best; of equal scores the smallest gamma.
/// @throws InvalidArgument without points, for negative weights or weights that are all zero.
inline Recommendation recommend_gamma(const std::vector<PhasePoint>& points, const PhaseGoal& goal) {
  require(!points.empty(), "points", points.size(), "at least one");
  require_non_negative("memory", goal.memory);
  require_non_negative("reasoning", goal.reasoning);
  require(goal.memory + goal.reasoning > 0, "weights", goal.memory + goal.reasoning, "a positive sum");
  Recommendation best;
  for (const PhasePoint& p : points) {
    const double memory = p.memory.interval().low, reasoning = p.reasoning.interval().low;
    if (memory < goal.required_memory || reasoning < goal.required_reasoning) continue;
    const double score = (goal.memory * memory + goal.reasoning * reasoning) / (goal.memory + goal.reasoning);
    if (best.found && (score < best.score || (score == best.score && p.gamma >= best.gamma))) continue;
    best = {true, p.gamma, score, ""};
  }
  best.reason = best.found ? "largest weighted lower end of the 95 % intervals, " + incipit::detail::printed(best.score)
                           : "no measured gamma reaches what is required";
  return best;
}

}  // namespace incipit::inline INCIPIT_ABI::compare
