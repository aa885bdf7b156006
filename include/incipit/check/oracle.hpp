// SPDX-License-Identifier: MIT
/// @file
/// @brief Scalars as independent oracles: the same template on wider numbers, and on numbers that differentiate.
#pragma once

#include <incipit/check/law.hpp>

#include <unsupported/Eigen/AutoDiff>

#include <cmath>
#include <string>

namespace incipit::inline INCIPIT_ABI::check {

/// One scalar of a comparison, with the name it has in the report.
template <Real T>
struct Candidate {
  using Scalar = T;  ///< the scalar
  const char* name;  ///< in the report
};

/// @brief Runs one computation on several scalars and compares each with the widest.
/// @details `f.template operator()<T>()` (a templated lambda) computes an Eigen matrix over T from inputs that are
/// exact in every candidate (small dyadic numbers, or numbers rounded to the narrowest one first): else the inputs
/// differ, not the arithmetic. Each candidate must agree with `Reference` within `amplification` epsilons of its own
/// scalar, relative to the largest entry; `amplification` counts the roundings on the way: say how many sums and
/// products feed one entry.
/// @return one row per candidate, named after it
template <Real Reference, Real... Ts, class F>
LawReport compare_scalars(const F& f, double amplification, Candidate<Ts>... candidates) {
  require(amplification >= 1, "amplification", amplification, "at least 1");
  const Mat<Reference> want = f.template operator()<Reference>();
  Laws laws;
  const auto one = [&]<class T>(Candidate<T> candidate) {
    const Mat<T> got = f.template operator()<T>();
    // The difference is taken in the reference's scalar: in the narrower one it would round away.
    Mat<Reference> same(got.rows(), got.cols());
    for (Extent i = 0; i < got.rows(); ++i)
      for (Extent j = 0; j < got.cols(); ++j) same(i, j) = static_cast<Reference>(got(i, j));
    laws.equal(candidate.name, same, want, amplification * static_cast<double>(T(Eigen::NumTraits<T>::epsilon())));
  };
  (one(candidates), ...);
  return laws.report();
}

/// @brief Exact gradient of a scalar function by forward-mode differentiation: an oracle for hand-written backwards.
/// @param f callable on `Row<S>` for S = T and S = AutoDiffScalar over T, returning S
/// @param x the point, a vector of n entries over T
/// @return the gradient, (1, n).  @par Cost n + 1 evaluations of f.
/// @par Source Eigen's unsupported AutoDiff module.
template <class F, class V>
Row<typename V::Scalar> autodiff_gradient(const F& f, const V& x) {
  using T = typename V::Scalar;
  using Dual = Eigen::AutoDiffScalar<Col<T>>;
  const Extent n = x.size();
  Row<Dual> at(n);
  for (Extent i = 0; i < n; ++i) at(i) = Dual(x(i), static_cast<int>(n), static_cast<int>(i));
  const Dual value = f(at);
  // A function that does not depend on x returns a constant, which carries no derivatives.
  if (value.derivatives().size() == 0) return Row<T>::Zero(n);
  return value.derivatives().transpose();
}

}  // namespace incipit::inline INCIPIT_ABI::check
