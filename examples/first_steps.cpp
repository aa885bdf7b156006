// SPDX-License-Identifier: MIT
// first_steps: what the one-layer transformer does first, in closed form and by gradient.
//
// Model       one-layer transformer of paper A (Definition 2): attention, feed-forward, no norm, no positions; tanh.
// Quantities  largest deviation of attention from the prefix average (Lemma 1); first velocities of all seven matrices
//             (Propositions 2 and 3, as published and as counted) and their remainders; inner products of trained embeddings
//             against the exact label law and the normal one (Theorem 1).
// Source      paper A, sections 4 and A; docs/derivations.
#include "studies/first_steps.hpp"

#include "common/run.hpp"

int main(int argc, char** argv) {
  using namespace examples;
  const auto options = parse(argc, argv, "first_steps", "Checks Lemma 1, Propositions 2 and 3 and Theorem 1 against a one-layer transformer.");
  return guarded("first_steps", [&] {
    Report report(options, "first_steps");
    const auto parts = studies::first_steps(options.preset, options.seed);
    print_predictions(parts);
    deliver(report, run_parts("first_steps", parts, options.threads));
    return report.finish();
  });
}
