// SPDX-License-Identifier: MIT
/// @file
/// @brief How far Proposition 1 is off at initialization: the order of its remainder in D, m, f, gamma, with
/// prefactors.
#pragma once

#include <incipit/data/examples.hpp>
#include <incipit/theory/assumption.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace incipit::inline INCIPIT_ABI::theory {

/// @brief Squared Frobenius norms of the input statistics that enter the remainder.
struct RemainderStatistics {
  Extent D = 0;              ///< vocabulary
  double correlation2 = 0;   ///< \f$ \|E[x^T(y-u)]\|^2 \f$: the signal, x the row of token counts
  double cooccurrence2 = 0;  ///< \f$ \|E[x^T x]\|^2 \f$: meets the softmax's first-order change
  double interaction2 = 0;   ///< \f$ \|E[x\otimes x\otimes(y-u)]\|^2 \f$: meets act''(0)
};

/// @brief Counts the statistics of a data set. @par Cost \f$ O(N L^2 + D^2) \f$ time, \f$ D^2 \f$ memory.
inline RemainderStatistics remainder_statistics(const data::Examples& examples) {
  examples.validate();
  const Extent D = examples.vocab, L = examples.length();
  std::vector<std::vector<Extent>> by_label(static_cast<std::size_t>(D));
  for (Extent n = 0; n < examples.size(); ++n)
    by_label[static_cast<std::size_t>(examples.labels[static_cast<std::size_t>(n)])].push_back(n);
  const double weight = 1 / static_cast<double>(examples.size()), u = 1 / static_cast<double>(D);
  Mat<double> all = Mat<double>::Zero(D, D), joint = Mat<double>::Zero(D, D), pairs = Mat<double>::Zero(D, D);
  double squares = 0;
  for (Extent label = 0; label < D; ++label) {
    const auto& rows = by_label[static_cast<std::size_t>(label)];
    for (const Extent n : rows)
      for (Extent i = 0; i < L; ++i) {
        joint(examples.tokens(n, i), label) += weight;
        for (Extent j = 0; j < L; ++j) pairs(examples.tokens(n, i), examples.tokens(n, j)) += weight;
      }
    for (const Extent n : rows)  // collect each touched entry once, and leave the table clean for the next label
      for (Extent i = 0; i < L; ++i)
        for (Extent j = 0; j < L; ++j) {
          double& entry = pairs(examples.tokens(n, i), examples.tokens(n, j));
          all(examples.tokens(n, i), examples.tokens(n, j)) += entry;
          squares += entry * entry;
          entry = 0;
        }
  }
  const Col<double> occurrences = joint.rowwise().sum();
  return {D, joint.squaredNorm() - u * occurrences.squaredNorm(), all.squaredNorm(), squares - u * all.squaredNorm()};
}

/// @brief Relative Frobenius error of Proposition 1 for \f$ \dot W_E \f$ at initialization with standard deviations
/// \f$ d_{in}^{-\gamma} \f$.
/// @details Two terms, uncorrelated by their parity in W_2: the softmax leaves uniform, of order
/// \f$ (Dmf)^{-\gamma} \f$, and the activation bends, of order \f$ |act''(0)| (Dm)^{-\gamma} \f$. rms() is the ratio of
/// root mean squares over Gaussian weights, exact to leading order; one draw scatters around it, but its slope in gamma
/// with common random numbers is that of order(). Derivation: docs/derivations/proposition_1.md.
class RemainderLaw {
 public:
  /// Widths m, f and the facts of the activation; statistics of the data. @throws InvalidArgument
  RemainderLaw(const RemainderStatistics& statistics, Extent m, Extent f, ActivationFacts facts = {})
      : statistics_(statistics),
        D_(static_cast<double>(statistics.D)),
        m_(static_cast<double>(m)),
        f_(static_cast<double>(f)),
        facts_(facts) {
    require(statistics.D >= 2, "D", statistics.D, "at least 2");
    require(statistics.correlation2 > 0, "correlation2", statistics.correlation2, "greater than 0");
    require(m >= 1, "m", m, "at least 1");
    require(f >= 1, "f", f, "at least 1");
    require(facts.slope0 != 0, "act'(0)", facts.slope0, "not 0");
  }
  /// \f$ \max\{(Dmf)^{-\gamma}, |act''(0)|(Dm)^{-\gamma}\} \f$.
  double order(double gamma) const {
    return (std::max)(std::pow(D_ * m_ * f_, -gamma), std::abs(facts_.curvature0) * std::pow(D_ * m_, -gamma));
  }
  /// Root mean square of the softmax part.
  double softmax_part(double gamma) const {
    const double r = D_ - 1;  // rank of the centring I - 11^T/D
    const double wishart = f_ * r * r + 2 * r + (m_ + 1) * (r * r + f_ * r + r);
    return std::abs(facts_.slope0) * std::sqrt(statistics_.cooccurrence2 / statistics_.correlation2 * wishart) / D_ *
           std::pow(D_ * m_ * f_, -gamma);
  }
  /// Root mean square of the curvature part.
  double curvature_part(double gamma) const {
    return std::abs(facts_.curvature0 / facts_.slope0) *
           std::sqrt((m_ + 2) * statistics_.interaction2 / statistics_.correlation2) * std::pow(D_ * m_, -gamma);
  }
  /// Root mean square of the relative error, both parts.
  double rms(double gamma) const { return std::hypot(softmax_part(gamma), curvature_part(gamma)); }
  /// Slope of ln error against ln order() between two gammas: 1 where the law of order holds.
  double slope(double gamma_a, double error_a, double gamma_b, double error_b) const {
    require(order(gamma_a) != order(gamma_b), "gamma_b", gamma_b, "a gamma with another order than gamma_a");
    return std::log(error_b / error_a) / std::log(order(gamma_b) / order(gamma_a));
  }
  /// The slope that the mixture of both parts has: tends to 1 as one part dominates (wide f, large gamma).
  double expected_slope(double gamma_a, double gamma_b) const {
    return slope(gamma_a, rms(gamma_a), gamma_b, rms(gamma_b));
  }
  /// @brief What the order rests on: act(0) = 0, weights small, and one part dominating the other at this gamma.
  std::vector<Assumption> assumptions(double gamma) const {
    const double big = (std::max)(softmax_part(gamma), curvature_part(gamma));
    return {{"act(0) = 0", std::abs(facts_.value0), 0.0},
            {"remainder is small against the signal", rms(gamma), 0.1},
            {"pre-activations are small: sqrt(m) (D m)^-gamma", std::sqrt(m_) * std::pow(D_ * m_, -gamma), 0.1},
            {"smaller part of the remainder over the larger",
             (std::min)(softmax_part(gamma), curvature_part(gamma)) / big, 0.1}};
  }

 private:
  RemainderStatistics statistics_;
  double D_, m_, f_;
  ActivationFacts facts_;
};

}  // namespace incipit::inline INCIPIT_ABI::theory
