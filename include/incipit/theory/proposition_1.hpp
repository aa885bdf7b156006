// SPDX-License-Identifier: MIT
/// @file
/// @brief Proposition 1 and its companions: the gradient flow of Emb-MLP to leading order in a small initialization,
/// for all three matrices, from the label-correlation matrix C alone.
#pragma once

#include <incipit/theory/assumption.hpp>

#include <cmath>

namespace incipit::inline INCIPIT_ABI::theory {

/// @brief The three matrices of Emb-MLP, or their velocities, as the theory sees them.
struct LayerMatrices {
  Mat<double> embedding;  ///< W_E, (D, m)
  Mat<double> hidden;     ///< W_1, (m, f)
  Mat<double> output;     ///< W_2, (f, D)

  /// @brief Contract: shapes chain, and fit a vocabulary of D. @throws ShapeError
  void require_chain(Extent D) const {
    require_size("embedding.rows()", embedding.rows(), D);
    require_size("hidden.rows()", hidden.rows(), embedding.cols());
    require_size("output.rows()", output.rows(), hidden.cols());
    require_size("output.cols()", output.cols(), D);
  }
};

/// @brief Leading-order gradient flow at small weights, from the D x D matrix \f$ C = E[(\sum_x e_x)^T (y-u)] \f$.
/// @details \f$ \dot W_E = s\,C W_2^T W_1^T,\ \dot W_1 = s\,W_E^T C W_2^T,\ \dot W_2 = s\,W_1^T W_E^T C \f$ with
/// s = act'(0), and \f$ \text{loss} = \ln D - s\langle W_E W_1 W_2, C\rangle \f$: the flows are its exact gradients.
/// Row s of the first is \f$ \dot w_s = r_s (P^s-u) W_2^T W_1^T \f$.
/// @par Source Proposition 1 of the paper; the other two: docs/derivations/proposition_1.md.
class Proposition1 {
 public:
  /// @param correlation C, (D, D).
  /// @param tokens largest number of tokens in an input, L: bounds activations.
  /// @param facts act(0), act'(0), act''(0).
  /// @throws ShapeError if C is not square; InvalidArgument if tokens < 1.
  Proposition1(Mat<double> correlation, Extent tokens, ActivationFacts facts = {})
      : correlation_(std::move(correlation)), tokens_(tokens), facts_(facts) {
    require_size("correlation.cols()", correlation_.cols(), correlation_.rows());
    require<ShapeError>(correlation_.rows() >= 2, "correlation.rows()", correlation_.rows(), "a vocabulary of at least 2");
    require(tokens >= 1, "tokens", tokens, "at least 1");
  }

  /// Velocities of the three matrices. @throws ShapeError @par Cost \f$ 2D^2(m+f) + 6Dmf \f$ FLOPs.
  LayerMatrices velocity(const LayerMatrices& w) const {
    w.require_chain(correlation_.rows());
    const double s = facts_.slope0;
    const Mat<double> pull = s * correlation_ * w.output.transpose();     // (D, f)
    const Mat<double> push = s * w.embedding.transpose() * correlation_;  // (m, D)
    return {pull * w.hidden.transpose(), w.embedding.transpose() * pull, w.hidden.transpose() * push};
  }
  /// Velocity of W_E alone, row s that of token s. Shape (D, m).
  Mat<double> embedding_velocity(const LayerMatrices& w) const {
    w.require_chain(correlation_.rows());
    const Mat<double> pull = facts_.slope0 * correlation_ * w.output.transpose();
    return pull * w.hidden.transpose();
  }
  /// Nats by which the loss lies below ln D: \f$ s\langle W_E W_1 W_2, C\rangle \f$.
  double loss_drop(const LayerMatrices& w) const {
    w.require_chain(correlation_.rows());
    const Mat<double> pull = facts_.slope0 * correlation_ * w.output.transpose();
    const Mat<double> inner = w.embedding * w.hidden;
    return inner.cwiseProduct(pull).sum();
  }
  /// First-order loss, nats: \f$ \ln D \f$ minus loss_drop().
  double loss(const LayerMatrices& w) const { return plateau() - loss_drop(w); }
  /// The initial plateau \f$ \ln D \f$.
  double plateau() const { return std::log(static_cast<double>(correlation_.rows())); }

  /// @brief What the expansion neglects, at these weights: a nonzero act(0), large pre-activations, logits away from 0.
  /// @details The pre-activation bound is \f$ L \max|W_E W_1| \f$, the logit bound \f$ s L \max|W_E W_1 W_2| \f$.
  std::vector<Assumption> assumptions(const LayerMatrices& w) const {
    w.require_chain(correlation_.rows());
    const double L = static_cast<double>(tokens_);
    const Mat<double> inner = w.embedding * w.hidden;
    const Mat<double> logits = inner * w.output;
    return {{"act(0) = 0", std::abs(facts_.value0), 0.0},
            {"pre-activations are small: L max|W_E W_1|", L * inner.cwiseAbs().maxCoeff(), 0.2},
            {"logits are small: L max|W_E W_1 W_2|", std::abs(facts_.slope0) * L * logits.cwiseAbs().maxCoeff(), 0.1}};
  }
  /// C, (D, D).
  const Mat<double>& correlation() const { return correlation_; }
  /// act(0), act'(0), act''(0).
  const ActivationFacts& facts() const { return facts_; }
  /// L, the largest number of tokens in an input.
  Extent tokens() const { return tokens_; }

 private:
  Mat<double> correlation_;
  Extent tokens_;
  ActivationFacts facts_;
};

}  // namespace incipit::inline INCIPIT_ABI::theory
