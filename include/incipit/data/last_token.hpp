// SPDX-License-Identifier: MIT
/// @file
/// @brief What a transformer that reads its answer at the last position sees of the data: the average over a sequence
/// and its last token, each correlated with the label.
#pragma once

#include <incipit/data/statistics.hpp>

namespace incipit::inline INCIPIT_ABI::data {

/// @brief Statistics of sequences and labels for a model with M label classes, of which the data use the first D.
/// @details With \f$ n_s \f$ the number of s in a sequence of L tokens and u = 1/M,
/// \f$ \bar C_s = E[\tfrac{n_s}L (y-u)] = \tfrac{r_s}L (P^s-u) \f$ and
/// \f$ \hat C_s = E[1_{last=s} (y-u)] = P(last=s)\,(\hat P^s-u) \f$.
/// @par Shapes D = vocabulary, M = label space; rows are tokens, columns are labels.
struct LastTokenStatistics {
  Extent length = 0;                ///< L
  Col<double> occurrences;          ///< (D) r_s: mean number of s in a sequence; sums to L
  Mat<double> label_law;            ///< (D, M) row s: P^s; zero for a token that never occurs
  Mat<double> average_correlation;  ///< (D, M) \f$ \bar C \f$; rows sum to 0
  Col<double> last;                 ///< (D) P(last token = s); sums to 1
  Mat<double> last_law;             ///< (D, M) row s: law of the label given that s stands last; zero if it never does
  Mat<double> last_correlation;     ///< (D, M) \f$ \hat C \f$; rows sum to 0

  /// Vocabulary D.
  Extent vocab() const { return label_law.rows(); }
  /// Label space M.
  Extent label_space() const { return label_law.cols(); }
};

namespace detail {
inline Mat<double> label_counts(Extent vocab, Extent label_space) {
  require(label_space >= vocab && label_space <= max_dense_vocab, "label_space", label_space,
          "D = " + std::to_string(vocab) + " to " + std::to_string(max_dense_vocab));
  return Mat<double>::Zero(vocab, label_space);
}

// joint(s, i) = sum of weights of n_s 1{y = i}; turned into the law, with its correlation scale (joint - total u).
inline Mat<double> split_joint(Mat<double>& joint, const Col<double>& totals, double scale) {
  Mat<double> correlation = joint;
  correlation.colwise() -= totals / static_cast<double>(joint.cols());
  correlation *= scale;
  for (Extent s = 0; s < joint.rows(); ++s)
    if (totals(s) > 0) joint.row(s) /= totals(s);
  return correlation;
}

inline LastTokenStatistics from_joints(Mat<double> all, Mat<double> last, Extent length, double sequences) {
  LastTokenStatistics out;
  out.length = length;
  const Col<double> counts = all.rowwise().sum(), last_counts = last.rowwise().sum();
  out.occurrences = counts / sequences;
  out.last = last_counts / sequences;
  out.average_correlation = split_joint(all, counts, 1 / (sequences * static_cast<double>(length)));
  out.last_correlation = split_joint(last, last_counts, 1 / sequences);
  out.label_law = std::move(all);
  out.last_law = std::move(last);
  return out;
}

// law(kind, tuple, key, anchors) is the range on which the label of a combination is uniform (one id when it is fixed).
template <class Law>
LastTokenStatistics enumerate_last_token(const AnchorTask& task, Extent label_space, Law law) {
  Mat<double> all = label_counts(task.vocabulary(), label_space), last = all;
  Row<double> labels = Row<double>::Zero(label_space);
  double sequences = 0;
  const double at_end = 1 / static_cast<double>(task.positions());  // chance that the anchors close the sequence
  for (const Task kind : {Task::memory, Task::reasoning})
    task.for_each_tuple(kind, [&](std::int64_t tuple, std::span<const Id> anchors) {
      for (Id key = task.keys.first; key <= task.keys.last; ++key) {
        const IdRange range = law(kind, tuple, key, anchors);
        const double weight = 1.0 / static_cast<double>(range.size());
        const auto add = [&](auto&& row, double w) { row.segment(range.first, range.size()).array() += w; };
        add(all.row(key), weight);
        for (const Id a : anchors) add(all.row(a), weight);
        add(last.row(anchors.back()), at_end * weight);
        add(labels, weight);
        sequences += 1;
      }
    });
  // Elsewhere stand noise keys, uniform and independent of the label; one of them is last unless the anchors are.
  const double keys = static_cast<double>(task.keys.size());
  all.middleRows(task.keys.first, task.keys.size()).rowwise() += static_cast<double>(task.noise()) / keys * labels;
  last.middleRows(task.keys.first, task.keys.size()).rowwise() += (1 - at_end) / keys * labels;
  return from_joints(std::move(all), std::move(last), task.length, sequences);
}
}  // namespace detail

/// @brief Statistics counted from a set, for a label space of M >= D classes.
/// @par Errors those of Examples::validate; InvalidArgument if M < D or M > max_dense_vocab. @par Cost O(N L + D M).
inline LastTokenStatistics count_last_token_statistics(const Examples& examples, Extent label_space) {
  examples.validate();
  Mat<double> all = detail::label_counts(examples.vocab, label_space), last = all;
  for (Extent n = 0; n < examples.size(); ++n) {
    const Id y = examples.labels[static_cast<std::size_t>(n)];
    for (Extent i = 0; i < examples.length(); ++i) all(examples.tokens(n, i), y) += 1;
    last(examples.tokens(n, examples.length() - 1), y) += 1;
  }
  return detail::from_joints(std::move(all), std::move(last), examples.length(), static_cast<double>(examples.size()));
}

/// @brief Exact training law of a task with one mapping: every allowed ordered tuple alike; key, noise and place
/// uniform.
/// @details The anchors close the sequence with probability 1/(L-q), so an anchor is last with probability
/// \f$ P(a_q=s)/(L-q) \f$ (without held-out tuples \f$ r_s/(q(L-q)) \f$), and a key that stands last is noise: its
/// label law is that of all labels.
/// @par Errors those of AnchorTask::validate and MemoryMap::require_made_for; InvalidArgument if M < D.
/// @par Cost O(q N_Z tuples + D M). @par Source docs/derivations/proposition_2.md.
inline LastTokenStatistics population_last_token_statistics(const AnchorTask& task, const MemoryMap& mapping,
                                                            Extent label_space) {
  task.validate();
  mapping.require_made_for(task);
  return detail::enumerate_last_token(
      task, label_space, [&](Task kind, std::int64_t tuple, Id key, std::span<const Id> anchors) -> IdRange {
        const Id y = kind == Task::memory ? mapping.label(key, tuple) : task.reasoning_label(key, anchors);
        return {y, y};
      });
}

/// @brief The same law averaged over all mappings: a memory label is uniform on the range of its rule.
/// @par Errors those of AnchorTask::validate; InvalidArgument if M < D.
/// @par Cost O(q N_Z tuples (labels of a range) + D M).
inline LastTokenStatistics expected_last_token_statistics(const AnchorTask& task, Extent label_space) {
  task.validate();
  return detail::enumerate_last_token(task, label_space,
                                      [&](Task kind, std::int64_t, Id key, std::span<const Id> anchors) -> IdRange {
                                        if (kind == Task::memory) return task.memory_labels(key, anchors);
                                        const Id y = task.reasoning_label(key, anchors);
                                        return {y, y};
                                      });
}

}  // namespace incipit::inline INCIPIT_ABI::data
