// SPDX-License-Identifier: MIT
// phase_map: where in gamma, width and depth a transformer remembers, and where it reasons.
//
// Model       decoder of paper A (1 head, post-norm, ReLU, no biases) on anchor sequences; a grid of gamma, width and depth.
// Quantities  accuracy on memory sequences and on held-out reasoning tuples with Wilson intervals; the gamma that serves a goal best.
// Source      paper A, section 3 (phase diagrams of initialization).
//
// A run that was stopped goes on where it was: finished cells are kept in a journal in the folder of --out.
#include "common/run.hpp"
#include "studies/phase_map.hpp"

int main(int argc, char** argv) {
  using namespace examples;
  compare::PhaseGoal goal;
  const auto options = parse(argc, argv, "phase_map", "Trains a grid of transformers and maps what they remember and what they reason.", [&](CLI::App& app) {
    app.add_option("--weight-memory", goal.memory, "Weight of memory accuracy in the recommended gamma")->check(CLI::NonNegativeNumber)->capture_default_str();
    app.add_option("--weight-reasoning", goal.reasoning, "Weight of held-out reasoning accuracy")->check(CLI::NonNegativeNumber)->capture_default_str();
    app.add_option("--require-memory", goal.required_memory, "Least memory accuracy")->check(CLI::Range(0.0, 1.0))->capture_default_str();
    app.add_option("--require-reasoning", goal.required_reasoning, "Least held-out reasoning accuracy")->check(CLI::Range(0.0, 1.0))->capture_default_str();
  });
  return guarded("phase_map", [&] {
    Report report(options, "phase_map");
    studies::PhaseMap map(options.preset, options.seed);
    train::Progress progress("phase_map", static_cast<std::int64_t>(map.jobs().size()));
    std::string journal("phase_map_");
    journal.append(to_string(options.preset)).append("_").append(std::to_string(options.seed)).append(".journal");
    map.take(train::sweep(map.jobs(), {.threads = options.threads,
                                       .journal = report.path(journal),
                                       .fingerprint = map.fingerprint(),
                                       .on_done = [&](const train::SweepJob&) { progress.step(); }}));
    progress.finish();
    for (const auto& line : map.recommendations(goal)) std::cout << line << '\n';
    deliver(report, {map.conclude()});
    return report.finish();
  });
}
