// SPDX-License-Identifier: MIT
/// @file
/// @brief Lemma 1 with explicit constants: at a small initialization attention is the average of the prefix, how far
/// off at most, and how far off in the mean.
#pragma once

#include <incipit/data/examples.hpp>
#include <incipit/theory/assumption.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

namespace incipit::inline INCIPIT_ABI::theory {

/// @brief The token pairs whose attention logits a set uses at its last position, and how often.
struct AttendedPairs {
  Extent length = 0;       ///< L
  Extent last_tokens = 0;  ///< distinct tokens that stand last
  Extent pairs = 0;        ///< n_p: distinct (last token, attended token), those of a token with itself too
  Extent same = 0;         ///< of these, a token with itself
  Extent entries = 0;      ///< distinct attention weights: distinct tokens of every distinct (last token, multiset)
};

/// @brief Counts the pairs of a set. @throws those of Examples::validate. @par Cost O(N L log N) time, N L memory.
inline AttendedPairs attended_pairs(const data::Examples& examples) {
  examples.validate();
  std::set<std::vector<Id>> sequences;
  std::set<std::pair<Id, Id>> pairs;
  std::set<Id> lasts;
  AttendedPairs out{.length = examples.length()};
  for (Extent n = 0; n < examples.size(); ++n) {
    std::vector<Id> row(examples.tokens.row(n).begin(), examples.tokens.row(n).end());
    std::sort(row.begin(), row.end() - 1);
    if (!sequences.insert(row).second) continue;
    const Id last = row.back();
    lasts.insert(last);
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (const Id token : row)
      if (pairs.emplace(last, token).second && token == last) ++out.same;
    out.entries += static_cast<Extent>(row.size());
  }
  out.last_tokens = static_cast<Extent>(lasts.size());
  out.pairs = static_cast<Extent>(pairs.size());
  return out;
}

/// @brief Attention logits \f$ \ell_{st} = w_s W_Q W_K^T w_t^T/\sqrt k \f$ at initialization with standard deviations
/// \f$ d_{in}^{-\gamma} \f$, and the distance of softmax attention from \f$ 1/i \f$.
/// @details required_gamma and failure_probability are theorems (Chebyshev and a union bound over the pairs in use),
/// bound() holds always; expected_maximum is a sharp estimate, not a bound.
/// @par Source Lemma 1 of A; constants ours, docs/derivations/lemma_1.md. @par Checked tests/theory/lemma_1_test.cpp
class Lemma1 {
 public:
  /// Vocabulary D (which scales the embedding), width m, key width k. @throws InvalidArgument if below 1, or m D = 1.
  Lemma1(Extent D, Extent m, Extent k)
      : D_(static_cast<double>(D)), m_(static_cast<double>(m)), k_(static_cast<double>(k)) {
    require(D >= 1, "D", D, "at least 1");
    require(m >= 1 && m_ * D_ > 1, "m", m, "at least 1, and m D greater than 1");
    require(k >= 1, "k", k, "at least 1");
  }

  /// Standard deviation of a logit over initializations: \f$ m^{1-2\gamma}D^{-2\gamma} \f$ between different tokens,
  /// \f$ \sqrt{1+2/m} \f$ times that of a token with itself.
  double logit_deviation(double gamma, bool same_token = false) const {
    return std::pow(m_, 1 - 2 * gamma) * std::pow(D_, -2 * gamma) * (same_token ? std::sqrt(1 + 2 / m_) : 1.0);
  }
  /// Kurtosis \f$ E\ell^4/(E\ell^2)^2 = 3(1+\tfrac2k)(1+\tfrac2m)^2 \f$ between different tokens: heavier than normal.
  double logit_kurtosis() const { return 3 * (1 + 2 / k_) * (1 + 2 / m_) * (1 + 2 / m_); }
  /// @brief \f$ |A_{ij} - 1/i| \le (e^{2\max|\ell|}-1)/i \f$, for every j <= i, always; 0 for i = 1.
  /// @throws InvalidArgument unless max_logit >= 0 and i >= 1.
  static double bound(double max_logit, Extent i) {
    require(max_logit >= 0, "max_logit", max_logit, "at least 0");
    require(i >= 1, "i", i, "at least 1");
    return i == 1 ? 0.0 : std::expm1(2 * max_logit) / static_cast<double>(i);
  }
  /// Largest logit that keeps \f$ |A_{ij}-1/i| \le \epsilon \f$ for every i: \f$ t = \ln(1+2\epsilon)/2 \f$.
  static double allowed_logit(double eps) {
    require_positive("eps", eps);
    return std::log1p(2 * eps) / 2;
  }
  /// @brief \f$ P(\max|\ell| > t) \le n_p\,m^{2-4\gamma}D^{-4\gamma}/t^2 \f$, over the pairs in use; a pair of a token
  /// with itself counts \f$ 1+2/m \f$. Not above 1.
  double failure_probability(double gamma, double eps, const AttendedPairs& in_use) const {
    const double over = logit_deviation(gamma) / allowed_logit(eps);
    return (std::min)(1.0, union_size(in_use) * over * over);
  }
  /// @brief Smallest gamma for which \f$ |A_{ij}-1/i| \le \epsilon \f$ holds at all pairs in use with probability
  /// \f$ \ge 1-\epsilon \f$: \f$ \gamma \ge (2\ln m + \ln(n_p/(\epsilon t^2))) / (4(\ln m+\ln D)) \f$.
  /// @throws InvalidArgument unless 0 < eps and there are pairs.
  double required_gamma(double eps, const AttendedPairs& in_use) const {
    const double t = allowed_logit(eps);
    return (2 * std::log(m_) + std::log(union_size(in_use) / (eps * t * t))) / (4 * (std::log(m_) + std::log(D_)));
  }

  /// @brief Mean over initializations of \f$ \max |A_{Lj}-1/L| \f$ over a set, from the tail of the logits.
  /// @details To first order \f$ L(A_{Lj}-\tfrac1L) = \ell_j - \bar\ell = (1-\tfrac1L)\ell_j - \tfrac{\sqrt{L-1}}L\zeta
  /// \f$, with one \f$ \ell \f$ for each pair and one normal \f$ \zeta \f$ for each context (sequence) that holds it.
  /// Given the query of the last token logits are normal; its squared length scatters by the excess of
  /// logit_kurtosis(), as a gamma variable. \f$ P(\max\le x) \f$ is then a product over last tokens and pairs, and
  /// \f$ E\max = \int (1-P)\,dx \f$. Pairs are spread evenly over last tokens, contexts over pairs.
  /// @throws InvalidArgument unless L >= 2 and the counts are positive. @par Cost some 10^5 evaluations.
  double expected_maximum(double gamma, const AttendedPairs& in_use) const {
    union_size(in_use);
    require(in_use.length >= 2, "length", in_use.length, "at least 2: alone, a token has all attention");
    require(in_use.last_tokens >= 1, "last_tokens", in_use.last_tokens, "at least 1");
    require(in_use.entries >= in_use.pairs, "entries", in_use.entries, "at least one for each pair");
    const double L = static_cast<double>(in_use.length), lasts = static_cast<double>(in_use.last_tokens);
    const double pairs = static_cast<double>(in_use.pairs), contexts = static_cast<double>(in_use.entries) / pairs;
    const std::vector<double> table = tail_table(1 - 1 / L, std::sqrt(L - 1) / L, contexts);
    const double excess = logit_kurtosis() / 3 - 1, spread = std::sqrt(excess);
    const double lowest = (std::max)(0.0, 1 - 8 * spread), width = 1 + 10 * spread - lowest;
    std::vector<std::pair<double, double>> lengths;  // (sqrt V, weight) of the gamma law of mean 1 and variance excess
    double total = 0;
    for (int i = 0; i < nodes; ++i) {
      const double v = lowest + (i + 0.5) * width / nodes;
      const double weight = std::exp((1 / excess - 1) * std::log(v) - (v - 1) / excess);
      lengths.emplace_back(std::sqrt(v), weight);
      total += weight;
    }
    double mean = 0;
    for (int i = 0;; ++i) {
      const double x = (i + 0.5) * step;
      double below = 0;
      for (const auto& [length, weight] : lengths)
        below += weight / total * std::exp(pairs / lasts * std::log1p(-look_up(table, x / length)));
      const double above = 1 - std::pow((std::min)(below, 1.0), lasts);
      mean += above * step;
      if (above < 1e-10) break;
    }
    return mean * logit_deviation(gamma) / L;
  }

  /// @brief What expected_maximum rests on at this gamma: logits small enough for the first order of softmax.
  std::vector<Assumption> assumptions(double gamma, const AttendedPairs& in_use) const {
    return {{"attention logits are small: L times the expected maximum",
             static_cast<double>(in_use.length) * expected_maximum(gamma, in_use), 0.1}};
  }

 private:
  static constexpr int nodes = 96;
  static constexpr double step = 0.05, reach = 40;

  /// n_p with its pairs of equal tokens weighted.
  double union_size(const AttendedPairs& in_use) const {
    require(in_use.pairs >= 1, "pairs", in_use.pairs, "at least 1");
    require(in_use.same >= 0 && in_use.same <= in_use.pairs, "same", in_use.same, "0 to the number of pairs");
    return static_cast<double>(in_use.pairs) + 2 * static_cast<double>(in_use.same) / m_;
  }
  /// P(some context of one pair lies beyond +-x) = 1 - E[(Phi((x-al)/b) - Phi((-x-al)/b))^c] at x = i step, l normal.
  static std::vector<double> tail_table(double a, double b, double contexts) {
    std::vector<double> table;
    const auto phi = [](double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; };
    for (double x = 0; x <= reach; x += step) {
      double outside = 0;
      for (int i = 0; i < nodes; ++i) {
        const double l = -9 + 18 * (i + 0.5) / nodes;
        const double beyond = phi((a * l - x) / b) + phi((-a * l - x) / b);  // of one context
        const double weight = std::exp(-l * l / 2) * 18 / nodes / std::sqrt(2 * std::numbers::pi);
        outside -= weight * std::expm1(contexts * std::log1p(-(std::min)(beyond, 1 - 1e-16)));
      }
      table.push_back((std::min)(outside, 1 - 1e-16));
    }
    return table;
  }
  static double look_up(const std::vector<double>& table, double x) {
    const double at = x / step, last = static_cast<double>(table.size()) - 1;
    if (at >= last) return 0;
    const auto i = static_cast<std::size_t>(at);
    const double part = at - static_cast<double>(i);
    return (1 - part) * table[i] + part * table[i + 1];
  }

  double D_, m_, k_;
};

}  // namespace incipit::inline INCIPIT_ABI::theory
