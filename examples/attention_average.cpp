// SPDX-License-Identifier: MIT
// attention_average: what the attention of a two-layer transformer does while it learns, by the exponent of its initialization.
//
// Model       decoder of paper A (2 layers, 1 head, post-norm, ReLU, no biases), gamma 0.3, 0.5, 0.8.
// Quantities  distance of the first attention from the average of the prefix; ratio of W_V's first singular values; alignment of its
//             top input direction with reasoning anchors, memory anchors and keys; effective ranks.
// Source      paper A, figure 6 and Lemma 1.
#include "studies/study_main.hpp"

int main(int argc, char** argv) {
  return studies::study_main(argc, argv, "attention_average", "Trains transformers at three scales of initialization and compares their attention with the average of the prefix.", studies::attention_average);
}
