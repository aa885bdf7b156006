// SPDX-License-Identifier: MIT
/// @file
/// @brief Label laws of memory anchors under one drawn ("quenched") mapping: the cosine that remains on average, its
/// bias, its spread between mappings, and the exact law of one mapping by counting.
#pragma once

#include <incipit/data/memory_map.hpp>
#include <incipit/theory/label_law.hpp>

namespace incipit::inline INCIPIT_ABI::theory {

/// @brief Distribution over mappings of \f$ \cos(P^s-u, P^t-u) \f$ between two memory anchors.
/// @details Every ordered tuple of q anchors with every key has one label, uniform on the \f$ N_Z \f$ keys. With the
/// shares \f$ w_s \f$ of the combinations in \f$ P^s \f$, \f$ P^s - u \f$ is a common row of squared norm \f$ b = 1/N_Z
/// - 1/D \f$ plus noise \f$ \eta_s = \sum_\alpha w_{s\alpha}\xi_\alpha \f$, orthogonal to it. Derivation:
/// docs/derivations/quenched_memory.md.
class QuenchedMemoryLaw {
 public:
  /// Sizes: q anchors per sample, N_A memory anchors (at least 2), N_Z keys, vocabulary D > N_Z.
  QuenchedMemoryLaw(Extent q, Extent anchors, Extent keys, Extent D)
      : q_(static_cast<double>(q)),
        anchors_(static_cast<double>(anchors)),
        keys_(static_cast<double>(keys)),
        common_(1 / keys_ - 1 / static_cast<double>(D)) {
    require(q >= 1, "q", q, "at least 1");
    require(anchors >= 2, "anchors", anchors, "at least 2");
    require(keys >= 2, "keys", keys, "at least 2");
    require(D > keys, "D", D, "greater than the number of keys");
  }

  /// The law of a task with the rule F_mem1 (uniform_keys). @throws InvalidArgument for another rule.
  explicit QuenchedMemoryLaw(const AnchorTask& task)
      : QuenchedMemoryLaw(task.q, task.memory.size(), task.keys.size(), task.vocabulary()) {
    task.validate();
    require(task.rule == data::MemoryRule::uniform_keys, "task.rule", static_cast<int>(task.rule),
            "uniform_keys (F_mem1)");
  }

  /// \f$ \sum_\alpha w_{s\alpha}^2 = (N_A - 1 + q) / (q N_Z N_A^q) \f$.
  double own_share() const { return (anchors_ - 1 + q_) / (q_ * keys_ * std::pow(anchors_, q_)); }
  /// \f$ \sum_\alpha w_{s\alpha} w_{t\alpha} = (q - 1) / (q N_Z N_A^q) \f$: combinations that hold both anchors.
  double shared_share() const { return (q_ - 1) / (q_ * keys_ * std::pow(anchors_, q_)); }
  /// Mean of \f$ |P^s-u|^2 \f$.
  double expected_norm2() const { return common_ + noise() * own_share(); }
  /// Mean of \f$ \langle P^s-u, P^t-u\rangle \f$.
  double expected_inner() const { return common_ + noise() * shared_share(); }
  /// Ratio of expectations; differs from the mean cosine by bias().
  double ratio() const { return expected_inner() / expected_norm2(); }
  /// @brief Second-order term of the mean: E cos - ratio, up to third order in the noise.
  double bias() const {
    const Moments k = moments();
    const double x = expected_inner(), y = expected_norm2();
    return ratio() * (-k.inner_norm / (x * y) + 0.75 * k.norm_norm / (y * y) + 0.25 * k.norm_other / (y * y));
  }
  /// Mean cosine between two different memory anchors over mappings: ratio() + bias().
  double mean() const { return ratio() + bias(); }
  /// Standard deviation of the cosine of one pair between mappings, to first order.
  double pair_deviation() const {
    const Moments k = moments();
    const double x = expected_inner(), y = expected_norm2();
    const double relative =
        k.inner_inner / (x * x) - 2 * k.inner_norm / (x * y) + (k.norm_norm + k.norm_other) / (2 * y * y);
    return ratio() * std::sqrt((std::max)(relative, 0.0));
  }
  /// The expansion behind mean() and pair_deviation() needs a small relative noise of \f$ |P^s-u|^2 \f$.
  std::vector<Assumption> assumptions() const {
    return {{"relative noise of |P^s - u|^2 over mappings is small", std::sqrt(moments().norm_norm) / expected_norm2(),
             0.1}};
  }
  /// What the law of averages alone (uniform \f$ P^s \f$) would say: 1.
  static constexpr double unquenched() { return 1.0; }

 private:
  /// Covariances, over mappings, of inner products of the rows of anchors s and t.
  struct Moments {
    double inner_inner, inner_norm, norm_norm, norm_other;
  };
  double noise() const { return 1 - 1 / keys_; }
  /// E of the falling factorials \f$ c_s^{\underline a} c_t^{\underline b} = q^{\underline{a+b}} N_A^{-a-b} \f$ of the
  /// counts in a tuple.
  double factorial_moment(int order) const {
    double m = 1;
    for (int i = 0; i < order; ++i) m *= (q_ - i) / anchors_;
    return m;
  }
  Moments moments() const {
    const double f1 = factorial_moment(1), f2 = factorial_moment(2), f3 = factorial_moment(3), f4 = factorial_moment(4);
    const double ssss = f4 + 6 * f3 + 7 * f2 + f1, ssst = f4 + 3 * f3 + f2, sstt = f4 + 2 * f3 + f2;
    const double total = keys_ * q_ * std::pow(anchors_, q_ - 1);  // occurrences of one anchor
    const double scale =
        keys_ * std::pow(anchors_, q_) / std::pow(total, 4);  // turns count moments into sums of shares
    const double a = own_share(), b = shared_share(), k = noise() / keys_;
    return {k * (a * a + b * b - 2 * scale * sstt), k * (2 * a * b - 2 * scale * ssst),
            k * (2 * a * a - 2 * scale * ssss), k * (2 * b * b - 2 * scale * sstt)};
  }
  double q_, anchors_, keys_, common_;
};

/// @brief Exact label laws of the memory anchors under one mapping, by counting. Shape \f$ (N_A, D) \f$.
/// @throws InvalidArgument if the mapping was made for another task. @par Cost q per combination.
inline Mat<double> counted_memory_law(const AnchorTask& task, const data::MemoryMap& mapping) {
  task.validate();
  mapping.require_made_for(task);
  Mat<double> law = Mat<double>::Zero(task.memory.size(), task.vocabulary());
  task.for_each_tuple(data::Task::memory, [&](std::int64_t tuple, std::span<const Id> anchors) {
    for (Id z = task.keys.first; z <= task.keys.last; ++z)
      for (const Id a : anchors) law(a - task.memory.first, mapping.label(z, tuple)) += 1;
  });
  for (Extent s = 0; s < law.rows(); ++s) law.row(s) /= law.row(s).sum();
  return law;
}

/// @brief Exact label law of key z among memory samples under one mapping: one label per tuple. Shape (1, D).
/// @throws InvalidArgument if the mapping was made for another task or z is no key.
inline Row<double> counted_memory_key_law(const AnchorTask& task, const data::MemoryMap& mapping, Id z) {
  task.validate();
  mapping.require_made_for(task);
  Row<double> law = Row<double>::Zero(task.vocabulary());
  const std::int64_t tuples = task.tuples(data::Task::memory);
  for (std::int64_t tuple = 0; tuple < tuples; ++tuple) law[mapping.label(z, tuple)] += 1;
  law /= static_cast<double>(tuples);
  return law;
}

}  // namespace incipit::inline INCIPIT_ABI::theory
