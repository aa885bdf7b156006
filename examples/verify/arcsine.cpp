// SPDX-License-Identifier: MIT
// Directions of the first AdamW steps: cosines between token displacements against the arcsine law.
#include "parts.hpp"

#include <incipit/optim/adam.hpp>
#include <incipit/theory/arcsine_law.hpp>

namespace verify {

Part arcsine(const Subject& subject, const Scale& scale, std::uint64_t seed) {
  using Model = model::EmbMlp<double>;
  constexpr double eps = 1e-30;
  constexpr int steps = 3;
  const auto start = initial<Model>(subject.vocab(), scale.arcsine_width, scale.arcsine_hidden, 1.0, seed);
  const theory::ArcsineLaw law(subject.rows(subject.statistics.correlation, subject.compared), start.hidden, start.output);
  Part part;
  if (subject.compared.size() < 2) {
    part.predictions.push_back({"arcsine law", "fewer than two tokens tell something of the label: not compared"});
    part.run = [](const Ticker& tick) { tick(); return Outcome{}; };
    return part;
  }
  // Both laws agree where all cosines are near 0 or 1; twice as close can only be asked for where they differ by more than noise.
  const auto size = [](const Mat<double>& x) { return std::sqrt(measure::off_diagonal(x).array().square().mean()); };
  const double apart = size(law.wide_plain_cosines() - law.wide_cosines());
  const bool told_apart = apart > 1e-6 && apart >= 2.5 * size(law.wide_deviation());
  part.predictions.push_back({"arcsine law, AdamW, gamma 1: rms deviation of cosines at most", compare::short_number(law.bound())});
  add_assumptions(part, law.assumptions(eps));
  part.units = steps;
  part.run = [&subject, start, law, told_apart](const Ticker& tick) {
    train::Trainer<Model, optim::Adam<double>> trainer(
        start, optim::Adam<double>(start.flat().size(), {.step = 1e-6, .eps = eps, .weight_decay = 0.01}));
    for (int k = 0; k < steps; ++k) trainer.step(subject.batch), tick();
    const Mat<double> measured = cosines_of(subject, trainer.parameters.embedding - start.embedding);
    const auto rms = [&](const Mat<double>& predicted) {
      return std::sqrt((measure::off_diagonal(measured) - measure::off_diagonal(predicted)).array().square().mean());
    };
    const double with = rms(law.wide_cosines()), without = rms(law.wide_plain_cosines()), given = rms(law.cosines());
    Outcome out;
    out.claims.push_back(error_claim("arcsine: rms error of cosines of the first AdamW moves", "ours, arcsine law", Kind::ours,
                                     Expect::holds, with, law.bound()));
    out.claims.push_back(error_claim("arcsine: the same given W_2", "ours, arcsine law", Kind::ours, Expect::holds, given, law.bound()));
    out.claims.push_back(compare::claim_at_least("arcsine: times closer than the law without arcsine", "ours, arcsine law", Kind::ours,
                                                 subject.anchors || told_apart ? Expect::holds : Expect::report, 2.0, without / with));
    out.files.push_back({"arcsine_measured", measured});
    out.files.push_back({"arcsine_predicted", law.wide_cosines()});
    return out;
  };
  return part;
}

}  // namespace verify
