// SPDX-License-Identifier: MIT
#include "anchor_runs.hpp"

#include <incipit/measure/alignment.hpp>
#include <incipit/measure/attention.hpp>
#include <incipit/measure/cosine.hpp>
#include <incipit/measure/similarity.hpp>
#include <incipit/model/emb_mlp.hpp>
#include <incipit/probe/ablation.hpp>
#include <incipit/probe/value_flow.hpp>
#include <incipit/theory/label_law.hpp>

namespace studies {

template class Training<Transformer>;

namespace {

data::Examples first_rows(const data::Examples& of, Extent most) {
  std::vector<Extent> rows(static_cast<std::size_t>((std::min)(most, of.size())));
  for (std::size_t n = 0; n < rows.size(); ++n) rows[n] = static_cast<Extent>(n);
  return data::select(of, rows);
}

/// Attention, W_V and embeddings at one step.
void observe_geometry(const AnchorData& data, const Transformer::Parameters& w, const Mat<double>& law, Observation& seen) {
  Transformer::Cache cache;
  const auto some = first_rows(data.set.train, 200);
  Transformer{}.forward(w, some.tokens, cache);
  const auto& attention = cache.blocks[0].attention;
  seen.attention_off_average = measure::prefix_distance(attention.weights, {1, data.task.length}).largest.maxCoeff();
  const Mat<double> embedding = w.embedding.weight.cast<double>();
  const auto mode = measure::leading_mode(w.blocks[0].attention.value.weight.cast<double>());
  seen.value_ratio = number(mode.ratio);
  seen.value_rank = mode.spectrum.effective_rank.value;
  seen.aligned_reasoning = measure::alignment(embedding, ids(data.task.reasoning), mode.input).mean;
  seen.aligned_memory = measure::alignment(embedding, ids(data.task.memory), mode.input).mean;
  seen.aligned_keys = measure::alignment(embedding, ids(data.task.keys), mode.input).mean;
  seen.embedding_rank = measure::spectrum_of(embedding).effective_rank.value;
  const auto reasoning = measure::cosine_matrix(rows_of(embedding, data.task.reasoning)).values;
  seen.reasoning_correlation = number(measure::off_diagonal_correlation(reasoning, law));
  seen.memory_cosine = measure::off_diagonal(measure::cosine_matrix(rows_of(embedding, data.task.memory)).values).mean();
}

/// How far the direction that W_V of the first layer captures at the first reasoning anchor of a sequence spreads.
void observe_carrying(const AnchorData& data, const Transformer::Parameters& w, Observation& seen) {
  Transformer::Cache cache;
  const auto some = first_rows(data.some_reasoning, 200);
  Transformer{}.forward(w, some.tokens, cache);
  std::vector<Extent> sources;
  for (Extent n = 0; n < some.size(); ++n) {
    Extent x = 0;
    while (!data.task.reasoning.contains(some.tokens(n, x))) ++x;
    sources.push_back(x);
  }
  const auto flow = probe::propagation(probe::LayerView<Transformer>(cache, 0), probe::value_path<Transformer>(w, 0), sources);
  double earlier = 0, count = 0, least = std::numeric_limits<double>::infinity();
  for (const auto& at : flow.arrivals) {
    if (at.offset < 0) earlier += at.branch * static_cast<double>(at.count), count += static_cast<double>(at.count);
    if (at.offset >= data.task.q) least = (std::min)(least, at.branch);  // behind the last anchor
  }
  seen.carried_later = least, seen.carried_earlier = earlier / count;
}

/// Where the last position of the second layer looks, and what the first attention is worth.
void observe_end(const AnchorData& data, const Transformer::Parameters& w, TransformerRun& run) {
  const auto& set = data.fresh_reasoning;
  Transformer::Cache cache;
  Transformer{}.forward(w, set.tokens, cache);
  enum Role : Id { noise, key, anchor };
  Mat<Id> roles(set.size(), set.length());
  for (Extent n = 0; n < set.size(); ++n)
    for (Extent x = 0; x < set.length(); ++x) {
      const auto is_anchor = [&](Extent at) { return at < set.length() && data.task.reasoning.contains(set.tokens(n, at)); };
      roles(n, x) = is_anchor(x) ? anchor : is_anchor(x + 1) ? key : noise;
    }
  const auto looks = measure::last_query_by_role(cache.blocks[1].attention.weights, {1, 1}, roles, 3);
  run.key_weight = looks.each(0, key), run.noise_weight = looks.each(0, noise), run.anchor_weight = looks.each(0, anchor);
  Transformer::Workspace workspace;
  const auto cosines = probe::token_cosines(probe::LayerView<Transformer>(cache, 0), ids(data.task.reasoning), data.task.vocabulary());
  run.kept_geometry = number(measure::representational_similarity(cosines.before.values, cosines.after.values).spearman);
  run.average_attention = train::evaluate<Transformer>(probe::with_average_attention<Transformer>(w), set, workspace);
}

}  // namespace

AnchorData::AnchorData(data::AnchorTask which, std::uint64_t seed)
    : task(std::move(which)), mapping(task, RandomStream(seed, "mapping")), set(data::sample(task, mapping, RandomStream(seed, "set"))) {
  memory = set.of(data::Task::memory);
  reasoning = set.of(data::Task::reasoning);
  some_memory = first_rows(memory, 2000);
  some_reasoning = first_rows(reasoning, 2000);
  auto small = task;
  small.samples = 20 * task.all_tuples();
  fresh_reasoning = data::sample(small, mapping, RandomStream(seed, "fresh set")).of(data::Task::reasoning);
}

TransformerRun run_transformer(const AnchorData& data, const RunScale& scale, double gamma, std::uint64_t seed, const Ticker& tick) {
  Training<Transformer> training(data.set.train, scale.sizes(data.task.vocabulary(), data.task.length), scale.rate, gamma, seed);
  const Mat<double> law = theory::label_cosines(theory::reasoning_label_law(data.task));
  TransformerRun run;
  run.gamma = gamma;
  run.seed = seed;
  for (long long k = 0; k <= scale.steps; ++k) {
    if (k % scale.every == 0) {
      Observation seen;
      seen.step = static_cast<double>(k);
      seen.memory = training.score(data.some_memory), seen.reasoning = training.score(data.some_reasoning), seen.held_out = training.score(data.set.held_out);
      observe_geometry(data, training.parameters(), law, seen);
      observe_carrying(data, training.parameters(), seen);
      run.seen.push_back(seen);
      tick();
    }
    if (k < scale.steps) training.step(k);
  }
  run.memory = training.score(data.memory), run.reasoning = training.score(data.reasoning), run.held_out = training.score(data.set.held_out);
  run.fresh_reasoning = training.score(data.fresh_reasoning);
  run.end_embedding = training.parameters().embedding.weight.cast<double>();
  observe_end(data, training.parameters(), run);
  return run;
}

EmbMlpRun run_emb_mlp(const AnchorData& data, double gamma, std::uint64_t seed, long long steps, const Ticker& tick) {
  using Model = model::EmbMlp<float>;
  Model::Parameters start(data.task.vocabulary(), 200, 200);
  init::initialize(start, init::Gamma{gamma}, seed);
  train::Trainer<Model, optim::Adam<float>> trainer(start, optim::Adam<float>(start.flat().size(), {.step = 1e-3, .weight_decay = 0.01}));
  train::Minibatches batches(data.set.train, 100, RandomStream(seed, "batches"));
  const auto loss = [&](const data::Examples& set) { return train::evaluate<Model>(trainer.parameters, set, trainer.workspace).loss; };
  EmbMlpRun run;
  run.gamma = gamma;
  for (long long k = 0; k <= steps; ++k) {
    if (k % 100 == 0) {
      run.step.push_back(static_cast<double>(k));
      run.memory.push_back(loss(data.some_memory)), run.reasoning.push_back(loss(data.some_reasoning));
      run.held_out.push_back(loss(data.set.held_out)), run.fresh_reasoning.push_back(loss(data.fresh_reasoning));
      tick();
    }
    if (k < steps) trainer.step(batches(k));
  }
  run.end_embedding = trainer.parameters.embedding.cast<double>();
  return run;
}

AnchorRuns::AnchorRuns(const RunScale& s, std::uint64_t first_seed) : scale(s), first_seed_(first_seed) {
  auto task = data::AnchorTask::paper();
  task.samples = scale.samples;
  for (int k = 0; k < scale.seeds; ++k) data.emplace_back(task, first_seed + static_cast<std::uint64_t>(k));
  transformers.resize(data.size());
  if (!scale.large) return;
  task.samples = 200000;
  large.emplace(task, first_seed);
}

std::vector<Part> AnchorRuns::parts() {
  std::vector<Part> all;
  constexpr long long emb_mlp_steps = 4000;
  for (std::size_t g = 0; g < gammas.size(); ++g)
    all.push_back({{}, emb_mlp_steps / 100 + 1, [this, g](const Ticker& tick) {
                     emb_mlps[g] = run_emb_mlp(data[0], gammas[g], first_seed_, emb_mlp_steps, tick);
                     return Outcome{};
                   }});
  for (std::size_t k = 0; k < data.size(); ++k)
    for (std::size_t g = 0; g < gammas.size(); ++g)
      all.push_back({{}, scale.steps / scale.every + 1, [this, k, g](const Ticker& tick) {
                       transformers[k][g] = run_transformer(data[k], scale, gammas[g], first_seed_ + k, tick);
                       return Outcome{};
                     }});
  if (large) {
    RunScale size = scale;
    size.samples = 200000, size.width = size.key = 128, size.hidden = 512, size.steps = 13000, size.every = 250, size.rate = 2e-4;
    for (const std::size_t g : {std::size_t{0}, std::size_t{1}})
      all.push_back({{}, size.steps / size.every + 1, [this, size, g](const Ticker& tick) {
                       large_runs[g] = run_transformer(*large, size, g == 0 ? 0.3 : 0.8, first_seed_, tick);
                       return Outcome{};
                     }});
  }
  return all;
}

}  // namespace studies
