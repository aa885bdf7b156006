// SPDX-License-Identifier: MIT
/// @file
/// @brief The multilinear flow of Emb-MLP's three matrices: when and where the model leaves its initial plateau.
#pragma once

#include <incipit/core/ode.hpp>
#include <incipit/theory/proposition_1.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace incipit::inline INCIPIT_ABI::theory {

/// @brief The flow \f$ \dot W_E = s C W_2^T W_1^T,\ \dot W_1 = s W_E^T C W_2^T,\ \dot W_2 = s W_1^T W_E^T C \f$ from
/// given initial matrices: the small-scale limit of training, needing C but no samples.
/// @details Against gradient descent take the Euler recursion with the SAME step (at_step, escape_steps); the
/// continuous flow (at) differs from it in proportion to the step. The loss that belongs to it is the first-order one
/// of Proposition1, so "x of the plateau is lost" means \f$ s\langle W_E W_1 W_2, C\rangle / \ln D \ge x \f$.
/// Derivation: docs/derivations/three_layer_flow.md.
class ThreeLayerFlow {
 public:
  /// What the continuous flow conserves: both matrices are constant in time; Euler's drift is of the order of its step.
  struct Invariants {
    Mat<double> embedding_hidden;  ///< \f$ W_E^T W_E - W_1 W_1^T \f$, (m, m)
    Mat<double> hidden_output;     ///< \f$ W_1^T W_1 - W_2 W_2^T \f$, (f, f)
  };

  /// @brief The Euler recursion, one step at a time: weights after step() updates, and what they have lost.
  class Euler {
   public:
    /// Updates made so far.
    Extent step() const { return step_; }
    /// The matrices after step() updates.
    const LayerMatrices& weights() const { return weights_; }
    /// Fraction of the plateau lost: \f$ \langle W_E, \dot W_E\rangle / \ln D \f$, which is the first-order loss.
    double lost() const {
      return weights_.embedding.cwiseProduct(velocity_.embedding).sum() / flow_->field().plateau();
    }
    /// One update. @par Cost one Proposition1::velocity.
    void advance() {
      weights_.embedding += h_ * velocity_.embedding;
      weights_.hidden += h_ * velocity_.hidden;
      weights_.output += h_ * velocity_.output;
      velocity_ = flow_->field().velocity(weights_);
      ++step_;
    }

   private:
    friend class ThreeLayerFlow;
    Euler(const ThreeLayerFlow& flow, StepSize h)
        : flow_(&flow), h_(h.value), weights_(flow.initial()), velocity_(flow.field().velocity(weights_)) {
      require(h.value > 0, "h", h.value, "greater than 0");
    }
    const ThreeLayerFlow* flow_;
    double h_;
    LayerMatrices weights_, velocity_;
    Extent step_ = 0;
  };

  /// The field (C, activation facts) and the initial matrices. @throws ShapeError
  ThreeLayerFlow(Proposition1 field, LayerMatrices initial) : field_(std::move(field)), initial_(std::move(initial)) {
    initial_.require_chain(field_.correlation().rows());
    correlation_norm_ = spectral_norm(field_.correlation());
  }

  /// The Euler recursion at its start; it refers to this flow, which must outlive it. @throws InvalidArgument if h <=
  /// 0.
  Euler euler(StepSize h) const& { return Euler(*this, h); }
  /// A recursion must not outlive its flow.
  Euler euler(StepSize h) const&& = delete;
  /// The matrices after n steps of size h from the start. @throws InvalidArgument
  LayerMatrices at_step(StepSize h, Extent n) const {
    require(n >= 0, "n", n, "at least 0");
    Euler run = euler(h);
    while (run.step() < n) run.advance();
    return run.weights();
  }
  /// First step at which each fraction of the plateau is lost, in the order given; empty where `limit` steps do not
  /// suffice.
  std::vector<std::optional<Extent>> escape_steps(StepSize h, const std::vector<double>& fractions,
                                                  Extent limit) const {
    require(limit >= 0, "limit", limit, "at least 0");
    std::vector<std::optional<Extent>> steps(fractions.size());
    std::size_t open = fractions.size();
    for (Euler run = euler(h); open > 0; run.advance()) {
      const double lost = run.lost();
      for (std::size_t i = 0; i < fractions.size(); ++i)
        if (!steps[i] && lost >= fractions[i]) steps[i] = run.step(), --open;
      if (run.step() == limit || !std::isfinite(lost)) break;
    }
    return steps;
  }

  /// @brief The continuous flow at time t, by Dormand-Prince 5(4).
  /// @details The tolerance is a local error relative to each entry, and to the rms of the smallest matrix where
  /// entries vanish.
  /// @throws InvalidArgument if t < 0; OdeError past the blow-up. @par Cost six velocities for each adaptive step.
  LayerMatrices at(FlowTime t, double tolerance = 1e-8) const {
    require(t.value >= 0, "t", t.value, "at least 0");
    Row<double> state = packed(initial_);
    integrate(state, t.value, tolerance);
    return unpacked(state);
  }
  /// @brief First time at which the continuous flow has lost each fraction; empty where it has not by `limit`.
  /// @details Looks at the ends of `interval`s, which must resolve the growth (the step of the descent does), and
  /// between them solves the cubic through the losses and their exact rates \f$ \|\dot W\|^2 \f$.
  std::vector<std::optional<double>> escape_times(FlowTime interval, const std::vector<double>& fractions,
                                                  FlowTime limit, double tolerance = 1e-8) const {
    require_positive("interval", interval.value);
    require_non_negative("limit", limit.value);
    std::vector<std::optional<double>> times(fractions.size());
    Row<double> state = packed(initial_);
    Moment before = moment(initial_);
    std::size_t open = fractions.size();
    for (double t = 0;; t += interval.value) {
      for (std::size_t i = 0; i < fractions.size(); ++i)
        if (!times[i] && before.lost >= fractions[i]) times[i] = t, --open;
      if (open == 0 || t >= limit.value) return times;
      integrate(state, interval.value, tolerance);
      const Moment after = moment(unpacked(state));
      for (std::size_t i = 0; i < fractions.size(); ++i)
        if (!times[i] && after.lost >= fractions[i])
          times[i] = t + interval.value * crossing(before, after, interval.value, fractions[i]), --open;
      before = after;
    }
  }

  /// Fraction of the plateau \f$ \ln D \f$ lost at the given matrices.
  double lost(const LayerMatrices& w) const { return field_.loss_drop(w) / field_.plateau(); }
  /// The conserved quantities at the given matrices.
  static Invariants invariants(const LayerMatrices& w) {
    return {w.embedding.transpose() * w.embedding - w.hidden * w.hidden.transpose(),
            w.hidden.transpose() * w.hidden - w.output * w.output.transpose()};
  }

  /// @brief The assumptions of Proposition1 at the given matrices, and the growth per step: it must be small where the
  /// continuous flow, not the Euler recursion, is compared with gradient descent.
  /// @details Growth \f$ h\,|s|\,\|C\|_2 \max(\|W_E\|_2, \|W_1\|_2, \|W_2\|_2) \f$ bounds the relative growth of any
  /// mode in one step; for a balanced mode it is \f$ h s w \f$.
  std::vector<Assumption> assumptions(const LayerMatrices& w, StepSize h) const {
    std::vector<Assumption> all = field_.assumptions(w);
    const double size = (std::max)({spectral_norm(w.embedding), spectral_norm(w.hidden), spectral_norm(w.output)});
    all.push_back({"the step resolves the growth: h |C| |W|",
                   h.value * std::abs(field_.facts().slope0) * correlation_norm_ * size, 0.2});
    return all;
  }
  /// @brief Follows the Euler recursion until an assumption breaks: where prediction and training may part.
  /// @par Cost about two velocities a step.
  std::optional<Breach> first_breach(StepSize h, Extent limit) const {
    for (Euler run = euler(h);; run.advance()) {
      if (const auto broken = first_broken(assumptions(run.weights(), h))) return Breach{*broken, run.step()};
      if (run.step() >= limit) return std::nullopt;
    }
  }

  const Proposition1& field() const { return field_; }       ///< C and the activation facts
  const LayerMatrices& initial() const { return initial_; }  ///< the matrices at time 0

 private:
  struct Moment {
    double lost, rate;  // fraction of the plateau, and its time derivative
  };
  Moment moment(const LayerMatrices& w) const {
    const LayerMatrices v = field_.velocity(w);
    return {w.embedding.cwiseProduct(v.embedding).sum() / field_.plateau(),
            (v.embedding.squaredNorm() + v.hidden.squaredNorm() + v.output.squaredNorm()) / field_.plateau()};
  }
  /// Where, as a fraction of the interval, the cubic through both moments first reaches `level`.
  static double crossing(const Moment& a, const Moment& b, double interval, double level) {
    double low = 0, high = 1;
    for (int i = 0; i < 52; ++i) {
      const double x = (low + high) / 2, y = 1 - x;
      const double value =
          y * y * (1 + 2 * x) * a.lost + x * x * (3 - 2 * x) * b.lost + interval * x * y * (y * a.rate - x * b.rate);
      (value < level ? low : high) = x;
    }
    return high;
  }
  static Row<double> packed(const LayerMatrices& w) {
    Row<double> state(w.embedding.size() + w.hidden.size() + w.output.size());
    state << w.embedding.reshaped<Eigen::RowMajor>().transpose(), w.hidden.reshaped<Eigen::RowMajor>().transpose(),
        w.output.reshaped<Eigen::RowMajor>().transpose();
    return state;
  }
  LayerMatrices unpacked(const Row<double>& state) const {
    const Extent D = initial_.embedding.rows(), m = initial_.hidden.rows(), f = initial_.hidden.cols();
    const double* at = state.data();
    return {Eigen::Map<const Mat<double>>(at, D, m), Eigen::Map<const Mat<double>>(at + D * m, m, f),
            Eigen::Map<const Mat<double>>(at + D * m + m * f, f, D)};
  }
  void integrate(Row<double>& state, double duration, double tolerance) const {
    const auto rms = [](const Mat<double>& x) { return x.norm() / std::sqrt(static_cast<double>(x.size())); };
    OdeOptions options;
    options.rtol = tolerance;
    options.atol = tolerance * (std::min)({rms(initial_.embedding), rms(initial_.hidden), rms(initial_.output)});
    const auto system = [this](double, const Row<double>& y, Row<double>& dy) {
      dy = packed(field_.velocity(unpacked(y)));
    };
    dormand_prince(system, state, 0.0, duration, options);
  }
  /// Largest singular value, by power iteration; not from a constant vector, which C maps to zero.
  static double spectral_norm(const Mat<double>& x) {
    Col<double> v(x.cols());
    for (Extent i = 0; i < v.size(); ++i) v[i] = std::sin(static_cast<double>(i + 1));
    v.normalize();
    double norm = 0;
    for (int i = 0; i < 40; ++i) {
      const Col<double> image = x * v;
      norm = image.norm();
      if (!(norm > 0)) return norm;
      v = x.transpose() * image;
      v.normalize();
    }
    return norm;
  }

  Proposition1 field_;
  LayerMatrices initial_;
  double correlation_norm_ = 0;
};

}  // namespace incipit::inline INCIPIT_ABI::theory
