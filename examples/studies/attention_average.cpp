// SPDX-License-Identifier: MIT
#include "studies.hpp"

namespace studies {
namespace {

void claim_seed(const std::array<TransformerRun, 3>& run, const std::string& suffix, Outcome& out) {
  const auto claim = [&](bool most, std::string name, double limit, double x) {
    name += suffix;
    out.claims.push_back(most ? compare::claim_at_most(std::move(name), "training picture", Kind::observation, Expect::holds, limit, x)
                              : compare::claim_at_least(std::move(name), "training picture", Kind::observation, Expect::holds, limit, x));
  };
  const auto &large = run[0], &small = run[2];
  claim(true, "first attention off the prefix average at initialization, gamma 0.8", 1e-3, small.seen.front().attention_off_average);
  claim(false, "first attention off the prefix average at initialization, gamma 0.3", 0.3, large.seen.front().attention_off_average);
  double early = 0, ratio_small = 0, ratio_large = 0, aligned_large = 0;
  Observation peak;
  double first = std::numeric_limits<double>::quiet_NaN(), last = first;
  for (const auto& o : small.seen) {
    if (o.step <= 300) early = (std::max)(early, o.attention_off_average);
    ratio_small = (std::max)(ratio_small, o.value_ratio);
    if (o.reasoning.loss >= 4.2) continue;
    if (o.aligned_reasoning > peak.aligned_reasoning) peak = o;
    if (o.aligned_reasoning >= 0.65) last = o.step, first = first <= o.step ? first : o.step;
  }
  for (const auto& o : large.seen) {
    ratio_large = (std::max)(ratio_large, o.value_ratio);
    if (o.reasoning.loss < 4.2) aligned_large = (std::max)(aligned_large, o.aligned_reasoning);
  }
  claim(true, "first attention off the prefix average up to step 300, gamma 0.8", 2e-3, early);
  claim(false, "first attention leaves the prefix average in the end, gamma 0.8", 2e-3, small.seen.back().attention_off_average);
  claim(false, "W_V of the first layer: largest s_1/s_2 over training, gamma 0.8", 1.5, ratio_small);
  claim(true, "W_V of the first layer: largest s_1/s_2 over training, gamma 0.3", 1.2, ratio_large);
  claim(false, "W_V's top direction: peak alignment with reasoning anchors while they are learned, gamma 0.8", 0.65, peak.aligned_reasoning);
  claim(false, "W_V's top direction: times that with memory anchors then, gamma 0.8", 1.8, peak.aligned_reasoning / peak.aligned_memory);
  claim(true, "W_V's top direction: peak alignment with reasoning anchors, gamma 0.3", 0.3, aligned_large);
  claim(false, "second attention, last position: weight on the key before the anchors over that on a noise key, gamma 0.8", 2.0,
        small.key_weight / small.noise_weight);
  out.claims.push_back(compare::report_only("first attention replaced by the prefix average: loss on fresh reasoning, gamma 0.8" + suffix, "paper A, figure 6",
                                            Kind::published, small.fresh_reasoning.loss, small.average_attention.loss));
  out.notes.push_back("W_V points at the reasoning anchors (alignment >= 0.65) from step " + text(first) + " to " + text(last) + ", most at step " +
                      text(peak.step) + suffix);
}

}  // namespace

Outcome attention_average(const AnchorRuns& runs) {
  Outcome out;
  for (std::size_t k = 0; k < runs.data.size(); ++k) claim_seed(runs.transformers[k], runs.suffix(k), out);
  io::CsvTable table({"gamma", "seed", "step", "off_average", "value_ratio", "aligned_reasoning", "aligned_memory", "aligned_keys", "value_rank", "embedding_rank"});
  for (const auto& seeds : runs.transformers)
    for (const auto& run : seeds)
      for (const auto& o : run.seen)
        table.add(run.gamma, run.seed, o.step, o.attention_off_average, o.value_ratio, o.aligned_reasoning, o.aligned_memory, o.aligned_keys,
                  o.value_rank, o.embedding_rank);
  out.files.push_back({"attention", table});
  examples::Figure off{"First layer: largest distance of attention from the prefix average", {"step"}, {"max |A - 1/i|", true}, {}, {}};
  examples::Figure rank{"Effective rank of the first layer's W_V", {"step"}, {"effective rank"}, {}, {}};
  const auto curve = [&](examples::Figure& figure, const std::string& label, std::size_t g, int color, auto value) {
    examples::Series s{label, {}, {}, Style::line, color, {}, {}};
    for (const auto& o : runs.transformers[0][g].seen) s.x.push_back(o.step), s.y.push_back(value(o));
    figure.series.push_back(s);
  };
  for (std::size_t g = 0; g < gammas.size(); ++g) {
    curve(off, "gamma " + text(gammas[g]), g, static_cast<int>(g), [](const Observation& o) { return o.attention_off_average; });
    curve(rank, "gamma " + text(gammas[g]), g, static_cast<int>(g), [](const Observation& o) { return o.value_rank; });
  }
  out.files.push_back({"attention_off_average", off});
  out.files.push_back({"value_rank", rank});
  examples::Figure aligned{"Alignment of W_V's top direction with token groups, gamma 0.8", {"step"}, {"mean |cos|", false, 0.0, 1.0}, {}, {}};
  curve(aligned, "reasoning anchors", 2, 0, [](const Observation& o) { return o.aligned_reasoning; });
  curve(aligned, "memory anchors", 2, 1, [](const Observation& o) { return o.aligned_memory; });
  curve(aligned, "keys", 2, 5, [](const Observation& o) { return o.aligned_keys; });
  out.files.push_back({"value_alignment", aligned});
  return out;
}

}  // namespace studies
