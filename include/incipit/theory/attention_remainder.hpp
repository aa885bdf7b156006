// SPDX-License-Identifier: MIT
/// @file
/// @brief How far the first order of the one-layer transformer is off at initialization: \f$ D^{-\gamma} \f$ for every
/// matrix, with prefactors.
#pragma once

#include <incipit/data/last_token.hpp>
#include <incipit/theory/assumption.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace incipit::inline INCIPIT_ABI::theory {

/// @brief What the softmax's first change sees of the data: \f$ Q = E[\bar e^T e_{last}] \f$, the average token row of
/// a sequence against its last token, (D, D).
/// @throws those of Examples::validate. @par Cost O(N L + D^2).
inline Mat<double> average_last_cooccurrence(const data::Examples& examples) {
  examples.validate();
  require(examples.vocab <= data::max_dense_vocab, "vocab", examples.vocab, "few enough for a (D, D) matrix");
  Mat<double> pairs = Mat<double>::Zero(examples.vocab, examples.vocab);
  const Extent L = examples.length();
  for (Extent n = 0; n < examples.size(); ++n)
    for (Extent j = 0; j < L; ++j) pairs(examples.tokens(n, j), examples.tokens(n, L - 1)) += 1;
  pairs /= static_cast<double>(examples.size() * L);
  return pairs;
}

/// @brief Relative Frobenius error of AttentionFlow at initialization with standard deviations
/// \f$ d_{in}^{-\gamma} \f$: of order \f$ D^{-\gamma} \f$ for each of the seven matrices.
/// @details Every gradient is expanded in W_E, and \f$ p-u \approx \tfrac1M v F\,\Pi \f$ is the first thing neglected;
/// attention's departure from the average is of order \f$ m^{1-2\gamma}D^{-2\gamma} \f$, the activation's bend of order
/// \f$ |act''(0)|(Dm)^{-\gamma} \f$. The prefactors are ratios of root mean squares over Gaussian weights, in the limit
/// where \f$ W_{VO} \f$ and \f$ W_{f1}W_{f2} \f$ are small beside 1; W_Q and W_K have the order only.
/// @par Source ours, docs/derivations/proposition_2.md. @par Checked tests/theory/proposition_2_test.cpp
class AttentionRemainder {
 public:
  /// @param statistics of the data, for the width m = M of the model. @param cooccurrence Q, (D, D).
  /// @param facts act(0), act'(0), act''(0).
  /// @throws ShapeError
  AttentionRemainder(data::LastTokenStatistics statistics, In<Mat<double>> cooccurrence, ActivationFacts facts = {})
      : statistics_(std::move(statistics)), facts_(facts) {
    require_size("cooccurrence.rows()", cooccurrence.rows(), statistics_.vocab());
    require_size("cooccurrence.cols()", cooccurrence.cols(), statistics_.vocab());
    pairs2_ = cooccurrence.squaredNorm();
    pairs_trace_ = cooccurrence.trace();
    pairs_trace2_ = cooccurrence.cwiseProduct(cooccurrence.transpose()).sum();
  }

  /// The order that all matrices share, \f$ D^{-\gamma} \f$.
  double order(double gamma) const { return std::pow(static_cast<double>(statistics_.vocab()), -gamma); }
  /// Rms relative error of rows first..last of \f$ \dot W_E \f$:
  /// \f$ D^{-\gamma}\sqrt{m-1}\,\sqrt{\sum_s P(last=s)^2} / (m\,|\hat C|) \f$, both over these tokens.
  double embedding(double gamma, data::IdRange tokens) const {
    require<IndexError>(tokens.first >= 0 && tokens.last < statistics_.vocab() && tokens.size() >= 1, "tokens",
                        tokens.text(), "a range of tokens");
    const double shares = statistics_.last.segment(tokens.first, tokens.size()).norm();
    const double signal = statistics_.last_correlation.middleRows(tokens.first, tokens.size()).norm();
    require(signal > 0, "tokens", tokens.text(), "tokens that stand last, with a law that is not uniform");
    return order(gamma) * std::sqrt(width() - 1) * shares / (width() * signal);
  }
  /// Rms relative error of \f$ \dot W_{f1} \f$ and \f$ \dot W_{f2} \f$, which share it:
  /// \f$ D^{-\gamma}\sqrt{(1-\tfrac1m)(1+(m+1)\sum_s P(last=s)^2)} / (m\,|\hat C|) \f$.
  double feed_forward(double gamma) const {
    return order(gamma) * std::sqrt((1 - 1 / width()) * (1 + (width() + 1) * statistics_.last.squaredNorm())) /
           (width() * statistics_.last_correlation.norm());
  }
  /// Rms relative error of \f$ \dot W_V \f$ and \f$ \dot W_O \f$, which share it:
  /// \f$ D^{-\gamma}\sqrt{(1-\tfrac1m)(m|Q|^2 + \mathrm{tr}Q^2 + (\mathrm{tr}Q)^2)} / (m\,|\bar C|) \f$.
  double value_output(double gamma) const {
    return order(gamma) *
           std::sqrt((1 - 1 / width()) * (width() * pairs2_ + pairs_trace2_ + pairs_trace_ * pairs_trace_)) /
           (width() * statistics_.average_correlation.norm());
  }
  /// Slope of ln error against ln order() between two gammas: 1 where the law of order holds.
  double slope(double gamma_a, double error_a, double gamma_b, double error_b) const {
    require(gamma_a != gamma_b, "gamma_b", gamma_b, "a gamma other than gamma_a");
    return std::log(error_b / error_a) / std::log(order(gamma_b) / order(gamma_a));
  }
  /// @brief What the prefactors rest on, for a model of key width k and hidden width f at this gamma.
  std::vector<Assumption> assumptions(double gamma, Extent k, Extent f) const {
    require(k >= 1, "k", k, "at least 1");
    require(f >= 1, "f", f, "at least 1");
    const double mixing = std::pow(width() * static_cast<double>(k), 0.5 - gamma),
                 feeding = std::abs(facts_.slope0) * std::pow(width() * static_cast<double>(f), 0.5 - gamma);
    return {{"act(0) = 0", std::abs(facts_.value0), 0.0},
            {"value and output are small beside 1: (m k)^(1/2 - gamma)", mixing, 0.1},
            {"the feed-forward is small beside 1: (m f)^(1/2 - gamma)", feeding, 0.1},
            {"logits are small: sqrt(m) D^-gamma", std::sqrt(width()) * order(gamma), 1.0},
            {"the bend of the activation is small: |act''(0)| m^-gamma",
             std::abs(facts_.curvature0) * std::pow(width(), -gamma), 0.1}};
  }

 private:
  double width() const { return static_cast<double>(statistics_.label_space()); }

  data::LastTokenStatistics statistics_;
  ActivationFacts facts_;
  double pairs2_, pairs_trace_, pairs_trace2_;
};

}  // namespace incipit::inline INCIPIT_ABI::theory
