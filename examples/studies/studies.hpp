// SPDX-License-Identifier: MIT
// What is concluded from the shared runs; each study is one program and one section of verify --all.
#pragma once

#include "anchor_runs.hpp"

namespace studies {

/// Losses and accuracies of memory, reasoning and held-out tuples against gamma, for both models (figure 3 of paper A).
Outcome gamma_sweep(const AnchorRuns& runs);
/// Cosines and principal components of the transformer's embeddings, beside the label law and Emb-MLP (figures 4 and 5).
Outcome embedding_geometry(const AnchorRuns& runs);
/// The first layer's attention against the prefix average, and what W_V points at while reasoning is learned (figure 6).
Outcome attention_average(const AnchorRuns& runs);

/// All of them.
inline std::vector<Outcome> conclusions(const AnchorRuns& runs) {
  return {gamma_sweep(runs), embedding_geometry(runs), attention_average(runs)};
}

}  // namespace studies
