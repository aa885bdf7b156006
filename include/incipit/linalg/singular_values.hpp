// SPDX-License-Identifier: MIT
/// @file
/// @brief Singular values without vectors: checked, descending, non-negative.
#pragma once

#include <incipit/linalg/status.hpp>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <utility>

namespace incipit::inline INCIPIT_ABI {
namespace linalg {

/// @brief Singular values with the outcome of their computation.
template <Real T>
struct SingularValues {
  Status status;  ///< `values` is empty unless this is ok
  Col<T> values;  ///< (min(R, C)), descending, >= 0
};

namespace detail {

template <Real T>
using ColMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;

/// Singular values of the bidiagonal matrix (d, e) as the positive half of the spectrum of the 2n x 2n tridiagonal
/// matrix with zero diagonal and off-diagonal d0, e0, d1, ... (Golub and Kahan): nothing is squared, so small values
/// survive.
template <Real T>
bool bidiagonal_values(const Col<T>& d, const Col<T>& e, Col<T>& values) {
  const Extent n = d.size();
  Col<T> zero = Col<T>::Zero(2 * n), off(2 * n - 1);
  for (Extent i = 0; i < n; ++i) {
    off(2 * i) = d(i);
    if (i + 1 < n) off(2 * i + 1) = e(i);
  }
  Eigen::SelfAdjointEigenSolver<ColMajor<T>> solver;
  solver.computeFromTridiagonal(zero, off, Eigen::EigenvaluesOnly);
  if (!detail::converged(solver.info())) return false;
  values = solver.eigenvalues().reverse().head(n).cwiseMax(T(0));
  return true;
}

/// Singular values of `a`, tall or square, not empty; false if the iteration does not converge.
template <Real T>
bool tall_values(ColMajor<T> a, Col<T>& values) {
  const Extent n = a.cols();
  if (a.rows() > n + n / 2) {
    const Eigen::HouseholderQR<Eigen::Ref<ColMajor<T>>> qr(a);
    a = ColMajor<T>(a.topRows(n).template triangularView<Eigen::Upper>());
  }
  const Eigen::internal::UpperBidiagonalization<ColMajor<T>> reduction(a);
  auto band = reduction.bidiagonal();
  const Col<T> d = band.template diagonal<0>(), e = band.template diagonal<1>();
  return bidiagonal_values<T>(d, e, values);
}

}  // namespace detail

/// @brief All singular values of `a`, with a typed status instead of an exception.
/// @par Shapes a: (R, C), any size, also empty; values: (min(R, C)).
/// @par Method entries are checked first, so that a NaN can neither hang the iteration nor pass as a result; then
/// scaled by a power of two, Householder QR if much taller than wide, bidiagonalised, and the bidiagonal matrix solved
/// by the implicit tridiagonal QL iteration on its Golub-Kahan form. Absolute error below 2 n eps times the largest
/// value for (n, n). The zero matrix has only zeros.
/// @par Cost about 8/3 n^3 FLOPs for (n, n), half the time of Eigen's divide and conquer without vectors.
template <class Derived>
SingularValues<typename Derived::Scalar> try_singular_values(const Eigen::MatrixBase<Derived>& a) {
  using T = typename Derived::Scalar;
  using std::frexp;
  using std::ldexp;
  const Mat<T> input = a;
  if (const Status status = check_finite(input); !status) return {status, {}};
  const bool wide = input.rows() < input.cols();
  detail::ColMajor<T> tall = wide ? detail::ColMajor<T>(input.transpose()) : detail::ColMajor<T>(input);
  const Extent n = tall.cols();
  if (n == 0) return {{}, Col<T>(0)};
  const T largest = tall.cwiseAbs().maxCoeff();
  if (!(largest > T(0))) return {{}, Col<T>::Zero(n)};
  int exponent = 0;
  frexp(largest, &exponent);
  // In two halves: the factor of a denormal matrix is itself beyond the largest number.
  const int half = -exponent / 2;
  tall *= ldexp(T(1), half);
  tall *= ldexp(T(1), -exponent - half);
  Col<T> values;
  if (!detail::tall_values<T>(std::move(tall), values)) return {{Outcome::no_convergence, -1, -1}, {}};
  std::sort(values.data(), values.data() + values.size(), [](const T& x, const T& y) { return y < x; });
  values *= ldexp(T(1), -half);
  values *= ldexp(T(1), exponent + half);
  return {{}, std::move(values)};
}

/// @brief All singular values of `a`, descending and non-negative: (min(R, C)).
/// @throws NonFiniteError naming the entry as `name(row,col)`. @see try_singular_values for method and cost.
template <class Derived>
Col<typename Derived::Scalar> singular_values(const Eigen::MatrixBase<Derived>& a, std::string_view name = "matrix") {
  auto result = try_singular_values(a);
  require_ok(result.status, name);
  return std::move(result.values);
}

}  // namespace linalg
}  // namespace incipit::inline INCIPIT_ABI
