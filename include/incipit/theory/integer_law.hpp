// SPDX-License-Identifier: MIT
/// @file
/// @brief Probability laws on consecutive integers, and sums of uniform variables.
#pragma once

#include <incipit/core/matrix.hpp>

#include <cmath>
#include <numbers>

namespace incipit::inline INCIPIT_ABI::theory {

/// @brief A probability law on the integers first, first + 1, ..., last().
struct IntegerLaw {
  Extent first = 0;  ///< smallest value of the support
  Row<double> p;     ///< probabilities, (1, number of values)

  /// Largest value of the support.
  Extent last() const { return first + p.size() - 1; }
  /// P(X = x); zero outside the support.
  double operator()(Extent x) const { return x < first || x > last() ? 0.0 : p[x - first]; }
  /// The law of X + k.
  IntegerLaw shifted(Extent k) const { return {first + k, p}; }
  /// E X.
  double mean() const {
    double sum = 0;
    for (Extent i = 0; i < p.size(); ++i) sum += p[i] * static_cast<double>(i);
    return static_cast<double>(first) + sum;
  }
  /// Var X.
  double variance() const {
    const double centre = mean() - static_cast<double>(first);
    double sum = 0;
    for (Extent i = 0; i < p.size(); ++i)
      sum += p[i] * (static_cast<double>(i) - centre) * (static_cast<double>(i) - centre);
    return sum;
  }
  /// \f$ \rho(d) = \sum_i P(X=i)\,P(X=i+d) \f$: inner product of the law with itself moved by d.
  double autocorrelation(Extent d) const {
    d = d < 0 ? -d : d;
    return d >= p.size() ? 0.0 : p.head(p.size() - d).dot(p.tail(p.size() - d));
  }
  /// The law as a row over the labels 0..D-1, shape (1, D). @throws IndexError if a value lies outside 0..D-1.
  Row<double> over_labels(Extent D) const {
    require<IndexError>(first >= 0, "smallest label", first, "at least 0");
    require<IndexError>(last() < D, "largest label", last(), "less than D = " + std::to_string(D));
    Row<double> row = Row<double>::Zero(D);
    row.segment(first, p.size()) = p;
    return row;
  }
};

/// The uniform law on first..last. @throws InvalidArgument if the range is empty.
inline IntegerLaw uniform_law(Extent first, Extent last) {
  require(last >= first, "last", last, "at least first = " + std::to_string(first));
  const Extent n = last - first + 1;
  return {first, Row<double>::Constant(n, 1.0 / static_cast<double>(n))};
}

/// The law of the sum of two independent variables. @par Cost one multiplication per pair of values.
inline IntegerLaw convolve(const IntegerLaw& a, const IntegerLaw& b) {
  IntegerLaw sum{a.first + b.first, Row<double>::Zero(a.p.size() + b.p.size() - 1)};
  for (Extent i = 0; i < a.p.size(); ++i) sum.p.segment(i, b.p.size()) += a.p[i] * b.p;
  return sum;
}

/// \f$ \tfrac12 \sum_i |P(i) - Q(i)| \f$ over both supports.
inline double total_variation(const IntegerLaw& a, const IntegerLaw& b) {
  double sum = 0;
  for (Extent x = (std::min)(a.first, b.first); x <= (std::max)(a.last(), b.last()); ++x) sum += std::abs(a(x) - b(x));
  return sum / 2;
}

/// @brief The normal law of the given moments, rounded to integers: \f$ P(x) = \Phi(\tfrac{x+1/2-\mu}\sigma) -
/// \Phi(\tfrac{x-1/2-\mu}\sigma) \f$.
/// @details The support reaches `width` standard deviations to both sides (ten: the mass left out is 1.5e-23).
inline IntegerLaw rounded_normal_law(double mean, double variance, double width = 10) {
  require_positive("variance", variance);
  require(std::abs(mean) < 1e15, "mean", mean, "|mean| < 1e15");
  require(width > 0 && width * std::sqrt(variance) < 1e9, "width", width, "> 0 and less than 1e9 integers wide");
  const double sigma = std::sqrt(variance);
  const auto first = static_cast<Extent>(std::floor(mean - width * sigma)),
             last = static_cast<Extent>(std::ceil(mean + width * sigma));
  const auto upper_tail = [&](double x) { return std::erfc((x - mean) / sigma / std::numbers::sqrt2) / 2; };
  IntegerLaw law{first, Row<double>(last - first + 1)};
  for (Extent x = first; x <= last; ++x)
    law.p[x - first] = upper_tail(static_cast<double>(x) - 0.5) - upper_tail(static_cast<double>(x) + 0.5);
  return law;
}

/// @brief Largest number of summands q for which the closed form keeps 14 digits in scalar T.
/// @details Its terms exceed the result by about \f$ e^{0.411 q} \f$ in the middle (docs/derivations/label_law.md): 9
/// for double, 27 for the 80-bit long double.
template <Real T>
int closed_form_max_summands() {
  using std::log;
  return static_cast<int>(static_cast<double>(log(T(1e-14) / Eigen::NumTraits<T>::epsilon())) / 0.411);
}

/// @brief P(T = t) for the sum T of q independent uniforms on 0..n-1, by the alternating closed form
/// \f$ n^{-q} \sum_j (-1)^j \binom qj \binom{t+q-1-jn}{q-1} \f$.
/// @details Evaluated at the nearer end of the symmetric law. The sum cancels: see closed_form_max_summands.
/// @par Cost \f$ O(q^2) \f$ for one value.
template <Real T = long double>
T uniform_sum_closed_form(Extent q, Extent n, Extent t) {
  require(q >= 1, "q", q, "at least 1");
  require(n >= 1, "n", n, "at least 1");
  if (t < 0 || t > q * (n - 1)) return T(0);
  t = (std::min)(t, q * (n - 1) - t);
  T sum(0), choose(1);
  for (Extent j = 0; j * n <= t; ++j) {
    T term = choose / T(static_cast<double>(n));
    for (Extent i = 1; i < q; ++i) term = term * T(static_cast<double>(t - j * n + i)) / T(static_cast<double>(i * n));
    sum = j % 2 == 0 ? T(sum + term) : T(sum - term);
    choose = choose * T(static_cast<double>(q - j)) / T(static_cast<double>(j + 1));
  }
  return sum;
}

/// @brief The law of the sum of q independent uniforms on 0..n-1, by repeated convolution; q = 0 gives the law at 0.
/// @details One sliding sum per convolution, on the rising half only, where it has no harmful cancellation; the other
/// half is its mirror image. Relative error of every entry, tails included: at most \f$ q^2 \f$ rounding units.
/// @par Cost \f$ O(q^2 n) \f$.
inline IntegerLaw uniform_sum_law(Extent q, Extent n) {
  require(q >= 0, "q", q, "at least 0");
  require(n >= 1, "n", n, "at least 1");
  IntegerLaw law{0, Row<double>::Ones(1)};
  for (Extent k = 1; k <= q; ++k) {
    const Extent size = k * (n - 1) + 1;
    Row<double> next(size);
    double window = 0;
    for (Extent t = 0; 2 * t <= size - 1; ++t) {
      window += law(t);
      window -= law(t - n);
      next[t] = next[size - 1 - t] = window / static_cast<double>(n);
    }
    law.p.swap(next);
  }
  return law;
}

/// @brief P(T = t) for the sum of q uniforms on 0..n-1: the closed form in long double while it keeps 14 digits, the
/// convolution beyond.
inline double uniform_sum_probability(Extent q, Extent n, Extent t) {
  if (q <= closed_form_max_summands<long double>()) return static_cast<double>(uniform_sum_closed_form(q, n, t));
  return uniform_sum_law(q, n)(t);
}

}  // namespace incipit::inline INCIPIT_ABI::theory
