// SPDX-License-Identifier: MIT
/// @file
/// @brief What the early dynamics see of the data: occurrences r_s, label laws P^s and the correlation matrix C,
/// exactly.
#pragma once

#include <incipit/data/examples.hpp>
#include <incipit/data/memory_map.hpp>

namespace incipit::inline INCIPIT_ABI::data {

/// @brief Statistics of tokens and labels, with multiplicity: a token that stands twice in a sequence counts twice.
/// @details \f$ r_s = E[n_s] \f$ with n_s the number of s in a sequence, \f$ P^s_i = E[n_s 1_{y=i}] / r_s \f$,
/// \f$ C = E[(\sum_x e_x)^T (y - u)] \f$, so \f$ C_s = r_s (P^s - u) \f$ with u = 1/D.
/// @par Shapes D = vocabulary; rows are tokens, columns are labels.
struct TokenStatistics {
  Col<double> occurrences;  ///< (D) r_s: mean number of s in a sequence; sums to L
  Mat<double> label_law;    ///< (D, D) row s: P^s, sums to 1; zero for a token that never occurs
  Mat<double> correlation;  ///< (D, D) C; its rows sum to 0
  Row<double> labels;       ///< (1, D) law of the label over all sequences, sums to 1

  /// Vocabulary D.
  Extent vocab() const { return occurrences.size(); }
};

/// Largest vocabulary of the dense (D, D) statistics (2 GiB a matrix).
inline constexpr Extent max_dense_vocab = 16384;

namespace detail {
inline Mat<double> joint_counts(Extent vocab) {
  require(vocab >= 1 && vocab <= max_dense_vocab, "vocab", vocab,
          "1 to " + std::to_string(max_dense_vocab) + " for (D, D) statistics");
  return Mat<double>::Zero(vocab, vocab);
}

// From joint(s, i) = sum of n_s 1{y = i} and counts(s) = sum of n_s over sequences: expectations once divided by their
// number.
inline TokenStatistics from_joint(Mat<double> joint, const Col<double>& counts, const Row<double>& labels,
                                  double sequences) {
  TokenStatistics out;
  out.labels = labels / sequences;
  out.occurrences = counts / sequences;
  out.correlation = joint / sequences;
  out.correlation.colwise() -= out.occurrences / static_cast<double>(joint.cols());
  for (Extent s = 0; s < joint.rows(); ++s)
    if (counts(s) > 0) joint.row(s) /= counts(s);
  out.label_law = std::move(joint);
  return out;
}

// law(kind, tuple, key, anchors) is the range on which the label of a combination is uniform (one id when it is fixed).
template <class Law>
TokenStatistics enumerate_statistics(const AnchorTask& task, Law law) {
  Mat<double> joint = joint_counts(task.vocabulary());
  Row<double> labels = Row<double>::Zero(task.vocabulary());
  Col<double> counts = Col<double>::Zero(task.vocabulary());
  double sequences = 0;
  for (const Task kind : {Task::memory, Task::reasoning})
    task.for_each_tuple(kind, [&](std::int64_t tuple, std::span<const Id> anchors) {
      for (Id key = task.keys.first; key <= task.keys.last; ++key) {
        const IdRange range = law(kind, tuple, key, anchors);
        const double weight = 1.0 / static_cast<double>(range.size());
        const auto add = [&](auto&& row) { row.segment(range.first, range.size()).array() += weight; };
        const auto count = [&](Id token) {
          add(joint.row(token));
          counts(token) += 1;
        };
        count(key);
        for (const Id a : anchors) count(a);
        add(labels);
        sequences += 1;
      }
    });
  // Noise keys are uniform and independent of the label, so each key gains the label's own law L - q - 1 times 1/N_Z.
  const double noise = static_cast<double>(task.noise()) / static_cast<double>(task.keys.size());
  joint.middleRows(task.keys.first, task.keys.size()).rowwise() += noise * labels;
  counts.segment(task.keys.first, task.keys.size()).array() += noise * sequences;
  return from_joint(std::move(joint), counts, labels, sequences);
}
}  // namespace detail

/// @brief Statistics counted from a set: the integers are exact, each result is rounded once or twice.
/// @par Errors those of Examples::validate; InvalidArgument for D > max_dense_vocab. @par Cost O(N L + D^2).
inline TokenStatistics count_statistics(const Examples& examples) {
  examples.validate();
  Mat<double> joint = detail::joint_counts(examples.vocab);
  Row<double> labels = Row<double>::Zero(examples.vocab);
  for (Extent n = 0; n < examples.size(); ++n) {
    const Id y = examples.labels[static_cast<std::size_t>(n)];
    labels(y) += 1;
    for (Extent i = 0; i < examples.length(); ++i) joint(examples.tokens(n, i), y) += 1;
  }
  const Col<double> counts = joint.rowwise().sum();
  return detail::from_joint(std::move(joint), counts, labels, static_cast<double>(examples.size()));
}

/// @brief Exact training law of a task with one mapping: every allowed ordered tuple alike, key, noise and place
/// uniform.
/// @details Enumerates the combinations (z, a_1..a_q), held-out tuples left out; nothing is materialised. Noise (L > q
/// + 1) enters in closed form: keys gain (L-q-1)/N_Z occurrences with the law of the label. Places do not matter to a
/// sum.
/// @par Errors those of AnchorTask::validate and MemoryMap::require_made_for; InvalidArgument for D > max_dense_vocab.
/// @par Cost O(q N_Z tuples + D^2). @par Source A.6-A.8 of the paper; docs/derivations/anchor_data.md.
inline TokenStatistics population_statistics(const AnchorTask& task, const MemoryMap& mapping) {
  task.validate();
  mapping.require_made_for(task);
  return detail::enumerate_statistics(
      task, [&](Task kind, std::int64_t tuple, Id key, std::span<const Id> anchors) -> IdRange {
        const Id y = kind == Task::memory ? mapping.label(key, tuple) : task.reasoning_label(key, anchors);
        return {y, y};
      });
}

/// @brief The same law averaged over all mappings: a memory label is uniform on the range of its rule.
/// @details So P^s is uniform on the keys for every memory anchor under F_mem1. r is that of every mapping; C is its
/// mean.
/// @par Errors as population_statistics. @par Cost O(q N_Z tuples (labels of a range) + D^2).
inline TokenStatistics expected_statistics(const AnchorTask& task) {
  task.validate();
  return detail::enumerate_statistics(task,
                                      [&](Task kind, std::int64_t, Id key, std::span<const Id> anchors) -> IdRange {
                                        if (kind == Task::memory) return task.memory_labels(key, anchors);
                                        const Id y = task.reasoning_label(key, anchors);
                                        return {y, y};
                                      });
}

}  // namespace incipit::inline INCIPIT_ABI::data
