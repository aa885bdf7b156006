// SPDX-License-Identifier: MIT
// statements: what paper A says beside its figures, each with a number and a verdict.
//
// Model       the transformers of gamma_sweep; the same without norms, final projection or positions; queries with a graph.
// Quantities  losses at the end, effective ranks, cosines before and after attention, what W_V carries to later positions.
// Source      paper A, sections 3 to 5.
#include "common/run.hpp"
#include "studies/statements.hpp"

int main(int argc, char** argv) {
  using namespace examples;
  const auto options = parse(argc, argv, "statements", "Gives statements of paper A a number and a verdict.");
  return guarded("statements", [&] {
    Report report(options, "statements");
    auto scale = studies::RunScale::of(options.preset);
    scale.seeds = 1, scale.large = false;
    studies::AnchorRuns runs(scale, options.seed);
    studies::StatementRuns statements(runs, options.seed);
    auto parts = runs.parts();
    for (auto& part : statements.parts()) parts.push_back(std::move(part));
    deliver(report, run_parts("statements", parts, options.threads));
    deliver(report, {statements.conclude()});
    return report.finish();
  });
}
