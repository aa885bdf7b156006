// SPDX-License-Identifier: MIT
// When the model leaves its initial plateau, and where to: gradient descent against the three-layer flow.
#include "parts.hpp"

#include <incipit/compare/run.hpp>
#include <incipit/optim/gradient_descent.hpp>
#include <incipit/theory/three_layer_flow.hpp>

#include <sstream>

namespace verify {
namespace {

using theory::ThreeLayerFlow;
using Model = model::EmbMlp<double>;

constexpr std::array<double, 4> fractions{0.001, 0.002, 0.005, 0.01};
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// A run until a share of ln D is lost.
struct Descent {
  std::vector<double> lost;                        // by step, before the update
  std::array<std::optional<Extent>, 4> steps{};    // first step at which each fraction is lost
  std::optional<LayerMatrices> at_0_2_percent;

  Descent(const Subject& subject, const EscapeSetting& setting, std::uint64_t seed, double until, const Ticker& tick) {
    const double plateau = std::log(static_cast<double>(subject.vocab()));
    train::Trainer<Model, optim::GradientDescent<double>> trainer(
        initial<Model>(subject.vocab(), setting.width, setting.hidden, setting.gamma, seed), {setting.step});
    for (Extent n = 0; n <= setting.limit; ++n) {
      lost.push_back((plateau - trainer.evaluate(subject.batch.tokens(), subject.batch.labels())) / plateau);
      for (std::size_t i = 0; i < fractions.size(); ++i)
        if (!steps[i] && lost.back() >= fractions[i]) {
          steps[i] = n;
          if (i == 1) at_0_2_percent = matrices(trainer.parameters);
        }
      tick();
      if (lost.back() >= until) break;
      trainer.optimizer(trainer.parameters.flat(), trainer.gradient.flat());
    }
  }
};

/// Step at which a share is lost, between two steps by the straight line through the logarithms; NaN if it never is.
double crossing(const std::vector<double>& lost, double share) {
  for (std::size_t n = 1; n < lost.size(); ++n)
    if (lost[n] >= share && lost[n - 1] > 0)
      return static_cast<double>(n) - std::log(lost[n] / share) / std::log(lost[n] / lost[n - 1]);
  return missing;
}

std::vector<double> lost_by_flow(const ThreeLayerFlow& flow, StepSize h, double until, Extent limit) {
  std::vector<double> lost;
  for (auto euler = flow.euler(h);; euler.advance()) {
    lost.push_back(euler.lost());
    if (!(lost.back() < until) || euler.step() == limit) return lost;
  }
}

ThreeLayerFlow flow_of(const Subject& subject, const EscapeSetting& setting, std::uint64_t seed) {
  const auto w = matrices(initial<Model>(subject.vocab(), setting.width, setting.hidden, setting.gamma, seed));
  return {theory::Proposition1(subject.statistics.correlation, subject.train.length()), w};
}

std::string label_of(const EscapeSetting& s) { return "gamma " + text(s.gamma) + ", step " + text(s.step.value); }

double number(const std::optional<Extent>& n) { return n ? static_cast<double>(*n) : missing; }

/// The run next to the flow, step by step, with the assumptions of the flow: says where and why they part.
std::string explanation(const ThreeLayerFlow& flow, const EscapeSetting& setting, const Descent& run) {
  compare::Run steps("share lost, " + label_of(setting));
  auto euler = flow.euler(setting.step);
  for (std::size_t n = 0; n < run.lost.size(); ++n, euler.advance())
    if (run.lost[n] >= 1e-4)  // before, both are rounding and the first order of logits
      steps.add(static_cast<Extent>(n), euler.lost(), run.lost[n], 0.1, flow.assumptions(euler.weights(), setting.step));
  return steps.explain();
}

}  // namespace

EscapeSetting paced(const Subject& subject, EscapeSetting setting, std::uint64_t seed) {
  const double horizon = static_cast<double>(setting.limit) * setting.step.value;
  const auto time = flow_of(subject, setting, seed).escape_times(FlowTime{setting.step.value}, {fractions.front()}, FlowTime{horizon})[0];
  if (time && *time > 0) setting.step.value = (std::min)(setting.step.value, *time / 20);
  return setting;
}

Part escape(const Subject& subject, const EscapeSetting& setting, const std::string& stem, std::uint64_t seed) {
  const ThreeLayerFlow flow = flow_of(subject, setting, seed);
  const auto steps = flow.escape_steps(setting.step, {fractions.begin(), fractions.end()}, setting.limit);
  const auto by_flow = lost_by_flow(flow, setting.step, fractions.back(), setting.limit);
  std::string shown;
  for (const auto& n : steps) shown += (shown.empty() ? "" : ", ") + (n ? std::to_string(*n) : "beyond " + std::to_string(setting.limit));
  Part part;
  part.predictions.push_back({"three-layer flow, " + label_of(setting) + ": 0.1, 0.2, 0.5, 1 % of ln D lost at step", shown});
  add_assumptions(part, flow.assumptions(flow.initial(), setting.step));
  part.units = static_cast<std::int64_t>(by_flow.size());
  part.run = [&subject, setting, stem, seed, flow, steps, by_flow](const Ticker& tick) {
    const Descent run(subject, setting, seed, fractions.back(), tick);
    const std::string label = label_of(setting);
    Outcome out;
    // A user's data may leave the range of the theory long before, or may leave the plateau within a few steps.
    const auto breach = flow.first_breach(setting.step, setting.limit);
    const auto expect = [&](std::size_t i) {
      const bool outside = !steps[i] || (breach && 2 * breach->step < *steps[i]);
      return !subject.anchors && outside ? Expect::report : Expect::holds;
    };
    for (const std::size_t i : {std::size_t{0}, std::size_t{2}, std::size_t{3}})
      out.claims.push_back(compare::claim_relative("escape step, " + text(100 * fractions[i]) + " % lost, " + label,
                                                   "ours, three-layer flow", Kind::ours, expect(i), number(steps[i]),
                                                   number(run.steps[i]), (std::max)(0.03, 1 / number(steps[i]))));
    const double distance = run.at_0_2_percent ? relative_distance(run.at_0_2_percent->embedding,
                                                                   flow.at_step(setting.step, *run.steps[1]).embedding)
                                               : missing;
    out.claims.push_back(error_claim("escape: W_E at 0.2 % lost, " + label, "ours, three-layer flow", Kind::ours, expect(1), distance, 0.015));
    out.notes.push_back(explanation(flow, setting, run));
    io::CsvTable table({"step", "lost_by_descent", "lost_by_flow"});
    examples::Series line{"three-layer flow, same step", {}, {}, examples::Style::line, 0};
    examples::Series points{"gradient descent", {}, {}, examples::Style::points, 1};
    for (std::size_t n = 0; n < (std::max)(run.lost.size(), by_flow.size()); ++n) {
      const double predicted = n < by_flow.size() ? by_flow[n] : missing, measured = n < run.lost.size() ? run.lost[n] : missing;
      table.add(n, measured, predicted);
      line.x.push_back(static_cast<double>(n)), line.y.push_back(predicted > 0 ? predicted : missing);
      if (n % 2 == 0) points.x.push_back(static_cast<double>(n)), points.y.push_back(measured > 0 ? measured : missing);
    }
    out.files.push_back({stem, table});
    out.files.push_back({stem, examples::Figure{"Leaving the plateau, " + label, {"step"}, {"share of ln D lost", true, 1e-5, 0.02}, {line, points}, {}}});
    return out;
  };
  return part;
}

Part step_size_law(const Subject& subject, const EscapeSetting& coarse, std::uint64_t seed) {
  constexpr double share = fractions.front();
  const ThreeLayerFlow flow = flow_of(subject, coarse, seed);
  EscapeSetting fine = coarse;
  fine.step.value /= 2, fine.limit *= 2;
  const auto delay_of = [&](const EscapeSetting& s) { return s.step.value * crossing(lost_by_flow(flow, s.step, share, s.limit), share); };
  const double coarse_time = delay_of(coarse), fine_time = delay_of(fine);
  const double horizon = static_cast<double>(coarse.limit) * coarse.step.value;
  const double limit = flow.escape_times(FlowTime{coarse.step.value}, {share}, FlowTime{horizon})[0].value_or(missing);
  const Extent steps = limit > 0 ? (std::max)(Extent{1}, static_cast<Extent>(limit / coarse.step.value)) : Extent{1};  // NaN: no escape
  const LayerMatrices exact = flow.at(FlowTime{coarse.step.value * static_cast<double>(steps)});
  const auto distance = [&](Extent parts) {
    return relative_distance(flow.at_step(StepSize{coarse.step.value / static_cast<double>(parts)}, parts * steps).embedding, exact.embedding);
  };
  const double order = std::log2(distance(2) / distance(4));
  Part part;
  if (!subject.anchors && (!(limit > 0) || steps < 10)) {
    part.predictions.push_back({"continuous flow, gamma " + text(coarse.gamma), "the plateau is left at once or never: not compared"});
    part.run = [](const Ticker& tick) { tick(); return Outcome{}; };
    return part;
  }
  part.predictions.push_back({"time to 0.1 % lost, gamma " + text(coarse.gamma) + ": continuous flow; flow at step " + text(coarse.step.value) + "; at half of it",
                              compare::short_number(limit) + "; " + compare::short_number(coarse_time) + "; " + compare::short_number(fine_time)});
  part.units = 3 * steps;
  const auto breach = flow.first_breach(coarse.step, steps);
  const bool resolved = std::abs(coarse_time - fine_time) >= 1e-3 * limit;
  const Expect expect = !subject.anchors && ((breach && 2 * breach->step < steps) || !resolved) ? Expect::report : Expect::holds;
  part.run = [=, &subject](const Ticker& tick) {
    const auto time_of = [&](const EscapeSetting& s) { return s.step.value * crossing(Descent(subject, s, seed, share, tick).lost, share); };
    const double far = time_of(coarse), near = time_of(fine);
    Outcome out;
    out.claims.push_back(compare::claim_relative("escape time, 0.1 % lost, descent extrapolated to step 0", "ours, continuous flow", Kind::ours,
                                                 expect, limit, 2 * near - far, 0.01));
    out.claims.push_back(compare::claim_relative("escape: delay of descent by its step, 0.1 % lost, against half the step",
                                                 "ours, step-size law", Kind::ours, expect, coarse_time - fine_time, far - near, 0.1));
    out.claims.push_back(compare::claim_absolute("escape: order in the step of the flow's distance from the continuous one", "ours, step-size law",
                                                 Kind::ours, Expect::holds, 1.0, order, 0.05));
    return out;
  };
  return part;
}

}  // namespace verify
