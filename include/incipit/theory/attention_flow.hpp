// SPDX-License-Identifier: MIT
/// @file
/// @brief The first order of the one-layer transformer (Definition 2): which way each of its seven matrices moves from
/// small weights, from the statistics of the data.
#pragma once

#include <incipit/data/last_token.hpp>
#include <incipit/theory/assumption.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace incipit::inline INCIPIT_ABI::theory {

/// @brief The seven matrices of Definition 2, or their velocities, as the theory sees them.
struct TransformerMatrices {
  Mat<double> embedding;   ///< W_E, (D, m)
  Mat<double> query;       ///< W_Q, (m, k)
  Mat<double> key;         ///< W_K, (m, k)
  Mat<double> value;       ///< W_V, (m, k)
  Mat<double> output;      ///< W_O, (k, m)
  Mat<double> hidden_in;   ///< W_f1, (m, f)
  Mat<double> hidden_out;  ///< W_f2, (f, m)

  /// @brief Contract: shapes chain, for a vocabulary of D and a width that is the label space M. @throws ShapeError
  void require_chain(Extent D, Extent M) const {
    require_size("embedding.rows()", embedding.rows(), D);
    require_size("embedding.cols()", embedding.cols(), M);
    require_size("query.rows()", query.rows(), M);
    require_size("key.rows()", key.rows(), M);
    require_size("key.cols()", key.cols(), query.cols());
    require_size("value.rows()", value.rows(), M);
    require_size("output.rows()", output.rows(), value.cols());
    require_size("output.cols()", output.cols(), M);
    require_size("hidden_in.rows()", hidden_in.rows(), M);
    require_size("hidden_out.rows()", hidden_out.rows(), hidden_in.cols());
    require_size("hidden_out.cols()", hidden_out.cols(), M);
  }
};

/// @brief Leading order of \f$ -\partial\mathcal L \f$ in a small embedding, for
/// \f$ v = \bar x W_V W_O + x_L,\ f = act(v W_{f1}) W_{f2} + v \f$ (attention an average to leading order).
/// @details With s = act'(0), \f$ F = I + s W_{f1}W_{f2} \f$, \f$ W_{VO} = W_V W_O \f$ and the statistics
/// \f$ \bar C, \hat C \f$ of data::LastTokenStatistics:
/// \f$ \dot W_E = (\bar C F^T) W_{VO}^T + \hat C F^T,\quad \dot W_V = W_E^T \bar C F^T W_O^T,\quad
/// \dot W_O = W_V^T W_E^T \bar C F^T, \f$ and with \f$ K = E[v^T(y-u)] = W_{VO}^T W_E^T \bar C + W_E^T \hat C \f$:
/// \f$ \dot W_{f1} = s K W_{f2}^T,\ \dot W_{f2} = s W_{f1}^T K \f$. These are the exact gradients of
/// \f$ \ln M - \langle K, F\rangle \f$, the loss to first order. W_Q and W_K come from a set: velocity(w, examples).
/// The other six matrices need not be small: the expansion is in W_E alone.
/// @par Source ours, docs/derivations/proposition_2.md. @par Checked tests/theory/proposition_2_test.cpp
class AttentionFlow {
 public:
  /// Statistics of the data and facts of the activation. @throws InvalidArgument if the statistics are empty.
  explicit AttentionFlow(data::LastTokenStatistics statistics, ActivationFacts facts = {})
      : statistics_(std::move(statistics)), facts_(facts) {
    require(statistics_.length >= 1 && statistics_.vocab() >= 1, "statistics.length", statistics_.length,
            "at least 1: statistics of a set or a law");
  }

  /// Velocity of W_E, row s that of token s. Shape (D, m). @throws ShapeError @par Cost \f$ 4Dm(2f+k) \f$ FLOPs.
  Mat<double> embedding_velocity(const TransformerMatrices& w) const {
    require_chain(w);
    const Mat<double> inner = through(statistics_.average_correlation, w) * w.output.transpose();
    const Mat<double> back = inner * w.value.transpose();
    return back + through(statistics_.last_correlation, w);
  }
  /// @brief Velocities of W_E, W_V, W_O, W_f1, W_f2; W_Q and W_K are zero here.
  /// @details W_Q and W_K start to move two orders of W_E later, so in the flow of the leading order they rest.
  /// @throws ShapeError
  TransformerMatrices velocity(const TransformerMatrices& w) const {
    require_chain(w);
    const Mat<double> average = through(statistics_.average_correlation, w);  // (D, m)
    const Mat<double> pull = average * w.output.transpose();                  // (D, k)
    const Mat<double> values = w.embedding * w.value;                         // (D, k)
    const Mat<double> k = moment(w);
    TransformerMatrices v;
    v.embedding = pull * w.value.transpose();
    v.embedding += through(statistics_.last_correlation, w);
    v.query = Mat<double>::Zero(w.query.rows(), w.query.cols());
    v.key = v.query;
    v.value = w.embedding.transpose() * pull;
    v.output = values.transpose() * average;
    v.hidden_in = facts_.slope0 * k * w.hidden_out.transpose();
    v.hidden_out = facts_.slope0 * w.hidden_in.transpose() * k;
    return v;
  }
  /// @brief All seven: W_Q and W_K by counting last token, token and label jointly on a set (see attention_gain).
  /// @par Errors those of attention_gain.
  TransformerMatrices velocity(const TransformerMatrices& w, const data::Examples& examples) const {
    TransformerMatrices v = velocity(w);
    const Mat<double> gain = attention_gain(w, examples);
    v.query = gain * w.key;
    v.key = gain.transpose() * w.query;
    return v;
  }
  /// @brief \f$ G = \frac1{NL\sqrt k} \sum_i x_{L}^T \sum_j ((x_j-\bar x)\cdot h_i)\, x_j,\ h_i = (y_i-u) F^T W_{VO}^T
  /// \f$, (m, m): \f$ \dot W_Q = G W_K,\ \dot W_K = G^T W_Q \f$.
  /// @details From logits \f$ \ell_j = x_L W_Q W_K^T x_j^T/\sqrt k \f$ and weights \f$ a_j \approx \tfrac1L + (\ell_j -
  /// \bar\ell)/L \f$. The scalars \f$ x_t\cdot h_y \f$ are tabulated once, so a sample costs only 2 L additions.
  /// @throws ShapeError, IndexError for a set of another vocabulary. @par Cost \f$ O(NL + D(M+D)m) \f$.
  Mat<double> attention_gain(const TransformerMatrices& w, const data::Examples& examples) const {
    require_chain(w);
    examples.validate();
    require_size("examples.vocab", examples.vocab, statistics_.vocab());
    const Extent L = examples.length();
    // scores(t, y) = x_t . (e_y F^T W_VO^T); subtracting u shifts a row by its mean.
    const Mat<double> values = w.embedding * w.value;
    Mat<double> scores = values * w.output;
    scores += facts_.slope0 * (scores * w.hidden_in) * w.hidden_out;
    const Col<double> mean = scores.rowwise().mean();
    scores.colwise() -= mean;
    Mat<double> joint = Mat<double>::Zero(examples.vocab, examples.vocab);  // (last, token)
    for (Extent n = 0; n < examples.size(); ++n) {
      const Id y = examples.labels[static_cast<std::size_t>(n)], last = examples.tokens(n, L - 1);
      double average = 0;
      for (Extent j = 0; j < L; ++j) average += scores(examples.tokens(n, j), y);
      average /= static_cast<double>(L);
      for (Extent j = 0; j < L; ++j) joint(last, examples.tokens(n, j)) += scores(examples.tokens(n, j), y) - average;
    }
    joint /= static_cast<double>(examples.size() * L) * std::sqrt(static_cast<double>(w.query.cols()));
    const Mat<double> right = joint * w.embedding;
    return w.embedding.transpose() * right;
  }
  /// \f$ K = E[v^T(y-u)] \f$ to leading order, (m, M).
  Mat<double> moment(const TransformerMatrices& w) const {
    require_chain(w);
    const Mat<double> values = w.embedding * w.value;
    const Mat<double> inner = values.transpose() * statistics_.average_correlation;  // (k, M)
    return w.output.transpose() * inner + w.embedding.transpose() * statistics_.last_correlation;
  }
  /// Nats by which the loss lies below ln M: \f$ \langle K, I + s W_{f1}W_{f2}\rangle \f$.
  double loss_drop(const TransformerMatrices& w) const {
    const Mat<double> k = moment(w);
    const Mat<double> inner = w.hidden_in.transpose() * k;
    return k.trace() + facts_.slope0 * inner.cwiseProduct(w.hidden_out).sum();
  }
  /// First-order loss, nats: \f$ \ln M \f$ minus loss_drop().
  double loss(const TransformerMatrices& w) const { return plateau() - loss_drop(w); }
  /// The initial plateau \f$ \ln M \f$.
  double plateau() const { return std::log(static_cast<double>(statistics_.label_space())); }

  /// @brief What the expansion neglects at these weights, as bounds over all tokens: a nonzero act(0), large
  /// pre-activations, logits and attention logits away from 0.
  std::vector<Assumption> assumptions(const TransformerMatrices& w) const {
    require_chain(w);
    const auto largest = [](const Mat<double>& x) { return x.cwiseAbs().maxCoeff(); };
    const Mat<double> values = w.embedding * w.value;
    const Mat<double> mixed = values * w.output;
    const Mat<double> mixed_in = mixed * w.hidden_in, own_in = w.embedding * w.hidden_in;
    const Mat<double> mixed_out = mixed + facts_.slope0 * mixed_in * w.hidden_out;
    const Mat<double> own_out = w.embedding + facts_.slope0 * own_in * w.hidden_out;
    const Mat<double> queries = w.embedding * w.query, keys = w.embedding * w.key;
    const Mat<double> attention = queries * keys.transpose() / std::sqrt(static_cast<double>(w.query.cols()));
    return {{"act(0) = 0", std::abs(facts_.value0), 0.0},
            {"pre-activations are small: max|v W_f1|", largest(mixed_in) + largest(own_in), 0.2},
            {"logits are small: max|v F|", largest(mixed_out) + largest(own_out), 0.1},
            {"attention is an average: max|x W_Q W_K^T x^T|/sqrt k", largest(attention), 0.05}};
  }
  /// Statistics of the data.
  const data::LastTokenStatistics& statistics() const { return statistics_; }
  /// act(0), act'(0), act''(0).
  const ActivationFacts& facts() const { return facts_; }

 private:
  void require_chain(const TransformerMatrices& w) const {
    w.require_chain(statistics_.vocab(), statistics_.label_space());
  }
  /// \f$ C F^T = C + s (C W_{f2}^T) W_{f1}^T \f$, (D, m).
  Mat<double> through(const Mat<double>& correlation, const TransformerMatrices& w) const {
    const Mat<double> inner = facts_.slope0 * correlation * w.hidden_out.transpose();
    return correlation + inner * w.hidden_in.transpose();
  }

  data::LastTokenStatistics statistics_;
  ActivationFacts facts_;
};

}  // namespace incipit::inline INCIPIT_ABI::theory
