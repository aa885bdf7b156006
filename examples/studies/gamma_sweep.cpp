// SPDX-License-Identifier: MIT
#include "studies.hpp"

#include <map>

namespace studies {
namespace {

void at_most(Outcome& out, std::string name, double limit, double x) {
  out.claims.push_back(compare::claim_at_most(std::move(name), "training picture", Kind::observation, Expect::holds, limit, x));
}
void at_least(Outcome& out, std::string name, double limit, double x) {
  out.claims.push_back(compare::claim_at_least(std::move(name), "training picture", Kind::observation, Expect::holds, limit, x));
}

void claim_transformer(const std::array<TransformerRun, 3>& run, const std::string& suffix, Outcome& out) {
  const auto &large = run[0], &middle = run[1], &small = run[2];
  at_least(out, "transformer, gamma 0.8: memory loss above reasoning loss by" + suffix, 1.8, small.memory.loss - small.reasoning.loss);
  at_most(out, "transformer, gamma 0.8: held-out loss" + suffix, 3.0, small.held_out.loss);
  at_least(out, "transformer, gamma 0.8: memory loss above held-out loss by" + suffix, 0.6, small.memory.loss - small.held_out.loss);
  at_most(out, "transformer, gamma 0.3: memory and reasoning loss apart by" + suffix, 1.0, std::abs(large.memory.loss - large.reasoning.loss));
  at_least(out, "transformer, gamma 0.3: held-out loss" + suffix, 5.2, large.held_out.loss);
  double lowest = large.held_out.loss;
  for (const auto& seen : large.seen) lowest = (std::min)(lowest, seen.held_out.loss);
  at_least(out, "transformer, gamma 0.3: lowest held-out loss on the way" + suffix, 4.6, lowest);
  at_most(out, "transformer, gamma 0.3: the larger of memory and reasoning loss" + suffix, 4.2, (std::max)(large.memory.loss, large.reasoning.loss));
  at_least(out, "transformer: held-out loss at gamma 0.3 above that at 0.8 by" + suffix, 2.5, large.held_out.loss - small.held_out.loss);
  at_least(out, "transformer: held-out loss falls with gamma, smallest gap" + suffix, 0.0,
           (std::min)(large.held_out.loss - middle.held_out.loss, middle.held_out.loss - small.held_out.loss));
}

/// Least mean loss on these reasoning sequences of a model that sees a multiset of keys and anchors: it knows the anchors' sum but
/// not which of the keys stands before them, and any place is as likely as another. Entropy of the key's law, nats.
double noise_floor(const AnchorData& data) {
  const auto& set = data.fresh_reasoning;
  double sum = 0;
  for (Extent n = 0; n < set.size(); ++n) {
    std::map<Id, double> count;
    double keys = 0;
    for (Extent x = 0; x < set.length(); ++x)
      if (data.task.keys.contains(set.tokens(n, x))) count[set.tokens(n, x)] += 1, keys += 1;
    for (const auto& [key, c] : count) sum += c / keys * std::log(keys / c);
  }
  return sum / static_cast<double>(set.size());
}

/// Mean of the runs over seeds, with the least and the largest as a band.
template <class Value>
examples::Series band(const AnchorRuns& runs, std::size_t g, const std::string& label, int color, Value value) {
  examples::Series s{label, {}, {}, Style::line, color, {}, {}};
  for (std::size_t i = 0; i < runs.transformers[0][g].seen.size(); ++i) {
    double sum = 0, low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto& run : runs.transformers) {
      const double v = value(run[g].seen[i]);
      sum += v, low = (std::min)(low, v), high = (std::max)(high, v);
    }
    s.x.push_back(runs.transformers[0][g].seen[i].step);
    s.y.push_back(sum / static_cast<double>(runs.transformers.size()));
    if (runs.transformers.size() > 1) s.low.push_back(low), s.high.push_back(high);
  }
  return s;
}

void add_files(const AnchorRuns& runs, double floor, Outcome& out) {
  io::CsvTable table({"model", "gamma", "seed", "step", "memory", "reasoning", "held_out", "memory_accuracy", "reasoning_accuracy", "held_out_accuracy"});
  for (const auto& seeds : runs.transformers)
    for (const auto& run : seeds)
      for (const auto& o : run.seen)
        table.add("transformer", run.gamma, run.seed, o.step, o.memory.loss, o.reasoning.loss, o.held_out.loss, o.memory.accuracy,
                  o.reasoning.accuracy, o.held_out.accuracy);
  out.files.push_back({"transformer_losses", table});
  for (std::size_t g = 0; g < gammas.size(); ++g) {
    const std::string name = "transformer_gamma_" + std::to_string(static_cast<int>(10 * gammas[g] + 0.5));
    examples::Figure loss{"Loss by task, two-layer transformer, gamma " + text(gammas[g]), {"step"}, {"loss (nats)", false, 0.0, 7.0}, {}, {}};
    loss.series = {band(runs, g, "memory", 1, [](const Observation& o) { return o.memory.loss; }),
                   band(runs, g, "reasoning", 0, [](const Observation& o) { return o.reasoning.loss; }),
                   band(runs, g, "held-out reasoning", 2, [](const Observation& o) { return o.held_out.loss; })};
    out.files.push_back({name + "_loss", loss});
    examples::Figure right{"Accuracy by task, two-layer transformer, gamma " + text(gammas[g]), {"step"}, {"accuracy", false, 0.0, 1.0}, {}, {}};
    right.series = {band(runs, g, "memory", 1, [](const Observation& o) { return o.memory.accuracy; }),
                    band(runs, g, "reasoning", 0, [](const Observation& o) { return o.reasoning.accuracy; }),
                    band(runs, g, "held-out reasoning", 2, [](const Observation& o) { return o.held_out.accuracy; })};
    out.files.push_back({name + "_accuracy", right});
  }
  examples::Figure noise{"Emb-MLP on sequences with noise keys: fresh reasoning sequences", {"step"}, {"loss (nats)", false, 0.0, 9.0}, {}, {{"floor of a multiset", floor}}};
  for (std::size_t g = 0; g < gammas.size(); ++g)
    noise.series.push_back({"gamma " + text(gammas[g]), runs.emb_mlps[g].step, runs.emb_mlps[g].fresh_reasoning, Style::line, static_cast<int>(g), {}, {}});
  out.files.push_back({"emb_mlp_noise", noise});
}

}  // namespace

Outcome gamma_sweep(const AnchorRuns& runs) {
  Outcome out;
  for (std::size_t k = 0; k < runs.data.size(); ++k) claim_transformer(runs.transformers[k], runs.suffix(k), out);
  const double floor = noise_floor(runs.data[0]);
  double best = std::numeric_limits<double>::infinity();
  for (const auto& run : runs.emb_mlps)
    for (const double loss : run.fresh_reasoning) best = (std::min)(best, loss);
  out.claims.push_back(compare::claim_at_least("statement: Emb-MLP cannot learn noise sequences: lowest loss on fresh reasoning above the floor of a multiset",
                                               "ours, entropy of the key", Kind::ours, Expect::holds, floor, best));
  for (std::size_t k = 0; k < runs.data.size(); ++k)
    at_least(out, "statement: a transformer can: loss on fresh reasoning below the best Emb-MLP, gamma 0.8, by" + runs.suffix(k), 2.0,
             best - runs.transformers[k][2].fresh_reasoning.loss);
  // With 15 000 samples some runs end just above the floor, some below; with 200 000 it is passed.
  out.claims.push_back(compare::report_only("transformer, gamma 0.8: loss on fresh reasoning sequences against that floor", "paper A, section 3", Kind::published,
                                            floor, runs.transformers[0][2].fresh_reasoning.loss));
  if (runs.large) {  // seen elsewhere with one seed: reasoning 0.48 and 0.49, held-out 1.18 and 0.54, memory anchors aligned at 0.80
    const auto report = [&](std::string name, double seen, double x) {
      out.claims.push_back(compare::report_only("N = 200 000, " + std::move(name), "training picture, one seed", Kind::observation, seen, x));
    };
    report("gamma 0.3: reasoning loss", 0.48, runs.large_runs[0].reasoning.loss), report("gamma 0.8: reasoning loss", 0.49, runs.large_runs[1].reasoning.loss);
    report("gamma 0.3: held-out loss", 1.18, runs.large_runs[0].held_out.loss), report("gamma 0.8: held-out loss", 0.54, runs.large_runs[1].held_out.loss);
    out.claims.push_back(compare::claim_at_most("N = 200 000, gamma 0.8: loss on fresh reasoning sequences goes below the floor of a multiset", "paper A, section 3",
                                                Kind::published, Expect::holds, floor, runs.large_runs[1].fresh_reasoning.loss));
    report("gamma 0.8: mean cosine of memory anchors", 0.80, runs.large_runs[1].seen.back().memory_cosine);
  }
  add_files(runs, floor, out);
  return out;
}

}  // namespace studies
