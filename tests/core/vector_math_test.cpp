// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/core/random.hpp>
#include <incipit/core/vector_math.hpp>

using namespace incipit;

namespace {
using Floats = std::tuple<float, double>;

/// Distance in units of the last place of the exact value (of the smallest normal number below it).
template <class T>
double ulps(T got, long double exact) {
  using Limits = std::numeric_limits<T>;
  if (is_infinite(got)) return exact > static_cast<long double>((Limits::max)()) ? 0 : 1e30;
  int exponent;
  std::frexp(exact, &exponent);
  exponent = (std::max)(exponent, Limits::min_exponent);
  return static_cast<double>(std::abs(got - exact) / std::ldexp(1.0L, exponent - Limits::digits));
}

/// Points over the whole range, near 0, and at all magnitudes down to the subnormal ones, of both signs.
template <class T>
std::vector<T> points(double range) {
  const RandomStream stream(3, "points");
  const double lowest = static_cast<double>(std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
  std::vector<T> x;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double u = 2 * stream.uniform(i) - 1;
    x.push_back(static_cast<T>(u * range));
    x.push_back(static_cast<T>(u * 12));
    x.push_back(static_cast<T>(u));
    x.push_back(static_cast<T>(std::copysign(std::exp2(lowest * std::abs(u)), u)));
  }
  return x;
}
template <class T>
Extent size_of(const std::vector<T>& x) {
  return static_cast<Extent>(x.size());
}
template <class T, class Pass, class Exact>
double worst_ulps(Pass pass, Exact exact) {
  const std::vector<T> x = points<T>(sizeof(T) == 4 ? 105 : 747);
  std::vector<T> y = x;
  pass(y.data(), size_of(y));
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = (std::max)(worst, ulps(y[i], exact(static_cast<long double>(x[i]))));
  return worst;
}
}  // namespace

BOOST_AUTO_TEST_SUITE(core_vector_math)

BOOST_AUTO_TEST_CASE_TEMPLATE(exp_is_within_1_1_ulp_everywhere, T, Floats) {
  BOOST_TEST(worst_ulps<T>(VectorMath<T>::exp, [](long double x) { return std::exp(x); }) < 1.1);
}
BOOST_AUTO_TEST_CASE_TEMPLATE(tanh_is_within_2_6_ulp_everywhere, T, Floats) {
  BOOST_TEST(worst_ulps<T>(VectorMath<T>::tanh, [](long double x) { return std::tanh(x); }) < 2.6);
}
BOOST_AUTO_TEST_CASE_TEMPLATE(sigmoid_is_within_2_6_ulp_everywhere, T, Floats) {
  BOOST_TEST(worst_ulps<T>(VectorMath<T>::sigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); }) < 2.6);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(special_arguments_give_special_values, T, Floats) {
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity(), nan = Limits::quiet_NaN();
  const std::array<T, 7> x = {T(0), T(-0.0), inf, -inf, (Limits::max)(), Limits::lowest(), Limits::denorm_min()};
  std::array<T, 7> e = x, t = x, s = x;
  VectorMath<T>::exp(e.data(), 7);
  VectorMath<T>::tanh(t.data(), 7);
  VectorMath<T>::sigmoid(s.data(), 7);
  BOOST_TEST((e == std::array<T, 7>{1, 1, inf, 0, inf, 0, 1}));
  BOOST_TEST((t == std::array<T, 7>{0, 0, 1, -1, 1, -1, Limits::denorm_min()}));
  BOOST_TEST((s == std::array<T, 7>{T(0.5), T(0.5), 1, 0, 1, 0, T(0.5)}));
  BOOST_TEST(!std::signbit(t[0]));
  BOOST_TEST(std::signbit(t[1]));
  for (const auto pass : {VectorMath<T>::exp, VectorMath<T>::tanh, VectorMath<T>::sigmoid})
    for (const T payload : {nan, -nan}) {
      T y = payload;
      pass(&y, 1);
      BOOST_TEST(is_nan(y));
    }
}

BOOST_AUTO_TEST_CASE(exp_meets_the_thresholds_of_overflow_and_underflow) {
  const auto exp = [](auto x) {
    VectorMath<decltype(x)>::exp(&x, 1);
    return x;
  };
  BOOST_TEST(is_finite(exp(0x1.62e42ep+6f)));
  BOOST_TEST(is_infinite(exp(0x1.62e43p+6f)));
  BOOST_TEST(exp(-0x1.9fe368p+6f) == std::numeric_limits<float>::denorm_min());
  BOOST_TEST(exp(-0x1.9fe36ap+6f) == 0.0f);
  BOOST_TEST(is_finite(exp(0x1.62e42fefa39efp+9)));
  BOOST_TEST(is_infinite(exp(0x1.62e42fefa39f0p+9)));
  BOOST_TEST(exp(-745.13) == std::numeric_limits<double>::denorm_min());
  BOOST_TEST(exp(-745.14) == 0.0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(every_length_is_handled_and_nothing_outside_is_touched, T, Floats) {
  const RandomStream stream(4, "lengths");
  for (Extent n = 0; n < 70; ++n) {
    std::vector<T> x;
    for (Extent i = 0; i < n + 2; ++i) x.push_back(static_cast<T>(3 * stream.normal(static_cast<std::uint64_t>(i))));
    const auto check = [&](auto pass, auto exact) {
      std::vector<T> y = x;
      pass(y.data() + 1, n);
      BOOST_REQUIRE(y.front() == x.front());
      BOOST_REQUIRE(y.back() == x.back());
      for (std::size_t i = 1; i + 1 < y.size(); ++i)
        BOOST_REQUIRE_LT(ulps(y[i], exact(static_cast<long double>(x[i]))), 3);
    };
    check(VectorMath<T>::exp, [](long double v) { return std::exp(v); });
    check(VectorMath<T>::tanh, [](long double v) { return std::tanh(v); });
    check(VectorMath<T>::sigmoid, [](long double v) { return 1 / (1 + std::exp(-v)); });
    check([](T* p, Extent k) { VectorMath<T>::scale(p, k, T(-0.5)); }, [](long double v) { return -v / 2; });
    long double sum = 0;
    for (Extent i = 0; i < n; ++i) {
      const T shifted = x[static_cast<std::size_t>(i + 1)] - T(0.7);
      sum += std::exp(static_cast<long double>(shifted));
    }
    check([&](T* p, Extent k) { BOOST_REQUIRE_LT(ulps(VectorMath<T>::exp_shifted_sum(p, k, T(0.7)), sum), 6); },
          [](long double v) { return std::exp(static_cast<long double>(static_cast<T>(v) - T(0.7))); });
    for (Extent at = 0; at < n; ++at) {
      std::vector<T> y = x;
      y[static_cast<std::size_t>(at + 1)] = T(50);
      BOOST_REQUIRE(VectorMath<T>::largest(y.data() + 1, n) == T(50));
      y.front() = y.back() = T(60);
      BOOST_REQUIRE(VectorMath<T>::largest(y.data() + 1, n) == T(50));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_generic_form_agrees_with_the_vectorised_one) {
  std::vector<double> fast;
  for (int i = -40; i <= 40; ++i) fast.push_back(0.25 * i);
  std::vector<long double> slow(fast.begin(), fast.end());
  const auto same = [&] {
    for (std::size_t i = 0; i < fast.size(); ++i) BOOST_REQUIRE_LT(ulps(fast[i], slow[i]), 8);
  };
  const Extent n = size_of(fast);
  VectorMath<double>::tanh(fast.data(), n), VectorMath<long double>::tanh(slow.data(), n), same();
  VectorMath<double>::exp(fast.data(), n), VectorMath<long double>::exp(slow.data(), n), same();
  VectorMath<double>::sigmoid(fast.data(), n), VectorMath<long double>::sigmoid(slow.data(), n), same();
  VectorMath<double>::scale(fast.data(), n, 3.0), VectorMath<long double>::scale(slow.data(), n, 3.0L), same();
  const double top = VectorMath<double>::largest(fast.data(), n);
  BOOST_TEST(ulps(top, VectorMath<long double>::largest(slow.data(), n)) < 8);
  const double sum = VectorMath<double>::exp_shifted_sum(fast.data(), n, top);
  BOOST_TEST(ulps(sum, VectorMath<long double>::exp_shifted_sum(slow.data(), n, top)) < 16);
}

BOOST_AUTO_TEST_SUITE_END()
