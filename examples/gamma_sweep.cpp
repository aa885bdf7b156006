// SPDX-License-Identifier: MIT
// gamma_sweep: what a two-layer transformer learns first, by the exponent of its initialization.
//
// Model       decoder of paper A: 2 layers, 1 head, post-norm, learned positions, ReLU, no biases; weights with standard
//             deviation d_in^-gamma, gamma 0.3, 0.5, 0.8. Emb-MLP on the same sequences beside it.
// Quantities  loss and accuracy of memory, reasoning and held-out reasoning over training; the floor of a model that does not see
//             which key stands before the anchors.
// Source      paper A, section 3 and figure 3.
#include "studies/study_main.hpp"

int main(int argc, char** argv) {
  return studies::study_main(argc, argv, "gamma_sweep", "Trains transformers at three scales of initialization and compares what they learn first.", studies::gamma_sweep);
}
