// SPDX-License-Identifier: MIT
#include <incipit/nn/activation.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

using namespace incipit;

namespace {
using Smooth = std::tuple<nn::Identity, nn::Tanh, nn::Sigmoid, nn::CentredSigmoid, nn::Silu, nn::ScaledSilu, nn::ScaledErf,
                          nn::GeluErf, nn::GeluTanh>;
}  // namespace

BOOST_AUTO_TEST_SUITE(nn_activation)

BOOST_AUTO_TEST_CASE_TEMPLATE(facts_at_zero_are_the_derivatives_at_zero, A, Smooth) {
  const long double h = 1e-4L, zero = 0;
  const auto f = [](long double x) { return A::value(x); };
  BOOST_CHECK_SMALL(double(f(zero)) - A::value0, 1e-15);
  BOOST_CHECK_SMALL(double((f(h) - f(-h)) / (2 * h)) - A::slope0, 1e-7);
  BOOST_CHECK_SMALL(double((f(h) - 2 * f(zero) + f(-h)) / (h * h)) - A::curvature0, 1e-7);
  BOOST_CHECK_SMALL(double(A::derivative(zero, f(zero))) - A::slope0, 1e-15);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(derivative_is_that_of_the_value, A, Smooth) {
  const long double h = 1e-5L;
  for (int i = -80; i <= 80; ++i) {
    const long double x = 0.1L * static_cast<long double>(i);
    const long double central = (A::value(x + h) - A::value(x - h)) / (2 * h);
    BOOST_CHECK_SMALL(static_cast<double>(A::derivative(x, A::value(x)) - central), 1e-9);
    const double xd = static_cast<double>(x);
    BOOST_CHECK_SMALL(static_cast<double>(A::value(xd)) - static_cast<double>(A::value(static_cast<long double>(xd))),
                      1e-15 * (2 + std::abs(xd)));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(no_activation_makes_a_nan_of_a_huge_or_infinite_input, A, Smooth) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double x : {-inf, -1e300, -1e30, -800.0, 800.0, 1e30, 1e150, inf}) {
    const double y = A::value(x), d = A::derivative(x, y);
    BOOST_CHECK_MESSAGE(!std::isnan(y), A::name << "(" << x << ") = " << y);
    BOOST_CHECK_MESSAGE(!std::isnan(d), A::name << "'(" << x << ") = " << d);
    if (!std::is_same_v<A, nn::Identity>) BOOST_CHECK(std::isfinite(d));
  }
  BOOST_CHECK(std::isnan(A::value(std::numeric_limits<double>::quiet_NaN())));
}

BOOST_AUTO_TEST_CASE(gelu_tanh_derivative_stays_bounded_u16) {
  const float x[] = {-40, -10, -1, 0, 1, 10, 40};
  const double want[] = {0, 0, -0.082964, 0.5, 1.082964, 1, 1};
  for (int i = 0; i < 7; ++i) BOOST_CHECK_SMALL(double(nn::GeluTanh::derivative(x[i], 0.0F)) - want[i], 1e-5);
}

BOOST_AUTO_TEST_CASE(the_two_gelu_forms_are_two_types_u18) {
  BOOST_CHECK_SMALL(nn::GeluErf::value(1.0) - 0.8413447, 5e-8);
  BOOST_CHECK_SMALL(nn::GeluTanh::value(1.0) - 0.8411920, 5e-8);
  double gap = 0, at = 0;
  for (int i = 0; i <= 120000; ++i) {
    const double x = -6 + 1e-4 * i, d = std::abs(nn::GeluErf::value(x) - nn::GeluTanh::value(x));
    if (d > gap) gap = d, at = std::abs(x);
  }
  BOOST_CHECK_SMALL(gap - 4.732e-4, 1e-7);
  BOOST_CHECK_SMALL(at - 2.699, 1e-2);
  BOOST_CHECK((!std::is_convertible_v<nn::GeluErf, nn::GeluTanh> && nn::GeluErf::name != nn::GeluTanh::name));
}

BOOST_AUTO_TEST_CASE(gelu_erf_keeps_its_digits_in_the_left_tail) {
  for (int i = 0; i <= 100; ++i) {
    const float x = -0.1F * static_cast<float>(i);
    const double want = 0.5 * static_cast<double>(x) * std::erfc(-static_cast<double>(x) / std::sqrt(2.0));
    BOOST_CHECK_SMALL(static_cast<double>(nn::GeluErf::value(x)) - want, 3e-5 * std::abs(want));  // erfc magnifies rounding by x^2
  }
}

BOOST_AUTO_TEST_CASE(relu_passes_nan_and_has_slope_zero_at_zero) {
  BOOST_CHECK_EQUAL(nn::Relu::value(-2.0), 0.0);
  BOOST_CHECK_EQUAL(nn::Relu::value(2.0), 2.0);
  BOOST_CHECK_EQUAL(nn::Relu::derivative(0.0, 0.0), 0.0);
  BOOST_CHECK(std::isnan(nn::Relu::value(std::numeric_limits<double>::quiet_NaN())));
}

BOOST_AUTO_TEST_CASE(array_passes_equal_the_scalar_functions) {
  for (const Extent n : {Extent(0), Extent(1), Extent(15), Extent(16), Extent(17), Extent(161)}) {
    std::vector<float> x(static_cast<std::size_t>(n) + 1, 7.0F), dy(x.size(), 2.0F), dx(x.size(), -1.0F);
    for (Extent i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = 0.05F * static_cast<float>(i - 80);
    std::vector<float> y = x;
    nn::activate<nn::Tanh>(y.data(), n);
    nn::activation_backward<nn::Tanh>(x.data(), y.data(), dy.data(), dx.data(), n);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      const double t = std::tanh(static_cast<double>(x[i]));
      BOOST_CHECK_SMALL(static_cast<double>(y[i]) - t, 3 * 6e-8);
      BOOST_CHECK_SMALL(static_cast<double>(dx[i]) - 2 * (1 - t * t), 1e-6);
    }
    BOOST_CHECK_EQUAL(y.back(), 7.0F);  // one past the end stays
    BOOST_CHECK_EQUAL(dx.back(), -1.0F);
  }
}

BOOST_AUTO_TEST_SUITE_END()
