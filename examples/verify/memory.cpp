// SPDX-License-Identifier: MIT
// The memory task of the anchor data: the quenched label law over mappings, and the loss floor of inputs that look the same.
#include "parts.hpp"

#include <incipit/measure/cosine.hpp>
#include <incipit/optim/adam.hpp>
#include <incipit/theory/label_law.hpp>
#include <incipit/theory/memory_floor.hpp>
#include <incipit/theory/memory_law.hpp>
#include <incipit/train/minibatches.hpp>

namespace verify {

Part quenched(const Subject& subject, std::uint64_t seed) {
  const auto& truth = *subject.anchors;
  const theory::QuenchedMemoryLaw law(truth.task);
  constexpr int mappings = 600;
  Part part;
  part.predictions.push_back({"quenched memory law: mean cosine between memory anchors", compare::short_number(law.mean(), 6) + " (ratio of expectations " + compare::short_number(law.ratio(), 6) + ")"});
  add_assumptions(part, law.assumptions());
  part.units = mappings / 20;
  part.run = [&subject, &truth, law, seed](const Ticker& tick) {
    double sum = 0, squares = 0;
    for (int k = 0; k < mappings; ++k) {
      const data::MemoryMap mapping(truth.task, RandomStream(seed, "quenched").child(static_cast<std::uint64_t>(k)));
      const Mat<double> cosines = theory::label_cosines(theory::counted_memory_law(truth.task, mapping));
      const double mean = measure::off_diagonal(cosines).mean();
      sum += mean, squares += mean * mean;
      if (k % 20 == 0) tick();
    }
    const double mean = sum / mappings, variance = (squares - mappings * mean * mean) / (mappings - 1);
    const double bound = 4.5 * std::sqrt(variance / mappings) + 3e-4;
    Outcome out;
    out.claims.push_back(compare::claim_absolute("quenched memory cosine, mean over " + std::to_string(mappings) + " mappings",
                                                 "ours, closed form", Kind::ours, Expect::holds, law.mean(), mean, bound));
    out.claims.push_back(compare::claim_absolute("quenched: the uniform label law says that memory anchors are parallel", "paper A, A.7",
                                                 Kind::published, Expect::fails, theory::QuenchedMemoryLaw::unquenched(), mean, bound));
    const auto range = truth.task.memory;
    const Mat<double> counted = theory::counted_memory_law(truth.task, truth.mapping);
    const Mat<double> found = subject.statistics.label_law.middleRows(range.first, range.size());
    out.claims.push_back(error_claim("quenched: counted law of this mapping, largest difference", "ours, counting", Kind::ours,
                                     Expect::holds, (counted - found).cwiseAbs().maxCoeff(), 1e-14));
    return out;
  };
  return part;
}

Part memory_floor(const Subject& subject, const Scale& scale, std::uint64_t seed) {
  const auto& truth = *subject.anchors;
  const auto expected = theory::expected_memory_floor(truth.task);
  const auto realised = theory::realised_memory_floor(truth.task, truth.mapping);
  Part part;
  part.predictions.push_back({"memory floor: expected loss and best accuracy", compare::short_number(expected.loss) + ", " + compare::short_number(expected.accuracy)});
  part.predictions.push_back({"memory floor of this mapping", compare::short_number(realised.loss) + ", " + compare::short_number(realised.accuracy)});
  add_assumptions(part, theory::memory_floor_assumptions(truth.task, /*sees_order=*/false));
  constexpr long long floor_steps = 1000;
  part.units = scale.floor_run ? floor_steps / 10 : 1;
  part.run = [&subject, &truth, scale, seed, expected, realised](const Ticker& tick) {
    Outcome out;
    // Of the pairs of orders of two different anchors, all but 1/N_Z disagree: a binomial count, ln 2 a pair.
    const double anchors = static_cast<double>(truth.task.memory.size()), keys = static_cast<double>(truth.task.keys.size());
    const double pairs = anchors * (anchors - 1) / 2 * keys;
    const double deviation = std::log(2.0) * 2 * std::sqrt(pairs / keys * (1 - 1 / keys)) / (anchors * anchors * keys);
    out.claims.push_back(compare::claim_absolute("floor of the memory loss: this mapping against the expectation", "ours, closed form",
                                                 Kind::ours, Expect::holds, expected.loss, realised.loss, 4.5 * deviation));
    const auto counted = data::merge_identical(truth.set.of(data::Task::memory));
    out.claims.push_back(compare::claim_absolute("floor: entropy of merged inputs equals that of the mapping", "ours, counting",
                                                 Kind::ours, Expect::holds, realised.loss, counted.loss_floor(), 1e-12));
    if (!scale.floor_run) {
      tick();
      return out;
    }
    using Model = model::EmbMlp<float>;
    const auto start = initial<Model>(subject.vocab(), 400, 800, 0.3, seed);
    constexpr double fastest = 1e-2, slowest = 5e-4;  // falling steps let the two labels of an ambiguous input balance
    train::Trainer<Model, optim::Adam<float>> trainer(start, optim::Adam<float>(start.flat().size(), {.step = fastest}));
    const train::FullBatch<float> merged(subject.train);
    train::MergedMinibatches<float> batches(merged, 1000, RandomStream(seed, "floor"));
    for (long long k = 0; k < floor_steps; ++k) {
      trainer.optimizer.set_step(fastest * std::pow(slowest / fastest, static_cast<double>(k) / floor_steps));
      batches.draw(k);
      trainer.step(batches.tokens(), batches.labels());
      if (k % 10 == 0) tick();
    }
    const auto score = train::evaluate<Model>(trainer.parameters, truth.set.of(data::Task::memory), trainer.workspace);
    out.claims.push_back(compare::claim_relative("floor reached: memory loss of a wide run at gamma 0.3", "ours, realised floor", Kind::ours,
                                                 Expect::holds, realised.loss, score.loss, 0.1));
    out.claims.push_back(compare::claim_at_most("floor: no run is more accurate than the mapping allows", "ours, realised floor", Kind::ours,
                                                Expect::holds, realised.accuracy, score.accuracy));
    return out;
  };
  return part;
}

}  // namespace verify
