// SPDX-License-Identifier: MIT
// The headers as a program sees them that is built with -ffast-math (GCC: by pragma; the name of the inline namespace
// keeps this file's copies apart). Only the library's own code is compiled that way, not Boost's or Eigen's.
#include <boost/test/unit_test.hpp>

#include <Eigen/Core>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <sstream>
#include <string>

#define INCIPIT_ABI with_fast_math_
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("fast-math")
#undef __FINITE_MATH_ONLY__
#define __FINITE_MATH_ONLY__ 1  // as the flag does, and the pragma does not
#endif
#include <incipit/core/denormals.hpp>
#include <incipit/core/numerics.hpp>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

using namespace incipit;

namespace {
using Floats = std::tuple<float, double>;
}

BOOST_AUTO_TEST_SUITE(core_fast_math)

BOOST_AUTO_TEST_CASE_TEMPLATE(finite_checks_survive, T, Floats) {
  using Limits = std::numeric_limits<T>;
  for (const T x : {T(0), T(-1), (Limits::max)(), Limits::lowest(), Limits::denorm_min()}) {
    BOOST_TEST(is_finite(x));
    BOOST_TEST((!is_infinite(x) && !is_nan(x)));
  }
  for (const T x : {Limits::infinity(), -Limits::infinity()})
    BOOST_TEST((is_infinite(x) && !is_finite(x) && !is_nan(x)));
  for (const T x : {Limits::quiet_NaN(), -Limits::quiet_NaN()}) BOOST_TEST((is_nan(x) && !is_finite(x)));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(vectorised_functions_survive_u16, T, Floats) {
  const T eps = std::numeric_limits<T>::epsilon(), inf = std::numeric_limits<T>::infinity();
  for (int i = -400; i <= 400; ++i) {
    const T x = static_cast<T>(i) / 10;
    T e = x, t = x, s = x;
    VectorMath<T>::exp(&e, 1);
    VectorMath<T>::tanh(&t, 1);
    VectorMath<T>::sigmoid(&s, 1);
    const long double exact = x;
    BOOST_REQUIRE_LE(std::abs(e / std::exp(exact) - 1), 5 * eps);
    BOOST_REQUIRE_LE(std::abs(t - std::tanh(exact)), 5 * eps * std::abs(std::tanh(exact)));
    BOOST_REQUIRE_LE(std::abs(s * (1 + std::exp(-exact)) - 1), 5 * eps);
  }
  std::array<T, 4> x = {inf, -inf, std::numeric_limits<T>::quiet_NaN(), T(0)}, t = x;
  VectorMath<T>::exp(x.data(), 4);
  VectorMath<T>::tanh(t.data(), 4);
  BOOST_TEST((is_infinite(x[0]) && x[1] == 0 && is_nan(x[2]) && x[3] == 1));
  BOOST_TEST((std::abs(t[0] - 1) < eps && std::abs(t[1] + 1) < eps && is_nan(t[2]) && t[3] == 0));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(softmax_keeps_its_limits, T, Floats) {
  const T inf = std::numeric_limits<T>::infinity();
  const Row<T, 3> masked(-inf, -inf, -inf), high(1, inf, inf), broken(1, std::numeric_limits<T>::quiet_NaN(), 2);
  BOOST_TEST((softmax(masked) == Row<T, 3>::Zero()));
  BOOST_TEST((softmax(high) == Row<T, 3>(0, T(0.5), T(0.5))));
  const Row<T, 3> p = softmax(broken), y = log_softmax(high);
  for (int j = 0; j < 3; ++j) BOOST_TEST(is_nan(p(j)));
  BOOST_TEST(is_infinite(y(0)));
  BOOST_TEST(std::abs(y(1) + std::numbers::ln2_v<T>) < T(1e-6));
  BOOST_TEST(is_infinite(log_sum_exp(masked)));
}

BOOST_AUTO_TEST_SUITE_END()
