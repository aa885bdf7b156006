// SPDX-License-Identifier: MIT
/// @file
/// @brief Law checker: what a predictor or a simulation must satisfy whatever its numbers are.
#pragma once

#include <incipit/check/report.hpp>
#include <incipit/core/matrix.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace incipit::inline INCIPIT_ABI::check {

namespace detail {

/// Entry-wise distance and size of numbers, ranges of numbers, and Eigen matrices. NaN stays NaN.
template <class V>
double law_distance(const V& a, const V& b);

inline double worse(double worst, double next) { return next <= worst ? worst : next; }

template <class V>
concept MatrixLike = requires(const V v) {
  v.rows(), v.cols(), v(0, 0);
};

template <class V>
double law_distance(const V& a, const V& b) {
  if constexpr (MatrixLike<V>) {
    if (a.rows() != b.rows() || a.cols() != b.cols()) return (std::numeric_limits<double>::infinity)();
    double worst = 0;
    for (Extent i = 0; i < a.rows(); ++i)
      for (Extent j = 0; j < a.cols() && worst == worst; ++j) worst = worse(worst, law_distance(a(i, j), b(i, j)));
    return worst;
  } else if constexpr (requires { a.size(), a[0]; }) {
    if (a.size() != b.size()) return (std::numeric_limits<double>::infinity)();
    double worst = 0;
    for (std::size_t i = 0; i < a.size() && worst == worst; ++i) worst = worse(worst, law_distance(a[i], b[i]));
    return worst;
  } else {
    if (a == b) return 0;  // also equal infinities
    return std::abs(static_cast<double>(V(a - b)));
  }
}

template <class V>
double law_size(const V& a) {
  if constexpr (MatrixLike<V>) {
    double worst = 0;
    for (Extent i = 0; i < a.rows(); ++i)
      for (Extent j = 0; j < a.cols(); ++j) worst = worse(worst, law_size(a(i, j)));
    return worst;
  } else if constexpr (requires { a.size(), a[0]; }) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) worst = worse(worst, law_size(a[i]));
    return worst;
  } else {
    return std::abs(static_cast<double>(a));
  }
}

inline double relative(double distance, double size) { return size > 0 ? distance / size : distance; }

}  // namespace detail

/// Which way a sequence must go.
enum class Direction {
  falling,  ///< never rises
  rising    ///< never falls
};

/// @brief Collects named laws; every value may be a number, a vector or a matrix, and "distance" is its largest entry.
/// @details Distances are relative to the largest entry of the wanted value (absolute when that is zero), except in
/// `equal_within`. NaN fails every law. Bounds are the caller's, and are said in the report.
class Laws {
 public:
  /// |got - want| <= bound, absolute.
  template <class V>
  Laws& equal_within(std::string name, const V& got, const std::type_identity_t<V>& want, double bound) {
    return add(std::move(name), detail::law_distance<V>(got, want), bound, "absolute difference");
  }
  /// |got - want| <= bound |want|.
  template <class V>
  Laws& equal(std::string name, const V& got, const std::type_identity_t<V>& want, double bound) {
    return add(std::move(name), detail::relative(detail::law_distance<V>(got, want), detail::law_size(want)), bound,
               "relative difference");
  }
  /// A quantity along a trajectory stays what it was at the first point; at least two points (InvalidArgument).
  template <class V>
  Laws& conserved(std::string name, const std::vector<V>& trajectory, double bound) {
    require(trajectory.size() >= 2, "points of conserved quantity " + name, trajectory.size(), "at least 2");
    double worst = 0;
    std::size_t where = 0;
    for (std::size_t i = 1; i < trajectory.size(); ++i) {
      const double d = detail::law_distance<V>(trajectory[i], trajectory[0]);
      if (!(d <= worst)) worst = d, where = i;
      if (worst != worst) break;
    }
    return add(std::move(name), detail::relative(worst, detail::law_size(trajectory[0])), bound,
               "largest relative drift, at point " + std::to_string(where));
  }
  /// A square matrix equals its transpose (ShapeError if not square).
  template <class M>
  Laws& symmetric(std::string name, const M& a, double bound) {
    require_size("columns of " + name, a.cols(), a.rows());
    double worst = 0;
    for (Extent i = 0; i < a.rows(); ++i)
      for (Extent j = 0; j < i && worst == worst; ++j)
        worst = detail::worse(worst, detail::law_distance<typename M::Scalar>(a(i, j), a(j, i)));
    return add(std::move(name), detail::relative(worst, detail::law_size(a)), bound, "relative asymmetry");
  }
  /// f(transform(x)) = f(x): invariance under a symmetry.
  template <class F, class G, class X>
  Laws& invariant(std::string name, const F& f, const G& transform, const X& x, double bound) {
    const auto want = f(x);
    const auto got = f(transform(x));
    return equal(std::move(name), got, want, bound);
  }
  /// run(s, 0) = s: nothing happens in no time. `run(state, t)` returns the state a time t later.
  template <class Run, class State>
  Laws& identity_at_zero(std::string name, const Run& run, const State& state, double bound = 0) {
    const State got = run(state, 0.0);
    return equal(std::move(name), got, state, bound);
  }
  /// run(run(s, t1), t2) = run(s, t1 + t2): a restart continues the run. Times >= 0 (InvalidArgument).
  template <class Run, class State>
  Laws& restart(std::string name, const Run& run, const State& state, double t1, double t2, double bound) {
    require(t1 >= 0 && t2 >= 0, "times of restart law " + name, (std::min)(t1, t2), "at least 0");
    const State middle = run(state, t1);
    const State got = run(middle, t2);
    const State want = run(state, t1 + t2);
    return equal(std::move(name), got, want, bound);
  }
  /// A sequence never goes the wrong way by more than `slack`; at least two points (InvalidArgument).
  Laws& monotone(std::string name, const std::vector<double>& values, Direction direction, double slack = 0) {
    require(values.size() >= 2, "points of monotone law " + name, values.size(), "at least 2");
    double worst = 0;
    std::size_t where = 0;
    for (std::size_t i = 1; i < values.size() && worst == worst; ++i) {
      const double step = values[i] - values[i - 1];
      const double wrong = direction == Direction::falling ? step : -step;
      if (!(wrong <= worst)) worst = wrong, where = i;
    }
    return add(std::move(name), worst, slack, "largest step the wrong way, at point " + std::to_string(where));
  }
  /// Any other law: a measured violation and its bound.
  Laws& add(std::string name, double value, double bound, std::string reason = "") {
    require(bound >= 0, "bound of law " + name, bound, "zero or a positive number");
    report_.rows.push_back(law_row(std::move(name), value, bound, std::move(reason)));
    return *this;
  }
  /// True if at least one law was checked and all hold.
  bool passed() const { return report_.passed(); }
  /// The rows.
  const LawReport& report() const { return report_; }
  /// The table.
  friend std::ostream& operator<<(std::ostream& out, const Laws& laws) { return out << laws.report_; }

 private:
  LawReport report_;
};

}  // namespace incipit::inline INCIPIT_ABI::check
