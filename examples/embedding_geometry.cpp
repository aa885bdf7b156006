// SPDX-License-Identifier: MIT
// embedding_geometry: how the embeddings of a two-layer transformer lie, by the exponent of its initialization.
//
// Model       decoder of paper A (2 layers, 1 head, post-norm, ReLU, no biases), gamma 0.3, 0.5, 0.8; Emb-MLP beside it.
// Quantities  cosines between anchors against the label law, their profile by distance, principal components of anchors and keys,
//             agreement of the two models' geometries.
// Source      paper A, figures 4 and 5.
#include "common/run.hpp"
#include "studies/studies.hpp"

int main(int argc, char** argv) {
  using namespace examples;
  const auto options = parse(argc, argv, "embedding_geometry", "Trains transformers at three scales of initialization and compares their embeddings with the label law and with Emb-MLP.");
  return guarded("embedding_geometry", [&] {
    Report report(options, "embedding_geometry");
    studies::AnchorRuns runs(studies::RunScale::of(options.preset), options.seed);
    deliver(report, run_parts("embedding_geometry", runs.parts(), options.threads));
    deliver(report, {studies::embedding_geometry(runs)});
    return report.finish();
  });
}
