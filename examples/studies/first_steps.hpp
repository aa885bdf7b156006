// SPDX-License-Identifier: MIT
// The one-layer transformer at initialization and shortly after: Lemma 1, Propositions 2 and 3, Theorem 1.
#pragma once

#include "../common/part.hpp"

namespace studies {

using namespace examples;

/// Attention of the one-layer transformer against the average of the prefix, over many initializations.
Part lemma_1(Preset preset, std::uint64_t seed);
/// Velocities of all seven matrices against the first order: counted, from the law, and as published.
Part propositions_2_and_3(Preset preset, std::uint64_t seed);
/// Inner products of trained embeddings against the exact law and the normal one, over a grid of m, gamma and q.
Part theorem_1(Preset preset, std::uint64_t seed);

/// The three of them.
inline std::vector<Part> first_steps(Preset preset, std::uint64_t seed) {
  return {lemma_1(preset, seed), propositions_2_and_3(preset, seed), theorem_1(preset, seed)};
}

}  // namespace studies
