// SPDX-License-Identifier: MIT
#include "studies.hpp"

#include <incipit/linalg/pca.hpp>
#include <incipit/measure/similarity.hpp>
#include <incipit/theory/label_law.hpp>

namespace studies {
namespace {

void claim_seed(const std::array<TransformerRun, 3>& run, const std::string& suffix, Outcome& out) {
  const auto at = [](const TransformerRun& r, double step) {
    for (const auto& seen : r.seen)
      if (seen.step >= step) return seen;
    return r.seen.back();
  };
  const auto at_most = [&](std::string name, double limit, double x) {
    out.claims.push_back(compare::claim_at_most(std::move(name) + suffix, "training picture", Kind::observation, Expect::holds, limit, x));
  };
  out.claims.push_back(compare::claim_at_least("transformer, gamma 0.8: correlation of reasoning cosines with the label law, at the end" + suffix,
                                               "training picture", Kind::observation, Expect::holds, 0.9, run[2].seen.back().reasoning_correlation));
  at_most("transformer, gamma 0.3: correlation of reasoning cosines with the label law, at the end", 0.6, run[0].seen.back().reasoning_correlation);
  at_most("transformer, gamma 0.8: correlation of reasoning cosines with the label law, step 400", 0.39, at(run[2], 400).reasoning_correlation);
  out.claims.push_back(compare::claim_at_least("transformer, gamma 0.8: memory anchors are aligned (they are at N = 200 000)" + suffix, "paper A, figure 4",
                                               Kind::published, Expect::fails, 0.8, run[2].seen.back().memory_cosine));
}

}  // namespace

Outcome embedding_geometry(const AnchorRuns& runs) {
  Outcome out;
  for (std::size_t k = 0; k < runs.data.size(); ++k) claim_seed(runs.transformers[k], runs.suffix(k), out);
  const auto& task = runs.data[0].task;
  const Mat<double> law = theory::label_cosines(theory::reasoning_label_law(task));
  const Mat<double> transformer = runs.transformers[0][2].end_embedding;
  const auto anchors = ids(task.reasoning);
  const auto both = measure::compare_geometry(transformer, runs.emb_mlps[2].end_embedding, std::span<const Id>(anchors));
  out.claims.push_back(compare::report_only("geometry of reasoning anchors, transformer against Emb-MLP on the same sequences: rank correlation of cosines",
                                            "paper A, figure 5", Kind::published, 1.0, number(both.similarity.spearman)));
  out.claims.push_back(compare::report_only("geometry of reasoning anchors, transformer against Emb-MLP: mean difference of profiles", "paper A, figure 5",
                                            Kind::published, 0.0, number(both.profiles.mean)));

  const auto cosines = [&](const Mat<double>& table) { return measure::cosine_matrix(Mat<double>(table.middleRows(task.memory.first, task.memory.size() + task.reasoning.size()))).values; };
  examples::HeatMaps maps{"Cosines between anchor embeddings of the transformer (1-10 memory, 11-20 reasoning)", "anchor", {}, 1};
  for (std::size_t g = 0; g < gammas.size(); ++g) maps.panels.push_back({"gamma " + text(gammas[g]), cosines(runs.transformers[0][g].end_embedding)});
  maps.panels.push_back({"Emb-MLP, gamma 0.8", cosines(runs.emb_mlps[2].end_embedding)});
  for (std::size_t g = 0; g < gammas.size(); ++g)
    out.files.push_back({"transformer_embedding_gamma_" + std::to_string(static_cast<int>(10 * gammas[g] + 0.5)), runs.transformers[0][g].end_embedding});
  out.files.push_back({"transformer_cosines", maps});

  examples::Figure profile{"Cosine between reasoning anchors against their distance, transformer", {"|s - t|"}, {"mean cosine"}, {}, {}};
  const auto add = [&](const std::string& label, const Mat<double>& matrix, Style style, int color) {
    examples::Series s{label, {}, {}, style, color, {}, {}};
    for (const auto& point : measure::distance_profile(matrix)) s.x.push_back(static_cast<double>(point.distance)), s.y.push_back(point.mean);
    profile.series.push_back(s);
  };
  add("label law", law, Style::line, 7);
  for (std::size_t g = 0; g < gammas.size(); ++g)
    add("gamma " + text(gammas[g]), measure::cosine_matrix(rows_of(runs.transformers[0][g].end_embedding, task.reasoning)).values, Style::points, static_cast<int>(g));
  out.files.push_back({"transformer_cosine_profile", profile});

  examples::Figure plane{"Principal components of the embeddings, transformer, gamma 0.8", {"first"}, {"second"}, {}, {}};
  const auto components = linalg::pca(Mat<double>(transformer.middleRows(1, 120)), 2);
  const auto group = [&](const std::string& label, data::IdRange range, int color) {
    examples::Series s{label, {}, {}, Style::points, color, {}, {}};
    for (Id t = range.first; t <= range.last; ++t) s.x.push_back(components.scores(t - 1, 0)), s.y.push_back(components.scores(t - 1, 1));
    plane.series.push_back(s);
  };
  group("keys", task.keys, 5), group("memory anchors", task.memory, 1), group("reasoning anchors", task.reasoning, 0);
  out.files.push_back({"transformer_pca", plane});
  return out;
}

}  // namespace studies
