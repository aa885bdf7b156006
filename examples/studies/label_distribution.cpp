// SPDX-License-Identifier: MIT
#include "label_distribution.hpp"

namespace studies {
namespace {

constexpr double gamma = 0.8;

data::AnchorTask task_of(data::MemoryRule rule, Extent samples) {
  auto task = data::AnchorTask::paper();
  task.rule = rule;
  task.samples = samples / task.all_tuples() * task.all_tuples();
  return task;
}

/// Mean probability that the model gives, on the memory sequences of each group, to labels inside the group's range.
std::vector<double> mass_inside(const AnchorData& data, const Transformer::Parameters& w, Transformer::Workspace& ws) {
  const auto& task = data.task;
  std::vector<double> mass(static_cast<std::size_t>(task.group_count()), 0.0), count(mass.size(), 0.0);
  const auto& set = data.some_memory;
  Transformer{}.for_each_logits(w, set.tokens, ws, [&](Extent n, const auto& logits) {
    Row<double> p = logits.template cast<double>();
    p = (p.array() - p.maxCoeff()).exp();
    p /= p.sum();
    for (Extent g = 0; g < task.group_count(); ++g) {
      const auto anchors = task.group(g);
      bool here = false;
      for (Extent x = 0; x < set.length(); ++x) here = here || anchors.contains(set.tokens(n, x));
      if (!here) continue;
      const std::vector<Id> tuple(static_cast<std::size_t>(task.q), anchors.first);
      const auto range = task.memory_labels(task.keys.first, tuple);
      mass[static_cast<std::size_t>(g)] += p.segment(range.first, range.size()).sum();
      count[static_cast<std::size_t>(g)] += 1;
    }
  });
  for (std::size_t g = 0; g < mass.size(); ++g) mass[g] /= count[g];
  return mass;
}

}  // namespace

LabelRuns::LabelRuns(const RunScale& s, std::uint64_t seed)
    : scale(s),
      seed_(seed),
      around_sum(task_of(data::MemoryRule::around_sum, s.samples), seed),
      groups(task_of(data::MemoryRule::label_range_groups, s.samples), seed) {}

std::vector<Part> LabelRuns::parts() {
  const std::int64_t units = scale.steps / scale.every + 1;
  return {{{}, units, [this](const Ticker& tick) {
             around_sum_run = run_transformer(around_sum, scale, gamma, seed_, tick);
             return Outcome{};
           }},
          {{}, units, [this](const Ticker& tick) {
             run_groups(tick);
             return Outcome{};
           }}};
}

void LabelRuns::run_groups(const Ticker& tick) {
  Training<Transformer> training(groups.set.train, scale.sizes(groups.task.vocabulary(), groups.task.length), scale.rate, gamma, seed_);
  Transformer::Workspace workspace;
  for (long long k = 0; k <= scale.steps; ++k) {
    if (k % scale.every == 0) {
      group_steps.push_back({static_cast<double>(k), training.score(groups.some_memory),
                             mass_inside(groups, training.parameters(), workspace)});
      tick();
    }
    if (k < scale.steps) training.step(k);
  }
}

Outcome label_distribution(const LabelRuns& runs, const TransformerRun& uniform) {
  Outcome out;
  const auto memory_at_end = [](const TransformerRun& run) { return run.seen.back().memory.loss; };
  out.claims.push_back(compare::claim_at_most("memory loss under F_mem2, gamma 0.8, at the end, below that under F_mem1", "paper A, figure 8", Kind::published,
                                              Expect::holds, memory_at_end(uniform), memory_at_end(runs.around_sum_run)));
  // Early: every group's outputs lie in its range, and the labels themselves are not yet known.
  double early = std::numeric_limits<double>::quiet_NaN(), inside = early, accuracy = early;
  for (const auto& o : runs.group_steps) {
    const double least = *std::min_element(o.mass.begin(), o.mass.end());
    if (least < 0.8) continue;
    early = o.step, inside = least, accuracy = o.memory.accuracy;
    break;
  }
  out.claims.push_back(compare::claim_at_least("label-range groups, gamma 0.8: outputs inside the range of their group, least group", "paper A, figure 8",
                                               Kind::published, Expect::holds, 0.8, inside));
  out.claims.push_back(compare::claim_at_most("label-range groups, gamma 0.8: memory accuracy when they first are", "paper A, figure 8", Kind::published,
                                              Expect::holds, 0.2, accuracy));
  out.notes.push_back("outputs of the four label-range groups lie inside their ranges from step " + text(early));
  io::CsvTable table({"step", "memory_loss", "memory_accuracy", "inside_1", "inside_2", "inside_3", "inside_4"});
  examples::Figure figure{"Outputs inside the label range of their group, gamma 0.8", {"step"}, {"probability", false, 0.0, 1.0}, {}, {}};
  for (std::size_t g = 0; g < 4; ++g) figure.series.push_back({std::string("group ").append(std::to_string(g + 1)), {}, {}, Style::line, static_cast<int>(g), {}, {}});
  figure.series.push_back({"memory accuracy", {}, {}, Style::dashed, 7, {}, {}});
  for (const auto& o : runs.group_steps) {
    table.add(o.step, o.memory.loss, o.memory.accuracy, o.mass[0], o.mass[1], o.mass[2], o.mass[3]);
    for (std::size_t g = 0; g < 4; ++g) figure.series[g].x.push_back(o.step), figure.series[g].y.push_back(o.mass[g]);
    figure.series[4].x.push_back(o.step), figure.series[4].y.push_back(o.memory.accuracy);
  }
  out.files.push_back({"label_groups", table});
  out.files.push_back({"label_groups", figure});
  examples::Figure speed{"Memory loss of two kinds of memory, gamma 0.8", {"step"}, {"loss (nats)"}, {}, {}};
  for (const auto& [run, label] : {std::pair{&uniform, "F_mem1: one law for all"}, std::pair{&runs.around_sum_run, "F_mem2: a law for every tuple"}}) {
    examples::Series s{label, {}, {}, Style::line, -1, {}, {}};
    for (const auto& o : run->seen) s.x.push_back(o.step), s.y.push_back(o.memory.loss);
    speed.series.push_back(s);
  }
  out.files.push_back({"memory_speed", speed});
  return out;
}

}  // namespace studies
