// SPDX-License-Identifier: MIT
/// @file
/// @brief The loss and accuracy that a model blind to the order of its input cannot beat on the memory task.
#pragma once

#include <incipit/data/memory_map.hpp>
#include <incipit/theory/assumption.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace incipit::inline INCIPIT_ABI::theory {

/// @brief Best reachable mean loss (nats per memory sample) and accuracy.
struct MemoryFloor {
  double loss;      ///< irreducible cross entropy, nats
  double accuracy;  ///< largest possible fraction of right answers
};

/// @brief Expected entropy (nats) of the empirical law of n independent labels, each uniform on `values` values:
/// \f$ N_Z \sum_k \binom nk N_Z^{-k}(1-1/N_Z)^{n-k}\, \tfrac kn \ln \tfrac nk \f$.
/// @par Cost O(n).
inline double expected_empirical_entropy(Extent n, Extent values) {
  require(n >= 1, "n", n, "at least 1");
  require(values >= 1, "values", values, "at least 1");
  if (values == 1) return 0;
  const double dn = static_cast<double>(n), p = 1 / static_cast<double>(values);
  double sum = 0;
  for (Extent k = 1; k < n; ++k) {
    const double dk = static_cast<double>(k);
    const double log_weight = std::lgamma(dn + 1) - std::lgamma(dk + 1) - std::lgamma(dn - dk + 1) + dk * std::log(p) +
                              (dn - dk) * std::log1p(-p);
    sum += std::exp(log_weight) * dk / dn * std::log(dn / dk);
  }
  return sum / p;
}

/// @brief Expected share of the most frequent among n independent labels, each uniform on `values` values.
/// @details Labels are Poisson counts conditioned on their sum, so P(no label more than r times) is a coefficient of
/// the `values`-th power of a truncated Poisson polynomial; every term is positive, nothing cancels.
/// @par Cost \f$ O(n^2 \log N_Z) \f$ for each r up to the largest count that has a chance.
inline double expected_mode_share(Extent n, Extent values) {
  require(n >= 1, "n", n, "at least 1");
  require(values >= 1, "values", values, "at least 1");
  const double dn = static_cast<double>(n), rate = dn / static_cast<double>(values);
  const auto poisson = [](double mean, double k) { return std::exp(k * std::log(mean) - mean - std::lgamma(k + 1)); };
  const auto times = [n](const Row<double>& a, const Row<double>& b) {
    Row<double> c = Row<double>::Zero(n + 1);
    for (Extent i = 0; i <= n; ++i)
      if (a[i] != 0) c.tail(n + 1 - i) += a[i] * b.head(n + 1 - i);
    return c;
  };
  double expected = 0;
  for (Extent r = 0; r < n; ++r) {  // E max = sum over r of P(max > r)
    Row<double> base = Row<double>::Zero(n + 1), power = Row<double>::Unit(n + 1, 0);
    for (Extent k = 0; k <= r; ++k) base[k] = poisson(rate, static_cast<double>(k));
    for (Extent e = values; e > 0; e /= 2) {
      if (e % 2 == 1) power = times(power, base);
      base = times(base, base);
    }
    const double exceeds = 1 - power[n] / poisson(dn, dn);
    if (exceeds < 1e-15) break;
    expected += exceeds;
  }
  return expected / dn;
}

namespace detail {
/// Calls visit(parts, number of multisets of q anchors with these multiplicities, orders of each) for all partitions of
/// q.
template <class Visit>
void for_each_partition(Extent left, Extent largest, std::vector<Extent>& parts, Extent anchors, Visit&& visit) {
  if (left == 0) {
    double multisets = 1, orders = 1;
    Extent placed = 0, run = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      run = i > 0 && parts[i] == parts[i - 1] ? run + 1 : 1;
      multisets *= static_cast<double>(anchors - static_cast<Extent>(i)) / static_cast<double>(run);
      for (Extent k = 1; k <= parts[i]; ++k) orders *= static_cast<double>(++placed) / static_cast<double>(k);
    }
    visit(multisets, static_cast<Extent>(std::llround(orders)));
    return;
  }
  if (static_cast<Extent>(parts.size()) == anchors) return;
  for (Extent next = (std::min)(left, largest); next >= 1; --next) {
    parts.push_back(next);
    for_each_partition(left - next, next, parts, anchors, visit);
    parts.pop_back();
  }
}
}  // namespace detail

/// @brief Expected floor over mappings: a multiset of q anchors has n = q!/prod c! orders with independent uniform
/// labels, which a sum of embeddings cannot tell apart. For q = 2: loss \f$ (1-1/N_A)(1-1/N_Z)\ln 2 \f$.
/// @throws InvalidArgument unless 1 <= q <= 6. @par Cost seconds at q = 6 (720 orders), microseconds at q <= 4.
inline MemoryFloor expected_memory_floor(Extent q, Extent anchors, Extent keys) {
  require(q >= 1 && q <= 6, "q", q, "1 to 6");
  require(anchors >= 1, "anchors", anchors, "at least 1");
  require(keys >= 1, "keys", keys, "at least 1");
  MemoryFloor floor{0, 0};
  const double tuples = std::pow(static_cast<double>(anchors), static_cast<double>(q));
  std::vector<Extent> parts;
  detail::for_each_partition(q, q, parts, anchors, [&](double multisets, Extent orders) {
    const double share = multisets * static_cast<double>(orders) / tuples;
    floor.loss += share * expected_empirical_entropy(orders, keys);
    floor.accuracy += share * expected_mode_share(orders, keys);
  });
  return floor;
}

namespace detail {
/// The memory tuples by multiset of anchors: those that a sum of embeddings cannot tell apart.
inline std::map<std::vector<Id>, std::vector<std::int64_t>> orders_by_multiset(const data::AnchorTask& task) {
  std::map<std::vector<Id>, std::vector<std::int64_t>> orders;
  task.for_each_tuple(data::Task::memory, [&](std::int64_t tuple, std::span<const Id> anchors) {
    std::vector<Id> sorted(anchors.begin(), anchors.end());
    std::sort(sorted.begin(), sorted.end());
    orders[sorted].push_back(tuple);
  });
  return orders;
}
}  // namespace detail

/// @brief Expected floor of a task under any rule: every multiset has its own number of label values.
/// @throws InvalidArgument if the task is none or q > 6. @par Cost one pass over the memory tuples.
inline MemoryFloor expected_memory_floor(const data::AnchorTask& task) {
  task.validate();
  require(task.q <= 6, "q", task.q, "1 to 6");
  std::map<std::pair<Extent, Extent>, double> tuples;  // (orders, label values) -> number of tuples
  for (const auto& [multiset, orders] : detail::orders_by_multiset(task)) {
    const auto n = static_cast<Extent>(orders.size());
    tuples[{n, task.memory_labels(task.keys.first, multiset).size()}] += static_cast<double>(n);
  }
  MemoryFloor floor{0, 0};
  const auto all = static_cast<double>(task.tuples(data::Task::memory));
  for (const auto& [kind, n] : tuples) {
    floor.loss += n / all * expected_empirical_entropy(kind.first, kind.second);
    floor.accuracy += n / all * expected_mode_share(kind.first, kind.second);
  }
  return floor;
}

/// @brief Floor of one drawn mapping, exact: entropy and mode of the labels within each set of inputs that differ in
/// the order of their anchors only. @throws InvalidArgument if the mapping was made for another task.
/// @par Cost \f$ O(q N_A^q N_Z) \f$ times a logarithm.
inline MemoryFloor realised_memory_floor(const data::AnchorTask& task, const data::MemoryMap& mapping) {
  task.validate();
  mapping.require_made_for(task);
  const auto orders = detail::orders_by_multiset(task);
  MemoryFloor floor{0, 0};
  for (const auto& [multiset, tuples] : orders)
    for (Id z = task.keys.first; z <= task.keys.last; ++z) {
      std::map<Id, double> count;
      for (const std::int64_t tuple : tuples) count[mapping.label(z, tuple)] += 1;
      double mode = 0;
      for (const auto& [label, n] : count) {
        floor.loss += n * std::log(static_cast<double>(tuples.size()) / n);
        mode = (std::max)(mode, n);
      }
      floor.accuracy += mode;
    }
  const auto samples = static_cast<double>(mapping.labels().size());
  return {floor.loss / samples, floor.accuracy / samples};
}

/// @brief The floor binds models that see a sample as a multiset of its signal tokens: noise keys mark single samples,
/// and positions tell the orders of a tuple apart.
/// @param task the task. @param sees_order true for a model whose output changes with the order of its input.
inline std::vector<Assumption> memory_floor_assumptions(const data::AnchorTask& task, bool sees_order) {
  task.validate();
  return {{"noise keys per sample, by which a model can know it again", static_cast<double>(task.noise()), 0},
          {"the model sees the order of its input (1: yes)", sees_order ? 1.0 : 0.0, 0}};
}

}  // namespace incipit::inline INCIPIT_ABI::theory
