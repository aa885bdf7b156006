// SPDX-License-Identifier: MIT
// Runs of the paper's two-layer transformer and of Emb-MLP on anchor sequences with noise, recorded once for all studies.
#pragma once

#include "../common/part.hpp"
#include "training.hpp"

#include <incipit/data/anchor_set.hpp>
#include <incipit/measure/defined.hpp>

#include <array>
#include <optional>

namespace studies {

using namespace examples;

inline constexpr std::array<double, 3> gammas{0.3, 0.5, 0.8};

/// How large the runs are.
struct RunScale {
  Extent samples = 15000;  // 14 850 of them train
  Extent width = 64, key = 64, hidden = 256;
  long long steps = 4500, every = 50;
  double rate = 4e-4;
  int seeds = 3;
  bool large = false;  // the paper's number of samples too

  model::DecoderSizes sizes(Extent vocab, Extent length, Extent layers = 2) const {
    return {.vocab = vocab, .width = width, .layers = layers, .heads = 1, .key = key, .hidden = hidden, .length = length};
  }

  static RunScale of(Preset preset) {
    RunScale s;
    if (preset == Preset::fast) s.seeds = 1, s.every = 100;
    if (preset == Preset::paper) s.seeds = 5, s.large = true;
    return s;
  }
};

/// The anchor sequences of one seed: training set, fresh sequences of the same task, and subsets to look at while training.
struct AnchorData {
  data::AnchorTask task;
  data::MemoryMap mapping;
  data::Dataset set;
  data::Examples memory, reasoning;        // all training sequences of a task
  data::Examples some_memory, some_reasoning;  // 2000 of each, or fewer
  data::Examples fresh_reasoning;          // shown pairs of anchors behind keys and noise never seen

  AnchorData(data::AnchorTask which, std::uint64_t seed);
};

inline std::vector<Id> ids(data::IdRange range) {
  std::vector<Id> out;
  for (Id s = range.first; s <= range.last; ++s) out.push_back(s);
  return out;
}
inline Mat<double> rows_of(const Mat<double>& table, data::IdRange range) { return table.middleRows(range.first, range.size()); }
/// NaN where it is not defined.
inline double number(const measure::Defined<double>& x) { return x.defined ? x.value : std::numeric_limits<double>::quiet_NaN(); }

/// What is seen at one step.
struct Observation {
  double step = 0;
  train::Score memory, reasoning, held_out;
  double attention_off_average = 0;            // first layer: largest |A_ij - 1/i|
  double value_ratio = 0;                      // W_V of the first layer: s_1 / s_2
  double aligned_reasoning = 0, aligned_memory = 0, aligned_keys = 0;  // mean |cos| of tokens with its top input direction
  double reasoning_correlation = 0;            // of reasoning anchors' cosines with the label law
  double memory_cosine = 0;                    // mean over pairs of memory anchors
  double value_rank = 0, embedding_rank = 0;   // effective ranks
  // mean |<what attention adds, direction in which W_V W_O sends W_V's top direction>| at positions behind the anchors (the
  // least over their distances) and before them
  double carried_later = 0, carried_earlier = 0;
};

/// One run of the transformer.
struct TransformerRun {
  double gamma = 0;
  std::uint64_t seed = 0;
  std::vector<Observation> seen;
  train::Score memory, reasoning, held_out, fresh_reasoning;  // at the end, whole sets
  Mat<double> end_embedding;                                  // (D, C)
  double key_weight = 0, noise_weight = 0, anchor_weight = 0;  // second attention of the last position, on one token of each role
  train::Score average_attention;                              // fresh reasoning, first attention replaced by the prefix average
  double kept_geometry = 0;                                    // rank correlation of reasoning cosines before and after the first attention
};

/// One run of Emb-MLP on the same sequences.
struct EmbMlpRun {
  double gamma = 0;
  std::vector<double> step, memory, reasoning, held_out, fresh_reasoning;  // losses
  Mat<double> end_embedding;  // (D, m)
};

TransformerRun run_transformer(const AnchorData& data, const RunScale& scale, double gamma, std::uint64_t seed, const Ticker& tick);
EmbMlpRun run_emb_mlp(const AnchorData& data, double gamma, std::uint64_t seed, long long steps, const Ticker& tick);

/// The runs that studies share: for each seed the data, a transformer at each gamma and, for the first seed, an Emb-MLP at each.
struct AnchorRuns {
  RunScale scale;
  std::vector<AnchorData> data;                             // by seed
  std::vector<std::array<TransformerRun, 3>> transformers;  // by seed, then gamma
  std::array<EmbMlpRun, 3> emb_mlps;                        // by gamma
  std::optional<AnchorData> large;                          // N = 200 000, with Preset::paper
  std::array<TransformerRun, 2> large_runs;                 // on it, gamma 0.3 and 0.8

  /// Makes the data.
  AnchorRuns(const RunScale& s, std::uint64_t first_seed);
  AnchorRuns(const AnchorRuns&) = delete;
  AnchorRuns& operator=(const AnchorRuns&) = delete;
  /// One part a run; they fill the members above.
  std::vector<Part> parts();
  /// ", seed 3" where there are several.
  std::string suffix(std::size_t k) const { return data.size() > 1 ? ", seed " + std::to_string(first_seed_ + k) : ""; }

 private:
  std::uint64_t first_seed_;
};

}  // namespace studies
