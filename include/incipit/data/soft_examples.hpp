// SPDX-License-Identifier: MIT
/// @file
/// @brief Identical inputs merged into one with a histogram of labels: the same full-batch loss with fewer rows.
#pragma once

#include <incipit/data/examples.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace incipit::inline INCIPIT_ABI::data {

/// @brief The distinct multisets of tokens of a set, each with its count and its histogram of labels.
/// @details For a model that adds embeddings the order of tokens means nothing, so with weight \f$ w_u = n_u/N \f$ and
/// soft label \f$ \pi_u = n_{u\cdot}/n_u \f$ the mean cross entropy of the set is \f$ \sum_u w_u H(\pi_u, p_u) \f$.
/// @par Shapes U distinct inputs of L tokens over a vocabulary of D.
struct SoftExamples {
  Mat<Id> tokens;                          ///< (U, L) each row ascending, rows in lexicographic order
  std::vector<std::int64_t> counts;        ///< (U) n_u: how often the input occurs
  std::vector<std::size_t> offsets;        ///< (U + 1) histogram of input u: entries offsets[u] to offsets[u+1] - 1
  std::vector<Id> labels;                  ///< distinct labels of each input, ascending within it
  std::vector<std::int64_t> label_counts;  ///< n_uy, beside `labels`
  std::int64_t total = 0;                  ///< N
  Extent vocab = 0;                        ///< D

  /// Number of distinct inputs U.
  Extent size() const { return tokens.rows(); }
  /// Tokens of an input L.
  Extent length() const { return tokens.cols(); }

  /// Weights w_u = n_u / N: (U), summing to 1.
  template <Real T>
  Col<T> weights() const {
    Col<T> w(size());
    for (Extent u = 0; u < size(); ++u) w(u) = T(count(u)) / T(static_cast<double>(total));
    return w;
  }
  /// Soft labels pi_u: (U, D), rows summing to 1.
  template <Real T>
  Mat<T> soft_labels() const {
    Mat<T> pi = Mat<T>::Zero(size(), vocab);
    for_each_label([&](Extent u, Id y, double n) { pi(u, y) = T(n) / T(count(u)); });
    return pi;
  }

  /// @brief The least mean cross entropy that any function of the multiset can reach: \f$ \sum_u w_u H(\pi_u) \f$,
  /// nats.
  /// @par Source realised floor of a task; ln 2 for two equally frequent labels. @par Cost O(entries).
  double loss_floor() const {
    double sum = 0;
    for_each_label([&](Extent u, Id, double n) { sum += n * std::log(count(u) / n); });
    return sum / static_cast<double>(total);
  }
  /// The best accuracy that any function of the multiset can reach: the share of each input's most frequent label.
  double best_accuracy() const {
    std::int64_t hits = 0;
    for (std::size_t u = 0; u + 1 < offsets.size(); ++u)
      hits += *std::max_element(label_counts.begin() + static_cast<std::ptrdiff_t>(offsets[u]),
                                label_counts.begin() + static_cast<std::ptrdiff_t>(offsets[u + 1]));
    return static_cast<double>(hits) / static_cast<double>(total);
  }

 private:
  double count(Extent u) const { return static_cast<double>(counts[static_cast<std::size_t>(u)]); }
  template <class Visit>
  void for_each_label(Visit visit) const {
    for (Extent u = 0; u < size(); ++u)
      for (std::size_t k = offsets[static_cast<std::size_t>(u)]; k < offsets[static_cast<std::size_t>(u) + 1]; ++k)
        visit(u, labels[k], static_cast<double>(label_counts[k]));
  }
};

/// @brief Merges inputs with the same multiset of tokens.
/// @par Errors those of Examples::validate. @par Cost O(N L log(N L)). @par Checked tests/data/soft_examples_test.cpp
inline SoftExamples merge_identical(const Examples& examples) {
  examples.validate();
  const Extent length = examples.length();
  Mat<Id> sorted = examples.tokens;
  for (Extent n = 0; n < sorted.rows(); ++n) std::sort(sorted.row(n).data(), sorted.row(n).data() + length);
  std::vector<Extent> order(static_cast<std::size_t>(sorted.rows()));
  for (std::size_t n = 0; n < order.size(); ++n) order[n] = static_cast<Extent>(n);
  const auto row = [&](Extent n) { return sorted.data() + n * length; };
  const auto label = [&](Extent n) { return examples.labels[static_cast<std::size_t>(n)]; };
  const auto same = [&](Extent a, Extent b) { return std::equal(row(a), row(a) + length, row(b)); };
  std::sort(order.begin(), order.end(), [&](Extent a, Extent b) {
    const auto difference = std::mismatch(row(a), row(a) + length, row(b));
    return difference.first == row(a) + length ? label(a) < label(b) : *difference.first < *difference.second;
  });

  SoftExamples soft;
  std::vector<Extent> distinct;
  for (const Extent n : order) {
    const bool known = !distinct.empty() && same(distinct.back(), n);
    if (!known) {
      distinct.push_back(n);
      soft.counts.push_back(0);
      soft.offsets.push_back(soft.labels.size());
    }
    if (!known || soft.labels.back() != label(n)) {
      soft.labels.push_back(label(n));
      soft.label_counts.push_back(0);
    }
    ++soft.counts.back();
    ++soft.label_counts.back();
  }
  soft.offsets.push_back(soft.labels.size());
  soft.tokens.resize(static_cast<Extent>(distinct.size()), length);
  for (std::size_t u = 0; u < distinct.size(); ++u) soft.tokens.row(static_cast<Extent>(u)) = sorted.row(distinct[u]);
  soft.total = static_cast<std::int64_t>(examples.size());
  soft.vocab = examples.vocab;
  return soft;
}

}  // namespace incipit::inline INCIPIT_ABI::data
