// SPDX-License-Identifier: MIT
#include "statements.hpp"

#include <incipit/data/graph_query.hpp>
#include <incipit/data/statistics.hpp>
#include <incipit/measure/similarity.hpp>
#include <incipit/probe/ablation.hpp>

namespace studies {
namespace {

Claim statement(bool most, std::string name, Expect expect, double limit, double x) {
  name = std::string("statement: ").append(name);
  return most ? compare::claim_at_most(std::move(name), "paper A", Kind::published, expect, limit, x)
              : compare::claim_at_least(std::move(name), "paper A", Kind::published, expect, limit, x);
}

template <class Model>
Training<Model> trained(const data::Examples& set, const model::DecoderSizes& sizes, const RunScale& scale, double gamma, std::uint64_t seed, const Ticker& tick) {
  Training<Model> training(set, sizes, scale.rate, gamma, seed);
  for (long long k = 0; k < scale.steps; ++k) {
    if (k % scale.every == 0) tick();
    training.step(k);
  }
  return training;
}

template <model::DecoderConfig S>
EndLosses end_losses(const AnchorData& data, const RunScale& scale, double gamma, std::uint64_t seed, const Ticker& tick) {
  auto sizes = scale.sizes(data.task.vocabulary(), data.task.length);
  if (S.head == model::Head::none) sizes.width = sizes.vocab;  // the stream is the logits
  auto training = trained<model::Decoder<float, S, nn::Relu>>(data.set.train, sizes, scale, gamma, seed, tick);
  return {training.score(data.memory).loss, training.score(data.reasoning).loss, training.score(data.set.held_out).loss};
}

/// Share of right answers on fresh sequences, after training on a set as large as that of the anchors.
double graph_accuracy(data::GraphSource source, const RunScale& scale, double gamma, std::uint64_t seed, const Ticker& tick) {
  const data::GraphQueries task{.source = source};
  const RandomStream graph(seed, "graph");
  const auto set = data::sample(task, scale.samples, graph, RandomStream(seed, "graph set"));
  const auto fresh = data::sample(task, 2000, graph, RandomStream(seed, "fresh graph set"));
  auto training = trained<Transformer>(set, scale.sizes(task.vocab, task.length()), scale, gamma, seed, tick);
  return training.score(fresh).accuracy;
}

/// Mean variance of the labels behind the tokens of a range.
double label_variance(const Mat<double>& law) {
  double sum = 0;
  for (Extent s = 0; s < law.rows(); ++s) {
    double mean = 0, square = 0;
    for (Extent i = 0; i < law.cols(); ++i) {
      const double x = static_cast<double>(i);
      mean += law(s, i) * x, square += law(s, i) * x * x;
    }
    sum += square - mean * mean;
  }
  return sum / static_cast<double>(law.rows());
}

/// Standard deviation of the cosines between two rows, over all pairs.
double spread(const Mat<double>& rows) {
  const Row<double> cosines = measure::off_diagonal(measure::cosine_matrix(rows).values);
  return std::sqrt((cosines.array() - cosines.mean()).square().mean());
}

void gradients(const AnchorData& data, Outcome& out) {
  const auto& task = data.task;
  const auto law = data::population_statistics(task, data.mapping);
  const Mat<double> memory = rows_of(law.correlation, task.memory), reasoning = rows_of(law.correlation, task.reasoning);
  out.claims.push_back(statement(true, "memory anchors have the smaller label variance", Expect::report,
                                 label_variance(rows_of(law.label_law, task.reasoning)), label_variance(rows_of(law.label_law, task.memory))));
  out.claims.push_back(statement(false, "reasoning anchors have the larger gradient, |C_s|", Expect::fails, memory.rowwise().norm().mean(),
                                 reasoning.rowwise().norm().mean()));
  out.claims.push_back(compare::claim_at_least("statement, as theory has it: cosines between gradients of reasoning anchors are spread more than those of memory anchors", "ours",
                                               Kind::ours, Expect::holds, spread(memory), spread(reasoning)));
}

}  // namespace

StatementRuns::StatementRuns(const AnchorRuns& shared, std::uint64_t seed) : shared_(shared), seed_(seed) {}

EndLosses StatementRuns::full(std::size_t g) const {
  const auto& run = shared_.transformers[0][g];
  return {run.memory.loss, run.reasoning.loss, run.held_out.loss};
}

std::vector<Part> StatementRuns::parts() {
  constexpr auto config = any_depth();
  using Run = EndLosses (*)(const AnchorData&, const RunScale&, double, std::uint64_t, const Ticker&);
  constexpr std::array<Run, left_out_.size()> runs{
      end_losses<probe::without_norms(config)>, end_losses<probe::without_head(config)>,
      end_losses<probe::without_head(probe::without_norms(config))>, end_losses<probe::without_positions(config)>};
  const std::int64_t units = (shared_.scale.steps + shared_.scale.every - 1) / shared_.scale.every;
  std::vector<Part> all;
  all.push_back({{}, 1, [this](const Ticker& tick) {
                   auto task = data::AnchorTask::paper();
                   task.length = task.q + 1;
                   const AnchorData data(task, seed_);
                   const EmbMlpRun run = run_emb_mlp(data, 0.8, seed_, 4000, [] {});
                   noise_free_ = run.end_embedding;
                   tick();
                   return Outcome{};
                 }});
  for (std::size_t source = 0; source < graph_accuracy_.size(); ++source)
    for (std::size_t g = 0; g < gammas.size(); ++g)
      all.push_back({{}, units, [this, source, g](const Ticker& tick) {
                       graph_accuracy_[source][g] = graph_accuracy(source == 0 ? data::GraphSource::own : data::GraphSource::shared, shared_.scale,
                                                                   gammas[g], seed_, tick);
                       return Outcome{};
                     }});
  for (std::size_t v = 0; v < runs.size(); ++v)
    for (std::size_t g = 0; g < 2; ++g)
      all.push_back({{}, units, [this, v, g, run = runs[v]](const Ticker& tick) {
                       without_[v][g] = run(shared_.data[0], shared_.scale, g == 0 ? 0.3 : 0.8, seed_, tick);
                       return Outcome{};
                     }});
  return all;
}

Outcome StatementRuns::conclude() const {
  Outcome out;
  const auto& runs = shared_.transformers[0];
  const auto say = [&](bool most, std::string name, Expect expect, double limit, double x) {
    out.claims.push_back(statement(most, std::move(name), expect, limit, x));
  };
  gradients(shared_.data[0], out);

  const auto bias = [](const EndLosses& large, const EndLosses& small) { return large.held_out - small.held_out; };
  for (std::size_t v = 0; v < without_.size(); ++v) {
    const auto& [large, small] = without_[v];
    const std::string part = std::string("without ").append(left_out_[v]).append(": ");
    say(false, part + "held-out loss at gamma 0.3 above that at 0.8 by", Expect::report, 2.5, bias(large, small));
    say(false, part + "memory loss above reasoning loss at gamma 0.8 by", Expect::report, 1.8, small.memory - small.reasoning);
  }

  const TransformerRun& small = runs[2];
  say(false, "attention only amplifies what the embedding has: rank correlation of reasoning anchors' cosines before and after it", Expect::report, 0.9,
      small.kept_geometry);
  const auto anchors = ids(shared_.data[0].task.reasoning);
  const auto noise_free = measure::compare_geometry(small.end_embedding, noise_free_, std::span<const Id>(anchors));
  say(false, "the transformer's space is that of Emb-MLP without noise: rank correlation of reasoning anchors' cosines", Expect::report, 0.9,
      number(noise_free.similarity.spearman));
  say(true, "the transformer's space is that of Emb-MLP without noise: mean difference of profiles", Expect::report, 0.1, number(noise_free.profiles.mean));
  const auto peak = std::max_element(small.seen.begin(), small.seen.end(), [](const Observation& a, const Observation& b) {
    return (a.reasoning.loss < 4.2 ? a.aligned_reasoning : 0) < (b.reasoning.loss < 4.2 ? b.aligned_reasoning : 0);
  });
  say(false, "what W_V captures of reasoning anchors reaches all later tokens: least of them above the mean of earlier ones, factor", Expect::report, 1.0,
      peak->carried_later / peak->carried_earlier);

  const auto &loose = runs[0].seen.back(), &tight = runs[2].seen.back();
  say(true, "condensation lowers the effective rank of W_V, gamma 0.8 below 0.3", Expect::holds, loose.value_rank, tight.value_rank);
  say(true, "condensation lowers the effective rank of the embedding, gamma 0.8 below 0.3", Expect::holds, loose.embedding_rank, tight.embedding_rank);
  say(true, "and with it memory: accuracy at gamma 0.8 below that at 0.3", Expect::report, runs[0].memory.accuracy, runs[2].memory.accuracy);

  const auto mean_loss = [](const TransformerRun& run, auto loss) {
    double sum = 0;
    for (const auto& seen : run.seen) sum += loss(seen);
    return sum / static_cast<double>(run.seen.size());
  };
  const auto memory_loss = [](const Observation& o) { return o.memory.loss; };
  const double at_large = mean_loss(runs[0], memory_loss);
  say(true, "at gamma 0.3 memory falls faster than reasoning: its mean loss over the run below that of reasoning", Expect::report,
      mean_loss(runs[0], [](const Observation& o) { return o.reasoning.loss; }), at_large);
  say(true, "at gamma 0.3 memory falls faster than at 0.8: mean loss over the run below that there", Expect::report, mean_loss(runs[2], memory_loss), at_large);

  const auto& [own, common] = graph_accuracy_;
  say(false, "a graph of its own for every query favours small initialization: accuracy on fresh ones at gamma 0.8 above that at 0.3", Expect::report, own[0], own[2]);
  io::CsvTable table({"graph", "gamma", "accuracy"});
  for (std::size_t g = 0; g < gammas.size(); ++g) table.add("own", gammas[g], own[g]), table.add("shared", gammas[g], common[g]);
  out.files.push_back({"graph_queries", table});
  std::string note("queries with a graph, accuracy on fresh ones at gamma 0.3, 0.5, 0.8: own graph ");
  const auto list = [](const std::array<double, 3>& x) { return std::string(text(x[0])).append(", ").append(text(x[1])).append(", ").append(text(x[2])); };
  out.notes.push_back(note.append(list(own)).append("; one graph for all ").append(list(common)));
  return out;
}

}  // namespace studies
