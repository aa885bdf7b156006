// SPDX-License-Identifier: MIT
/// @file
/// @brief Gradient checker: of scalar functions, and of layers with every tensor tested on its own.
#pragma once

#include <incipit/check/adapter.hpp>
#include <incipit/check/taylor.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

namespace incipit::inline INCIPIT_ABI::check {

/// One checked tensor.
struct GradientRow {
  std::string name;                                                 ///< "x", or the parameter's name
  double taylor_order = std::numeric_limits<double>::quiet_NaN();   ///< NaN when the remainder is zero to rounding
  double central_error = std::numeric_limits<double>::quiet_NaN();  ///< relative, worst of the directions
  Verdict verdict = Verdict::fail;                                  ///< worst of the directions
  std::string reason;                                               ///< of that direction

  /// Column titles.
  static std::array<std::string, 5> titles() { return {"tensor", "order", "central err.", "verdict", "reason"}; }
  /// Printed cells.
  std::array<std::string, 5> cells() const {
    return {name, cell(taylor_order, 4), cell(central_error), to_string(verdict), reason};
  }
};

/// Rows of checked tensors.
using GradientReport = Report<GradientRow>;

/// Settings of the gradient checker. Tolerances are not among them: they follow from the scalar (see Tolerances).
struct GradientOptions {
  std::uint64_t seed = 1;       ///< of directions and upstream gradient
  int directions = 3;           ///< random directions per tensor, >= 1
  double largest_step = 0.125;  ///< relative to the root mean square of the tensor's entries, in (0, 1]
};

namespace detail {

/// Sums are taken one precision up where the machine has one, so that the checker adds no noise of its own.
template <Real T>
using Wide = std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, double>, long double, T>;

/// Remainders along v. `change(point)` is f(point) - f(base); `size` is |f| as it enters rounding errors, `norm` the
/// typical |<g, v>|.
template <Real T, class Change>
Ladder climb(const Row<T>& base, const Row<T>& gradient, const Row<T>& v, double size, double norm,
             const Change& change, const Tolerances& t, double largest_step) {
  using W = Wide<T>;
  Row<T> point(base.size());
  double moved_by = 0;
  const auto remainder = [&](double h) {
    point = base + T(h) * v;
    // What the point really moved: rounding of base + h v is no part of the remainder.
    W expected(0);
    for (Extent i = 0; i < base.size(); ++i) expected += W(gradient(i)) * (W(point(i)) - W(base(i)));
    const W moved = change(point);
    moved_by = std::abs(static_cast<double>(moved));
    return static_cast<double>(W(moved - expected));
  };

  // Third differences over steps of a few hundred ulp cancel every smooth part; 20 = C(6, 3) is their variance in units
  // of the noise of one value, and a remainder is a difference of two values.
  const double eps = static_cast<double>(T(Eigen::NumTraits<T>::epsilon()));
  constexpr int steps = 16;
  std::array<double, steps> r{};
  for (int j = 1; j < steps; ++j) r[static_cast<std::size_t>(j)] = remainder(200 * eps * j);
  double squares = 0;
  for (std::size_t j = 0; j + 3 < steps; ++j) {
    const double d = r[j + 3] - 3 * r[j + 2] + 3 * r[j + 1] - r[j];
    squares += d * d;
  }
  const double noise = (std::max)(std::sqrt(2 * squares / (20.0 * (steps - 3))), 0.25 * eps * size);

  Ladder l;
  l.gradient_norm = norm;
  constexpr int rungs = 14;
  const double ratio = std::pow(largest_step / t.finest_step, 1.0 / (rungs - 1));
  double h = largest_step;
  for (int k = 0; k < rungs; ++k, h /= ratio) {
    l.h.push_back(h);
    l.plus.push_back(remainder(h));
    const double moved_plus = moved_by;
    l.minus.push_back(remainder(-h));
    // Far from the point f may be larger than at it, and its rounding with it.
    l.noise.push_back(noise + 0.5 * eps * (std::max)({moved_plus, moved_by, norm * h}));
  }
  W slope(0);
  for (Extent i = 0; i < base.size(); ++i) slope += W(gradient(i)) * W(v(i));
  l.slope = static_cast<double>(slope);
  return l;
}

/// Root mean square in double, 1 for a zero tensor, NaN or infinity if an entry is.
template <Real T>
double typical_size(const Row<T>& x) {
  double largest = 0, squares = 0;
  for (Extent i = 0; i < x.size(); ++i) {
    const double size = std::abs(static_cast<double>(x(i)));
    if (!std::isfinite(size)) return size;
    largest = (std::max)(largest, size);
  }
  if (!(largest > 0)) return 1;
  for (Extent i = 0; i < x.size(); ++i) squares += std::pow(static_cast<double>(x(i)) / largest, 2);
  return largest * std::sqrt(squares / static_cast<double>(x.size()));
}

/// Checks one tensor along several random directions and keeps the worst.
template <Real T, class Change>
GradientRow check_tensor(std::string name, const Row<T>& base, const Row<T>& gradient, double size,
                         const Change& change, const GradientOptions& options) {
  require(options.directions >= 1, "directions", options.directions, "at least 1");
  require(options.largest_step > 0 && options.largest_step <= 1, "largest_step", options.largest_step, "in (0, 1]");
  require_size("gradient of " + name, gradient.size(), base.size());
  require<ShapeError>(base.size() > 0, "entries of " + name, base.size(), "at least 1");
  GradientRow row;
  row.name = std::move(name);
  const double scale = typical_size(base);
  const double norm = gradient.isZero(0) ? 0 : typical_size(gradient) * std::sqrt(static_cast<double>(base.size()));
  if (!std::isfinite(norm)) {
    row.reason = "gradient is not finite";
    return row;
  }
  const Tolerances tolerances = Tolerances::of<T>();
  const RandomStream stream = RandomStream(options.seed, "check").child(row.name);
  for (int d = 0; d < options.directions; ++d) {
    // A direction almost orthogonal to the gradient would see little of it: draw again.
    Row<T> v;
    double slope = 0;
    for (std::uint64_t draw = 0; draw < 16; ++draw) {
      v = random_normal<Row<T>>(1, base.size(), stream.child(static_cast<std::uint64_t>(d)).child(draw));
      slope = static_cast<double>(T(v.dot(gradient)));
      if (std::abs(slope) >= 0.3 * norm) break;
    }
    v *= T(scale);
    const Ladder l = climb<T>(base, gradient, v, size, norm * scale, change, tolerances, options.largest_step);
    const TaylorVerdict one = judge(l, tolerances);
    const double largest_error = d == 0 ? one.central_error : (std::max)(row.central_error, one.central_error);
    // The worst verdict counts. Among equal ones the order nearest to 2 is told: where curvature is small in one
    // direction, the third power mixes in.
    const auto rank = [](Verdict verdict) {
      return verdict == Verdict::fail ? 2 : verdict == Verdict::unresolved ? 1 : 0;
    };
    const bool worse = rank(one.verdict) > rank(row.verdict),
               nearer = rank(one.verdict) == rank(row.verdict) &&
                        !(std::abs(row.taylor_order - 2) <= std::abs(one.order - 2)) && !std::isnan(one.order);
    if (d == 0 || worse || nearer) row.taylor_order = one.order, row.verdict = one.verdict, row.reason = one.reason;
    row.central_error = largest_error;
  }
  return row;
}

template <class M>
Row<typename M::Scalar> flattened(const M& m) {
  return Eigen::Map<const Row<typename M::Scalar>>(m.data(), 1, m.size());
}

}  // namespace detail

/// @brief Checks a claimed gradient of a scalar function of a vector.
/// @param f         callable f(const Row<T>&) -> T
/// @param x         the point, a vector
/// @param gradient  claimed gradient at x, of the same length (ShapeError)
/// @param options   seed, directions, largest step
/// @return one row called "x".  @par Cost 40 evaluations of f per direction.
template <class F, class V>
GradientReport check_function(const F& f, const V& x, const V& gradient, const GradientOptions& options = {}) {
  using T = typename V::Scalar;
  using W = detail::Wide<T>;
  const Row<T> base = detail::flattened(x);
  const W value = W(T(f(base)));
  const auto change = [&](const Row<T>& point) { return W(T(f(point))) - value; };
  return {{detail::check_tensor<T>("x", base, detail::flattened(gradient), std::abs(static_cast<double>(value)), change,
                                   options)}};
}

/// @brief Checks a layer's backward: its input and each parameter separately, against a random upstream gradient.
/// @details With f = <dy, y> for a random normal dy, every tensor is moved alone along random directions; see `judge`
/// for what a right gradient must show. Gradients of a layer with ids as input are those of its parameters only.
/// @param layer    see RealLayer, IdLayer
/// @param params   the bundle (Owned or plain), at values where the layer is not special
/// @param x        input of the plain matrix type that `forward` takes
/// @param options  seed, directions, largest step
/// @return rows "x" and one per parameter.  @par Cost 40 forward passes per tensor and direction.
template <class L, class B, class X>
requires CheckableLayer<L, X> GradientReport check_gradient(const L& layer, const B& params, const X& x,
                                                            const GradientOptions& options = {}) {
  using Caller = detail::Caller<L, B, X>;
  using T = typename Caller::T;
  using W = detail::Wide<T>;
  using Y = typename Caller::Y;
  const Caller caller{layer};
  const Y y = caller.forward(params, x);
  const Y dy = random_normal<Y>(y.rows(), y.cols(), RandomStream(options.seed, "check/dy"));
  const auto claimed = caller.gradients(params, x, dy);
  double size = 0;
  for (Extent i = 0; i < y.size(); ++i) size += std::pow(static_cast<double>(T(y.data()[i] * dy.data()[i])), 2);
  size = std::sqrt(size);
  const auto change = [&](const Y& moved) {
    W sum(0);
    for (Extent i = 0; i < y.size(); ++i) sum += W(dy.data()[i]) * (W(moved.data()[i]) - W(y.data()[i]));
    return sum;
  };

  GradientReport report;
  if constexpr (Caller::has_dx) {
    X at = x;
    const auto along = [&](const Row<T>& point) {
      Eigen::Map<Row<T>>(at.data(), 1, at.size()) = point;
      return change(caller.forward(params, at));
    };
    report.rows.push_back(
        detail::check_tensor<T>("x", detail::flattened(x), detail::flattened(claimed.dx), size, along, options));
  }
  B at = params;
  at.for_each_parameter([&](std::string_view name, auto& slot) {
    const Row<T> base = detail::flattened(slot);
    Row<T> gradient;
    claimed.grad.for_each_parameter([&](std::string_view other, const auto& g) {
      if (other == name) gradient = detail::flattened(g);
    });
    Eigen::Map<Row<T>> flat(slot.data(), 1, slot.size());
    const auto along = [&](const Row<T>& point) {
      flat = point;
      return change(caller.forward(at, x));
    };
    report.rows.push_back(detail::check_tensor<T>(std::string(name), base, gradient, size, along, options));
    flat = base;
  });
  return report;
}

}  // namespace incipit::inline INCIPIT_ABI::check
