// SPDX-License-Identifier: MIT
// label_distribution: memory is learned as fast as its label laws tell the anchors apart.
//
// Model       decoder of paper A (2 layers, 1 head, post-norm, ReLU, no biases) at gamma 0.8.
// Quantities  memory loss under F_mem1 (labels uniform on the keys, whatever the anchors) and F_mem2 (uniform around z, as far as
//             the anchors' sum); probability inside the label range of four groups of anchors, before their labels are known.
// Source      paper A, figure 8.
#include "common/run.hpp"
#include "studies/label_distribution.hpp"

int main(int argc, char** argv) {
  using namespace examples;
  const auto options = parse(argc, argv, "label_distribution", "Trains transformers on three kinds of memory labels and compares what they put out.");
  return guarded("label_distribution", [&] {
    Report report(options, "label_distribution");
    const auto scale = studies::RunScale::of(options.preset);
    auto task = data::AnchorTask::paper();
    task.samples = scale.samples;
    const studies::AnchorData uniform(task, options.seed);
    studies::TransformerRun uniform_run;
    studies::LabelRuns runs(scale, options.seed);
    auto parts = runs.parts();
    parts.push_back({{}, scale.steps / scale.every + 1, [&](const Ticker& tick) {
                       uniform_run = studies::run_transformer(uniform, scale, 0.8, options.seed, tick);
                       return Outcome{};
                     }});
    deliver(report, run_parts("label_distribution", parts, options.threads));
    deliver(report, {studies::label_distribution(runs, uniform_run)});
    return report.finish();
  });
}
