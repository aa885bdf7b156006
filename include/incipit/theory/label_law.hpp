// SPDX-License-Identifier: MIT
/// @file
/// @brief Label laws \f$ P^s_i = P(\text{label}=i \mid \text{sample contains } s) \f$ of composite anchor data in
/// closed form, and the cosines of the rows \f$ P^s - u \f$ that follow from them.
#pragma once

#include <incipit/data/anchor_task.hpp>
#include <incipit/theory/assumption.hpp>
#include <incipit/theory/integer_law.hpp>
#include <incipit/theory/row_cosines.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace incipit::inline INCIPIT_ABI::theory {

using data::AnchorTask;
using data::IdRange;

namespace detail {
inline IntegerLaw uniform_on(IdRange range) { return uniform_law(range.first, range.last); }
/// The law of the sum of `count` independent members of a range.
inline IntegerLaw sum_of(Extent count, IdRange range) {
  return uniform_sum_law(count, range.size()).shifted(count * range.first);
}
inline double power(Extent base, Extent exponent) {
  return std::pow(static_cast<double>(base), static_cast<double>(exponent));
}
/// The law of an offset that is uniform on -A..A, for a random A >= 0.
inline IntegerLaw spread(const IntegerLaw& a) {
  IntegerLaw offset{-a.last(), Row<double>::Zero(2 * a.last() + 1)};
  for (Extent x = a.first; x <= a.last(); ++x)
    offset.p.segment(a.last() - x, 2 * x + 1).array() += a(x) / static_cast<double>(2 * x + 1);
  return offset;
}
}  // namespace detail

/// @brief The law of \f$ S = Z + A_2 + \dots + A_q \f$: the key plus the companions of one reasoning anchor.
inline IntegerLaw companion_law(const AnchorTask& task) {
  task.validate();
  return convolve(detail::uniform_on(task.keys), detail::sum_of(task.q - 1, task.reasoning));
}

/// @brief How often each reasoning anchor occurs over the allowed ordered tuples, multiplicity counted:
/// \f$ q N_A^{q-1} \f$ minus its occurrences in held-out tuples. Shape \f$ (N_A) \f$.
inline Col<double> reasoning_counts(const AnchorTask& task) {
  task.validate();
  const double full = static_cast<double>(task.q) * detail::power(task.reasoning.size(), task.q - 1);
  Col<double> count = Col<double>::Constant(task.reasoning.size(), full);
  for (const auto& tuple : task.held_out)
    for (const Id a : tuple) count[a - task.reasoning.first] -= 1;
  return count;
}

/// @brief Label laws of the reasoning anchors, exact under held-out tuples: row s is \f$ P^s \f$. Shape \f$ (N_A, D)
/// \f$.
/// @details Without held-out tuples \f$ P^s_i = P(S = i - s) \f$. Each held-out tuple takes its own labels away from
/// the anchors in it, once per occurrence.
/// @throws InvalidArgument if the task is none, or an anchor occurs in no allowed tuple.
/// @par Cost one convolution plus \f$ |M| q N_Z \f$; the \f$ N_A^q \f$ tuples are not enumerated.
inline Mat<double> reasoning_label_law(const AnchorTask& task) {
  const IntegerLaw companions = companion_law(task);
  const Extent anchors = task.reasoning.size(), D = task.vocabulary();
  const Col<double> count = reasoning_counts(task);
  const double full = static_cast<double>(task.q) * detail::power(anchors, task.q - 1);
  Mat<double> law(anchors, D);
  for (Extent s = 0; s < anchors; ++s) law.row(s) = full * companions.shifted(task.reasoning.first + s).over_labels(D);
  for (const auto& tuple : task.held_out) {
    const Id first = AnchorTask::reasoning_label(task.keys.first, tuple);
    for (const Id a : tuple)
      law.row(a - task.reasoning.first).segment(first, task.keys.size()).array() -=
          1.0 / static_cast<double>(task.keys.size());
  }
  for (Extent s = 0; s < anchors; ++s) {
    require(count[s] > 0.5, "held_out", task.reasoning.first + s, "every reasoning anchor occurs in an allowed tuple");
    law.row(s) /= count[s];
  }
  return law;
}

/// @brief The law of \f$ A_1 + \dots + A_q \f$ over the allowed ordered tuples of reasoning anchors.
inline IntegerLaw allowed_anchor_sum(const AnchorTask& task) {
  task.validate();
  IntegerLaw sum = detail::sum_of(task.q, task.reasoning);
  const double allowed = static_cast<double>(task.tuples(data::Task::reasoning));
  sum.p *= detail::power(task.reasoning.size(), task.q) / allowed;
  for (const auto& tuple : task.held_out) sum.p[AnchorTask::reasoning_label(0, tuple) - sum.first] -= 1 / allowed;
  return sum;
}

/// @brief Label laws of the memory anchors, averaged over the drawing of the mapping. Shape \f$ (N_A, D) \f$.
/// @details F_mem1: uniform on the keys, for all anchors alike. F_mem2: z plus an offset uniform on \f$ \pm\sum a \f$.
/// Label-range groups: uniform on the range of the anchor's group. One drawn mapping differs: see QuenchedMemoryLaw.
inline Mat<double> memory_label_law(const AnchorTask& task) {
  task.validate();
  const Extent D = task.vocabulary();
  Mat<double> law(task.memory.size(), D);
  for (Extent s = 0; s < law.rows(); ++s) {
    const Id anchor = task.memory.first + static_cast<Id>(s);
    if (task.rule == data::MemoryRule::around_sum) {
      const IntegerLaw sum = detail::sum_of(task.q - 1, task.memory).shifted(anchor);
      law.row(s) = convolve(detail::uniform_on(task.keys), detail::spread(sum)).over_labels(D);
    } else {
      const std::vector<Id> tuple(static_cast<std::size_t>(task.q), anchor);
      law.row(s) = detail::uniform_on(task.memory_labels(task.keys.first, tuple)).over_labels(D);
    }
  }
  return law;
}

/// @brief Label law of key z, averaged over the drawing of the mapping: a mixture. Shape (1, D).
/// @details With \f$ \mu \f$ the share of memory tuples, k = L - q - 1 uniform noise keys per sample, \f$ M^z, R^z \f$
/// the memory and reasoning laws of samples with key z and M, R those of all: \f$ P^z = \tfrac{1}{1+k}\,[\mu M^z +
/// (1-\mu) R^z] + \tfrac{k}{1+k}\,[\mu M + (1-\mu) R] \f$.
/// @throws IndexError if z is no key.
inline Row<double> key_label_law(const AnchorTask& task, Id z) {
  task.validate();
  require<IndexError>(task.keys.contains(z), "z", z, "a key, " + task.keys.text());
  const Extent D = task.vocabulary();
  const IntegerLaw keys = detail::uniform_on(task.keys), sum = allowed_anchor_sum(task);
  Row<double> memory, memory_all;
  if (task.rule == data::MemoryRule::around_sum) {
    const IntegerLaw offset = detail::spread(detail::sum_of(task.q, task.memory));
    memory = offset.shifted(z).over_labels(D);
    memory_all = convolve(keys, offset).over_labels(D);
  } else {
    memory = Row<double>::Zero(D);  // groups by their share of the tuples
    for (Extent g = 0; g < task.group_count(); ++g) {
      const std::vector<Id> tuple(static_cast<std::size_t>(task.q), task.group(g).first);
      const double tuples = detail::power(task.group(g).size(), task.q) / static_cast<double>(task.tuples(data::Task::memory));
      memory += tuples * detail::uniform_on(task.memory_labels(task.keys.first, tuple)).over_labels(D);
    }
    memory_all = memory;
  }
  const auto memory_tuples = static_cast<double>(task.tuples(data::Task::memory));
  const double share = memory_tuples / (memory_tuples + static_cast<double>(task.tuples(data::Task::reasoning)));
  const double signal = 1 / (1 + static_cast<double>(task.noise()));
  return signal * (share * memory + (1 - share) * sum.shifted(z).over_labels(D)) +
         (1 - signal) * (share * memory_all + (1 - share) * convolve(keys, sum).over_labels(D));
}

/// @brief \f$ \cos(P^s-u, P^t-u) = (\rho(|s-t|) - 1/D) / (\rho(0) - 1/D) \f$ for two anchors whose laws are shifts of
/// one law with autocorrelation \f$ \rho \f$: the reasoning anchors without held-out tuples.
/// @throws InvalidArgument if the law has more values than there are labels, or is the uniform law itself.
inline double shifted_law_cosine(const IntegerLaw& companions, Extent distance, Extent D) {
  require(D >= companions.p.size(), "D", D, "at least the number of values of the law");
  const double u = 1 / static_cast<double>(D), norm2 = companions.autocorrelation(0) - u;
  require(norm2 > 0, "companions", norm2, "a law that differs from uniform");
  return (companions.autocorrelation(distance) - u) / norm2;
}

/// @brief Cosines between all rows \f$ P^s - u \f$ of a table of label laws. Shapes law: (n, D); result: (n, n).
/// @throws InvalidArgument if a row is the uniform law itself, whose direction is undefined.
inline Mat<double> label_cosines(In<Mat<double>> law) {
  return row_cosines(law.array() - 1 / static_cast<double>(law.cols()));
}

/// @brief A label law speaks of a population; in a drawn set of examples it is seen through sampling noise.
/// @details The law counted over \f$ n_s \f$ independent examples with token s differs from \f$ P^s \f$ by
/// \f$ \sqrt{(1-|P^s|^2)/n_s} \f$ in root mean square, which must be small beside \f$ |P^s-u| \f$, the signal. Sets
/// balanced by anchor tuple have less noise than that, the full population none.
/// @param law (n, D), the laws. @param occurrences (n), the number \f$ n_s \f$ of examples, infinity for a population.
/// @throws ShapeError, InvalidArgument if a number of examples is not positive or a row is uniform.
inline std::vector<Assumption> label_law_assumptions(In<Mat<double>> law, In<Col<double>> occurrences) {
  require_size("occurrences.size()", occurrences.size(), law.rows());
  double worst = 0;
  for (Extent s = 0; s < law.rows(); ++s) {
    require(occurrences[s] > 0, "occurrences", occurrences[s], "greater than 0");
    const double signal = (law.row(s).array() - 1 / static_cast<double>(law.cols())).matrix().norm();
    require(signal > 0, "row of law", s, "a law that differs from uniform");
    const double noise = std::sqrt((std::max)(0.0, 1 - law.row(s).squaredNorm()) / occurrences[s]);
    worst = (std::max)(worst, noise / signal);
  }
  return {{"sampling noise of a counted label law over |P^s - u|", worst, 0.1}};
}

}  // namespace incipit::inline INCIPIT_ABI::theory
