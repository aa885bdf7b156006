// SPDX-License-Identifier: MIT
/// @file
/// @brief Propositions 2 and 3 in three forms: as published, exact from the population law, and exact from the counted
/// set; with what separates them.
#pragma once

#include <incipit/theory/attention_flow.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace incipit::inline INCIPIT_ABI::theory {

/// @brief Three predictors of \f$ \dot w_s \f$ in the one-layer transformer at small weights.
/// @details `published`: \f$ \tfrac{r_s}L (P^s-u)(W_f^T+I)(W_{VO}^T+I) \f$, which lets an average stand for the last
/// token. `law`: \f$ \bar C_s F^T W_{VO}^T + \hat C_s F^T \f$ with the law of the population, before any data.
/// `counted`: the same with the statistics of the very set. Memory anchors (Proposition 2) and reasoning anchors
/// (Proposition 3) differ by their \f$ P^s \f$ only.
/// @par Errors of each \f$ \hat C_s \f$ is counted on \f$ N\,P(last=s) \f$ labels, so `law` misses `counted` by
/// sampling_ratio(); `published` also by published_excess(). @par Source A, Propositions 2-3;
/// docs/derivations/proposition_2.md.
class Proposition2 {
 public:
  /// @param counted statistics of a set of `samples` sequences. @param law those of its population.
  /// @param samples N. @param facts act(0), act'(0), act''(0).
  /// @throws ShapeError if they belong to different vocabularies; InvalidArgument if samples < 1.
  Proposition2(data::LastTokenStatistics counted, data::LastTokenStatistics law, Extent samples,
               ActivationFacts facts = {})
      : counted_(std::move(counted), facts), law_(std::move(law), facts), samples_(static_cast<double>(samples)) {
    require(samples >= 1, "samples", samples, "at least 1");
    require_size("counted.vocab()", counted_.statistics().vocab(), law_.statistics().vocab());
    require_size("counted.label_space()", counted_.statistics().label_space(), law_.statistics().label_space());
    require_size("counted.length", counted_.statistics().length, law_.statistics().length);
  }

  /// Velocities of all embeddings from the counted statistics, (D, m). @throws ShapeError
  Mat<double> counted(const TransformerMatrices& w) const { return counted_.embedding_velocity(w); }
  /// Velocities of all embeddings from the population law, (D, m). @throws ShapeError
  Mat<double> law(const TransformerMatrices& w) const { return law_.embedding_velocity(w); }
  /// Velocities of all embeddings as the paper has them, with the law's \f$ r_s, P^s \f$, (D, m). @throws ShapeError
  Mat<double> published(const TransformerMatrices& w) const {
    const data::LastTokenStatistics& s = law_.statistics();
    w.require_chain(s.vocab(), s.label_space());
    const Mat<double> inner = law_.facts().slope0 * s.average_correlation * w.hidden_out.transpose();
    const Mat<double> fed = s.average_correlation + inner * w.hidden_in.transpose();
    const Mat<double> pull = fed * w.output.transpose();
    return fed + pull * w.value.transpose();
  }

  /// @brief Rms of `counted` - `law` over these tokens, relative to `law`, at small weights:
  /// \f$ \sqrt{\sum_s P_s (1-|\hat P^s|^2)/N} / \sqrt{\sum_s P_s^2 |\hat P^s-u|^2} \f$ with \f$ P_s = P(last=s) \f$.
  /// @details For one token \f$ \sqrt{(1-|P|^2)/(N P_s)}\,/\,|P-u| \f$. @throws IndexError, InvalidArgument
  double sampling_ratio(data::IdRange tokens) const {
    double noise = 0, signal = 0;
    for (Id s = checked(tokens).first; s <= tokens.last; ++s) {
      const double share = law_.statistics().last[s];
      noise += share * (std::max)(0.0, 1 - law_.statistics().last_law.row(s).squaredNorm()) / samples_;
      signal += law_.statistics().last_correlation.row(s).squaredNorm();
    }
    require(signal > 0, "tokens", tokens.text(), "tokens that stand last, with a law that is not uniform");
    return std::sqrt(noise / signal);
  }
  /// The error of `law` relative to what training does: \f$ n/\sqrt{1+n^2} \f$ for the ratio n above.
  double law_error(data::IdRange tokens) const { return std::sin(std::atan(sampling_ratio(tokens))); }
  /// The cosine between `law` and what training does: \f$ 1/\sqrt{1+n^2} \f$.
  double law_cosine(data::IdRange tokens) const { return std::cos(std::atan(sampling_ratio(tokens))); }

  /// \f$ |\bar C - \hat C| / |\hat C| \f$ over these tokens: the error of `published` in the limit of many samples and
  /// small weights. For an anchor \f$ q(L-q)/L - 1 \f$, in the paper's setting 14/9 - 1.
  double published_excess(data::IdRange tokens) const {
    const auto [average, last] = rows(tokens);
    return (average - last).norm() / last.norm();
  }
  /// Cosine between \f$ \bar C \f$ and \f$ \hat C \f$ over these tokens: that of `published` in the same limit.
  double published_limit_cosine(data::IdRange tokens) const {
    const auto [average, last] = rows(tokens);
    return average.cwiseProduct(last).sum() / (average.norm() * last.norm());
  }
  /// The error of `published` relative to what training does at N samples: \f$ \sqrt{(e^2+n^2)/(1+n^2)} \f$ with e =
  /// published_excess.
  double published_error(data::IdRange tokens) const {
    const double n = sampling_ratio(tokens), e = published_excess(tokens);
    return std::hypot(e, n) / std::hypot(1.0, n);
  }
  /// The cosine of `published` with what training does at N samples.
  double published_cosine(data::IdRange tokens) const { return published_limit_cosine(tokens) * law_cosine(tokens); }

  /// @brief What each form adds to the assumptions of AttentionFlow: enough samples for `law`, and for `published` also
  /// a last token that is as frequent as the average one.
  std::vector<Assumption> assumptions(data::IdRange tokens) const {
    return {{"law: sampling noise of the last position over the signal", sampling_ratio(tokens), 0.1},
            {"published: |P(last=s) - r_s/L| over P(last=s)", published_excess(tokens), 0.1}};
  }
  /// The first order with the counted statistics: all matrices, loss, assumptions.
  const AttentionFlow& counted_flow() const { return counted_; }
  /// The first order with the population law.
  const AttentionFlow& law_flow() const { return law_; }

 private:
  data::IdRange checked(data::IdRange tokens) const {
    require<IndexError>(tokens.first >= 0 && tokens.last < law_.statistics().vocab() && tokens.size() >= 1, "tokens",
                        tokens.text(), "a range of tokens");
    return tokens;
  }
  std::pair<Mat<double>, Mat<double>> rows(data::IdRange tokens) const {
    const Extent first = checked(tokens).first;
    const Mat<double> last = law_.statistics().last_correlation.middleRows(first, tokens.size());
    require(last.norm() > 0, "tokens", tokens.text(), "tokens that stand last, with a law that is not uniform");
    return {law_.statistics().average_correlation.middleRows(first, tokens.size()), last};
  }

  AttentionFlow counted_, law_;
  double samples_;
};

}  // namespace incipit::inline INCIPIT_ABI::theory
