// SPDX-License-Identifier: MIT
// The parts of the verification; each predicts when it is made and trains when it is run.
#pragma once

#include "subject.hpp"

namespace verify {

/// Gradient descent from a small initialization until 1 % of the plateau is lost, and the same-step flow beside it.
struct EscapeSetting {
  double gamma;
  StepSize step;
  Extent width = 64, hidden = 128;
  Extent limit = 2000;  // steps
};

/// Proposition 1 at a few gammas (0.3 and 0.5 are outside its range and must fail), companions, remainder law, and what the
/// plain sigmoid breaks.
Part first_order(const Subject& subject, const Scale& scale, std::uint64_t seed);
/// The cosine between label laws of memory anchors over many drawn mappings, and the exact law of the one in use.
Part quenched(const Subject& subject, std::uint64_t seed);
/// Expected against realised floor of the memory task, and a wide run at gamma 0.3 that comes within 10 % of it.
Part memory_floor(const Subject& subject, const Scale& scale, std::uint64_t seed);
/// The setting with a step short enough that leaving the plateau takes twenty of them, by the continuous flow.
EscapeSetting paced(const Subject& subject, EscapeSetting setting, std::uint64_t seed);
/// Escape steps and embeddings of one run against the three-layer flow.
Part escape(const Subject& subject, const EscapeSetting& setting, const std::string& stem, std::uint64_t seed);
/// The continuous flow is the limit of small steps: at one time, descents with steps h and h/2 differ in proportion to h.
Part step_size_law(const Subject& subject, const EscapeSetting& coarse, std::uint64_t seed);
/// Directions of the first three steps of AdamW at gamma 1, with an eps far below the gradients.
Part arcsine(const Subject& subject, const Scale& scale, std::uint64_t seed);
/// AdamW (batch 200) and gradient descent (batch 1000) on the anchor task at three gammas, for every seed of the scale.
Part anchor_training(const Subject& subject, const Scale& scale, std::uint64_t seed);
/// AdamW on a user's data at the three gammas, against the floor that merged inputs allow.
Part plain_training(const Subject& subject, const Scale& scale, std::uint64_t seed);

}  // namespace verify
