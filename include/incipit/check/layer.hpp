// SPDX-License-Identifier: MIT
/// @file
/// @brief One battery for every layer: gradients and contracts at a generic input, then at degenerate ones.
#pragma once

#include <incipit/check/contract.hpp>
#include <incipit/check/gradient.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace incipit::inline INCIPIT_ABI::check {

/// Settings of the battery.
struct LayerOptions {
  std::uint64_t seed = 1;        ///< of directions and upstream gradients
  bool rows_independent = true;  ///< each output row depends on its own input row only (not so for attention)
  bool smooth = true;            ///< differentiable also at zero, at ties and at equal entries (not so for ReLU)
  double huge = 1e4;             ///< factor of the input called huge
  std::vector<std::string> idle{};  ///< parameters that the output does not depend on, see ContractOptions
};

/// @brief Result of the battery.
struct LayerReport {
  GradientReport gradients;   ///< at the given input: every row must pass
  LawReport contracts;        ///< at the given input, and "finite" at each degenerate one: every row must pass
  GradientReport degenerate;  ///< at degenerate inputs: no row may fail; rounding may leave one unresolved

  /// True if everything holds.
  bool passed() const { return gradients.passed() && contracts.passed() && degenerate.count(Verdict::fail) == 0; }
  /// The three tables.
  friend std::ostream& operator<<(std::ostream& out, const LayerReport& r) {
    return out << r.gradients << '\n' << r.contracts << '\n' << r.degenerate;
  }
};

namespace detail {

/// Degenerate inputs of the shape of x, by name, and whether the layer is differentiable there only if smooth.
template <class X>
struct Degenerate {
  std::string name;
  X x;
  bool needs_smooth;
};

template <class X>
std::vector<Degenerate<X>> degenerate_inputs(const X& x, double huge) {
  using S = typename X::Scalar;
  std::vector<Degenerate<X>> cases;
  if constexpr (std::is_integral_v<S>) {
    cases.push_back({"repeated token", X::Constant(x.rows(), x.cols(), x(0, 0)), false});
  } else {
    X one_hot = X::Zero(x.rows(), x.cols());
    for (Extent n = 0; n < x.rows(); ++n) one_hot(n, n % x.cols()) = S(1);
    cases.push_back({"zero", X::Zero(x.rows(), x.cols()), true});
    cases.push_back({"1e-8", X(x * S(1e-8)), false});
    cases.push_back({"one-hot", one_hot, true});
    cases.push_back({"equal values", X::Constant(x.rows(), x.cols(), S(0.75)), true});
    cases.push_back({"huge", X(x * S(huge)), false});
  }
  return cases;
}

}  // namespace detail

/// @brief The battery: gradient and contract checks at x, then gradients and finiteness at degenerate inputs.
/// @details Degenerate inputs of x's shape: all zero, x times 1e-8, one-hot rows, equal values, x times `huge`; and x's
/// first row alone where rows are independent. For ids: one token repeated everywhere. Where the layer is
/// not `smooth`, no derivative is asked for at zero, one-hot and equal values. A layer may refuse a degenerate
/// input with a typed error: that is reported and passes; a NaN does not. Call the battery once more with one column
/// for width 1, if the layer takes it.
/// @param layer    see RealLayer, IdLayer
/// @param params   the bundle, at generic values (fill_parameters)
/// @param x        a generic input (random_input), for ids with a repeated token
/// @param options  see LayerOptions
template <class L, class B, class X>
requires CheckableLayer<L, X> LayerReport check_layer(const L& layer, const B& params, const X& x,
                                                      const LayerOptions& options = {}) {
  using Caller = detail::Caller<L, B, X>;
  using Y = typename Caller::Y;
  const Caller caller{layer};
  const GradientOptions gradient{options.seed, 3, 0.125};
  LayerReport report;
  report.gradients = check_gradient(layer, params, x, gradient);
  // Differences of an idle parameter are all rounding; that its gradient is no more than that is for the contract to say.
  for (GradientRow& row : report.gradients.rows)
    if (row.verdict == Verdict::unresolved && std::find(options.idle.begin(), options.idle.end(), row.name) != options.idle.end()) {
      row.verdict = Verdict::pass;
      row.reason = "idle: rounding only, judged by its contract";
    }
  report.contracts = check_contract(layer, params, x, {options.seed, options.rows_independent, true, options.idle});

  auto cases = detail::degenerate_inputs(x, options.huge);
  if (options.rows_independent && x.rows() > 1) cases.push_back({"single row", X(x.topRows(1)), false});
  for (const auto& one : cases) {
    try {
      const Y y = caller.forward(params, one.x);
      const auto g = caller.gradients(params, one.x, Y::Ones(y.rows(), y.cols()));
      bool finite = detail::distance(y, y) == 0;
      for (const auto& [name, m] : detail::tensors<Caller>(g)) finite = finite && detail::distance(m, m) == 0;
      report.contracts.rows.push_back(law_row("finite: " + one.name, finite ? 0 : 1, 0, "1 if not finite"));
      if (finite && (options.smooth || !one.needs_smooth))
        report.degenerate.append(check_gradient(layer, params, one.x, gradient), one.name + ": ");
    } catch (const Error& error) {
      report.contracts.rows.push_back(law_row("refused: " + one.name, 0, 0, error.what()));
    }
  }
  return report;
}

}  // namespace incipit::inline INCIPIT_ABI::check
