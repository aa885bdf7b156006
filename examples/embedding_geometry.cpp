// SPDX-License-Identifier: MIT
// embedding_geometry: how the embeddings of a two-layer transformer lie, by the exponent of its initialization.
//
// Model       decoder of paper A (2 layers, 1 head, post-norm, ReLU, no biases), gamma 0.3, 0.5, 0.8; Emb-MLP beside it.
// Quantities  cosines between anchors against the label law, their profile by distance, principal components of anchors and keys,
//             agreement of the two models' geometries.
// Source      paper A, figures 4 and 5.
#include "studies/study_main.hpp"

int main(int argc, char** argv) {
  return studies::study_main(argc, argv, "embedding_geometry", "Trains transformers at three scales of initialization and compares their embeddings with the label law and with Emb-MLP.", studies::embedding_geometry);
}
