// SPDX-License-Identifier: MIT
// Training by AdamW and by gradient descent at gamma 0.3, 0.5, 0.8: what is learned first, and what embeddings look like.
#include "parts.hpp"

#include <incipit/optim/adam.hpp>
#include <incipit/optim/gradient_descent.hpp>
#include <incipit/theory/label_law.hpp>
#include <incipit/theory/memory_floor.hpp>

namespace verify {
namespace {

constexpr std::array<double, 3> training_gammas{0.3, 0.5, 0.8};

/// Losses of one run on the anchor data, by task, and embedding cosines of all anchors at one step.
struct AnchorCurve {
  double gamma;
  std::vector<double> step, memory, reasoning, held_out;
  Mat<double> cosines;  // of the compared tokens, at the step asked for

  /// Losses at the first evaluation at which the reasoning loss is at most `level`; NaN if it never is.
  std::array<double, 3> when_reasoning_reaches(double level) const {
    for (std::size_t i = 0; i < step.size(); ++i)
      if (reasoning[i] <= level) return {reasoning[i], memory[i], held_out[i]};
    const double missing = std::numeric_limits<double>::quiet_NaN();
    return {missing, missing, missing};
  }
};

/// Trains in float on shuffled batches, evaluates by task every `every` steps, records cosines at `cosines_at`.
template <class Optimizer>
AnchorCurve train_on_anchors(const Subject& subject, const Scale& scale, double gamma, std::uint64_t seed, Optimizer optimizer,
                             Extent batch, long long steps, long long every, long long cosines_at, const Ticker& tick) {
  using Model = model::EmbMlp<float>;
  const auto& set = subject.anchors->set;
  const auto memory = set.of(data::Task::memory), reasoning = set.of(data::Task::reasoning);
  train::Trainer<Model, Optimizer> trainer(
      initial<Model>(subject.vocab(), scale.train_width, scale.train_hidden, gamma, seed), std::move(optimizer));
  train::Minibatches batches(set.train, batch, RandomStream(seed, "batches"));
  AnchorCurve curve{gamma, {}, {}, {}, {}, {}};
  for (long long k = 0; k <= steps; ++k) {
    if (k == cosines_at)
      curve.cosines = cosines_of(subject, trainer.parameters.embedding.template cast<double>());
    if (k % every == 0) {
      const auto loss = [&](const data::Examples& of) { return train::evaluate<Model>(trainer.parameters, of, trainer.workspace).loss; };
      curve.step.push_back(static_cast<double>(k));
      curve.memory.push_back(loss(memory));
      curve.reasoning.push_back(loss(reasoning));
      curve.held_out.push_back(loss(set.held_out));
      tick();
    }
    if (k < steps) trainer.step(batches(k));
  }
  return curve;
}

/// What the label law says of the anchors' cosines, and what was found.
struct AnchorGeometry {
  double correlation, reasoning_correlation, reasoning_error, memory_cosine;

  AnchorGeometry(const AnchorTruth& truth, const Mat<double>& law, const Mat<double>& cosines) {
    const Extent memory = truth.task.memory.size(), reasoning = truth.task.reasoning.size();
    const Mat<double> found = cosines.bottomRightCorner(reasoning, reasoning), said = law.bottomRightCorner(reasoning, reasoning);
    const auto number = [](const measure::Defined<double>& x) { return x.defined ? x.value : std::numeric_limits<double>::quiet_NaN(); };
    correlation = number(measure::off_diagonal_correlation(cosines, law));
    reasoning_correlation = number(measure::off_diagonal_correlation(found, said));
    reasoning_error = number(measure::off_diagonal_mean_error(found, said));
    memory_cosine = measure::off_diagonal(Mat<double>(cosines.topLeftCorner(memory, memory))).mean();
  }
};

void claim_adamw(Outcome& out, const AnchorTruth& truth, const Mat<double>& law, const std::array<AnchorCurve, 3>& runs, const std::string& seed) {
  const auto at_most = [&](std::string name, double limit, double x) {
    out.claims.push_back(compare::claim_at_most(std::move(name) + seed, "training picture", Kind::observation, Expect::holds, limit, x));
  };
  const auto at_least = [&](std::string name, double limit, double x) {
    out.claims.push_back(compare::claim_at_least(std::move(name) + seed, "training picture", Kind::observation, Expect::holds, limit, x));
  };
  std::array<std::array<double, 3>, 3> at_one{};
  for (std::size_t i = 0; i < runs.size(); ++i) at_one[i] = runs[i].when_reasoning_reaches(1.0);
  at_most("AdamW, gamma 0.8: held-out loss when reasoning reaches 1.0", 1.6, at_one[2][2]);
  at_least("AdamW, gamma 0.8: memory loss when reasoning reaches 1.0", 4.3, at_one[2][1]);
  at_least("AdamW, gamma 0.3: held-out loss when reasoning reaches 1.0", 2.3, at_one[0][2]);
  at_most("AdamW, gamma 0.3: memory loss when reasoning reaches 1.0", 4.1, at_one[0][1]);
  at_least("AdamW: held-out loss falls with gamma, smallest gap", 0.0, (std::min)(at_one[0][2] - at_one[1][2], at_one[1][2] - at_one[2][2]));
  at_least("AdamW: memory loss rises with gamma, smallest gap", 0.0, (std::min)(at_one[1][1] - at_one[0][1], at_one[2][1] - at_one[1][1]));
  const AnchorGeometry small(truth, law, runs[2].cosines), large(truth, law, runs[0].cosines);
  at_least("AdamW, gamma 0.8: correlation of reasoning cosines with the label law", 0.95, small.reasoning_correlation);
  at_least("AdamW, gamma 0.8: mean memory cosine", 0.85, small.memory_cosine);
  at_most("AdamW, gamma 0.3: correlation of reasoning cosines with the label law", 0.5, large.reasoning_correlation);
  at_most("AdamW, gamma 0.3: mean memory cosine", 0.25, large.memory_cosine);
}

void claim_descent(Outcome& out, const AnchorTruth& truth, const Mat<double>& law, const std::array<AnchorCurve, 3>& runs, const std::string& seed) {
  const AnchorGeometry small(truth, law, runs[2].cosines), large(truth, law, runs[0].cosines);
  out.claims.push_back(compare::claim_at_most("descent, gamma 0.8: mean error of reasoning cosines against the label law" + seed, "training picture", Kind::observation,
                                              Expect::holds, 0.08, small.reasoning_error));
  out.claims.push_back(compare::claim_at_least("descent, gamma 0.8: correlation of all anchor cosines with the label law" + seed, "training picture",
                                               Kind::observation, Expect::holds, 0.98, small.correlation));
  out.claims.push_back(compare::report_only("descent, gamma 0.3: correlation of all anchor cosines with the label law" + seed, "training picture", Kind::observation,
                                            small.correlation, large.correlation));
}

examples::Figure loss_figure(const std::string& title, const std::array<AnchorCurve, 3>& runs, double floor) {
  examples::Figure figure{title, {"step"}, {"loss (nats)", false, 0.0, 6.0}, {}, {{"floor of memory", floor}}};
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    const auto style = i == 0 ? examples::Style::dashed : examples::Style::line;
    const std::string gamma = ", gamma " + text(runs[i].gamma);
    figure.series.push_back({"memory" + gamma, runs[i].step, runs[i].memory, style, 1});
    figure.series.push_back({"reasoning" + gamma, runs[i].step, runs[i].reasoning, style, 0});
    figure.series.push_back({"held-out reasoning" + gamma, runs[i].step, runs[i].held_out, style, 2});
  }
  return figure;
}

void geometry_files(Outcome& out, const AnchorTruth& truth, const Mat<double>& law, const std::array<AnchorCurve, 3>& adam,
                           const std::array<AnchorCurve, 3>& descent) {
  out.files.push_back({"anchor_cosines_predicted", law});
  out.files.push_back({"anchor_cosines_descent", descent[2].cosines});
  out.files.push_back({"anchor_cosines_adamw", adam[2].cosines});
  out.files.push_back({"anchor_cosines", examples::HeatMaps{"Cosines between anchor embeddings (1-10 memory, 11-20 reasoning)", "anchor",
                                                            {{"predicted by the label law", law},
                                                             {"descent, gamma 0.8", descent[2].cosines},
                                                             {"AdamW, gamma 0.8", adam[2].cosines},
                                                             {"AdamW, gamma 0.3", adam[0].cosines}}, 1}});
  const Extent memory = truth.task.memory.size(), n = truth.task.reasoning.size();
  const auto profile = [&](const std::string& label, const Mat<double>& cosines, examples::Style style, int color) {
    examples::Series s{label, {}, {}, style, color};
    for (const auto& point : measure::distance_profile(Mat<double>(cosines.block(memory, memory, n, n))))
      s.x.push_back(static_cast<double>(point.distance)), s.y.push_back(point.mean);
    return s;
  };
  examples::Figure figure{"Cosine between reasoning anchors against their distance", {"|s - t|"}, {"mean cosine"}, {}, {}};
  figure.series = {profile("predicted", law, examples::Style::line, 7),
                   profile("descent, gamma 0.8", descent[2].cosines, examples::Style::points, 0),
                   profile("AdamW, gamma 0.8", adam[2].cosines, examples::Style::points, 2),
                   profile("AdamW, gamma 0.5", adam[1].cosines, examples::Style::points, 4),
                   profile("AdamW, gamma 0.3", adam[0].cosines, examples::Style::points, 1)};
  out.files.push_back({"cosine_profile", figure});
}

}  // namespace

Part anchor_training(const Subject& subject, const Scale& scale, std::uint64_t seed) {
  const auto& truth = *subject.anchors;
  const Mat<double> law = theory::label_cosines(subject.rows(subject.statistics.label_law, subject.compared));
  constexpr long long steps = 4000, every = 50, descent_steps = 480;
  Part part;
  for (const Extent d : {Extent{1}, Extent{3}, Extent{5}, Extent{9}}) {
    const auto profile = measure::distance_profile(Mat<double>(law.bottomRightCorner(truth.task.reasoning.size(), truth.task.reasoning.size())));
    part.predictions.push_back({"label law: mean cosine of reasoning anchors at distance " + std::to_string(d),
                                compare::short_number(profile[static_cast<std::size_t>(d - 1)].mean, 5)});
  }
  part.units = scale.train_seeds * 3 * (steps / every + 1 + descent_steps / 40 + 1);
  part.run = [&subject, &truth, scale, seed, law](const Ticker& tick) {
    Outcome out;
    for (int k = 0; k < scale.train_seeds; ++k) {
      const std::uint64_t s = seed + static_cast<std::uint64_t>(k);
      const std::string suffix = scale.train_seeds > 1 ? ", seed " + std::to_string(s) : "";
      std::array<AnchorCurve, 3> adam{}, descent{};
      for (std::size_t i = 0; i < training_gammas.size(); ++i) {
        const Extent count = model::EmbMlp<float>::Parameters(subject.vocab(), scale.train_width, scale.train_hidden).flat().size();
        adam[i] = train_on_anchors(subject, scale, training_gammas[i], s, optim::Adam<float>(count, {.step = 1e-3, .weight_decay = 0.01}), 200,
                                   steps, every, 400, tick);
        descent[i] = train_on_anchors(subject, scale, training_gammas[i], s, optim::GradientDescent<float>{StepSize{1.0}}, 1000, descent_steps,
                                      40, descent_steps, tick);
      }
      claim_adamw(out, truth, law, adam, suffix);
      claim_descent(out, truth, law, descent, suffix);
      if (k > 0) continue;
      const double floor = theory::realised_memory_floor(truth.task, truth.mapping).loss;
      io::CsvTable table({"optimizer", "gamma", "step", "memory", "reasoning", "held_out"});
      const auto rows = [&](const char* optimizer, const AnchorCurve& curve) {
        for (std::size_t n = 0; n < curve.step.size(); ++n)
          table.add(optimizer, curve.gamma, curve.step[n], curve.memory[n], curve.reasoning[n], curve.held_out[n]);
      };
      for (const auto& curve : adam) rows("adamw", curve);
      for (const auto& curve : descent) rows("descent", curve);
      out.files.push_back({"losses", table});
      out.files.push_back({"losses", loss_figure("Loss by task, AdamW: small initialization learns reasoning first", adam, floor)});
      geometry_files(out, truth, law, adam, descent);
    }
    return out;
  };
  return part;
}

Part plain_training(const Subject& subject, const Scale& scale, std::uint64_t seed) {
  const double floor = subject.batch.merged().loss_floor();
  double entropy = 0;
  for (const double p : subject.statistics.labels) entropy -= p > 0 ? p * std::log(p) : 0;
  Part part;
  part.predictions.push_back({"floor of the loss for a sum of embeddings", compare::short_number(floor)});
  part.predictions.push_back({"plateau ln D", compare::short_number(std::log(static_cast<double>(subject.vocab())))});
  constexpr long long points = 50;
  part.units = 3 * (points + 1);
  part.run = [&subject, scale, seed, floor, entropy](const Ticker& tick) {
    using Model = model::EmbMlp<float>;
    Outcome out;
    examples::Figure figure{"Loss of Emb-MLP on " + subject.name + ", AdamW", {"step"}, {"loss (nats)"}, {}, {{"floor", floor}}};
    io::CsvTable table({"gamma", "step", "loss", "accuracy"});
    const long long every = (std::max)(scale.text_steps / points, 1LL);
    for (std::size_t i = 0; i < training_gammas.size(); ++i) {
      const auto start = initial<Model>(subject.vocab(), scale.train_width, scale.train_hidden, training_gammas[i], seed);
      train::Trainer<Model, optim::Adam<float>> trainer(start, optim::Adam<float>(start.flat().size(), {.step = 1e-3, .weight_decay = 0.01}));
      train::Minibatches batches(subject.train, (std::min)(Extent{200}, subject.train.size()), RandomStream(seed, "batches"));
      examples::Series curve{"gamma " + text(training_gammas[i]), {}, {}, examples::Style::line, static_cast<int>(i)};
      train::Score score;
      for (long long k = 0; k <= scale.text_steps; ++k) {
        if (k % every == 0) {
          score = train::evaluate<Model>(trainer.parameters, subject.train, trainer.workspace);
          curve.x.push_back(static_cast<double>(k)), curve.y.push_back(score.loss);
          table.add(training_gammas[i], k, score.loss, score.accuracy);
          tick();
        }
        if (k < scale.text_steps) trainer.step(batches(k));
      }
      out.claims.push_back(compare::claim_at_least("floor: loss after " + std::to_string(scale.text_steps) + " steps, gamma " + text(training_gammas[i]),
                                                   "ours, merged inputs", Kind::ours, Expect::holds, floor, score.loss));
      out.claims.push_back(compare::report_only("training: loss against the entropy of the labels, gamma " + text(training_gammas[i]), "counted", Kind::observation,
                                                entropy, score.loss));
      figure.series.push_back(curve);
    }
    out.files.push_back({"losses", table});
    out.files.push_back({"losses", figure});
    return out;
  };
  return part;
}

}  // namespace verify
