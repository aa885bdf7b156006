// SPDX-License-Identifier: MIT
#include "subject.hpp"

#include <incipit/linalg/singular_values.hpp>

namespace verify {

Subject::Subject(std::string label, data::Examples examples)
    : name(std::move(label)),
      train(std::move(examples)),
      statistics(data::count_statistics(train)),
      remainder(theory::remainder_statistics(train)),
      batch(train),
      top_singular_value(linalg::singular_values(statistics.correlation)(0)) {
  for (Id s = 0; s < train.vocab; ++s)
    if (statistics.correlation.row(s).norm() > 1e-9 * statistics.occurrences(s)) compared.push_back(s);  // else rounding
  require(top_singular_value > 1e-12, "data", "labels independent of every token", "tokens that tell something of the label");
}

Subject anchor_subject(std::uint64_t seed) {
  const auto task = data::AnchorTask::emb_mlp();
  data::MemoryMap mapping(task, RandomStream(seed, "memory labels"));
  data::Dataset set = data::population(task, mapping);
  Subject subject("anchor population", set.train);
  subject.compared.clear();
  for (Id s = task.memory.first; s <= task.reasoning.last; ++s) subject.compared.push_back(s);
  subject.anchors.emplace(AnchorTruth{task, std::move(mapping), std::move(set)});
  return subject;
}

}  // namespace verify
