// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include "toy_layers.hpp"

#include <incipit/check/gradient.hpp>
#include <incipit/check/oracle.hpp>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/eigen.hpp>

namespace {
using namespace incipit;
using test::Mistake;
using Wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>, boost::multiprecision::et_off>;

/// Entries that every scalar holds exactly: multiples of 1/8 in [-2, 2], never zero.
template <class T>
Mat<T> dyadic(Extent rows, Extent cols, std::string_view name) {
  const RandomStream stream(7, name);
  Mat<T> m(rows, cols);
  for (Extent i = 0; i < m.size(); ++i) {
    const auto k = static_cast<int>(stream.integer(static_cast<std::uint64_t>(i), 32)) - 16;
    m(i / cols, i % cols) = T((k >= 0 ? k + 1 : k) / 8.0);
  }
  return m;
}

/// Output, dx and parameter gradients of a layer norm, stacked.
struct NormRun {
  Mistake mistake = Mistake::none;
  template <class T>
  Mat<T> operator()() const {
    Owned<test::GainBias<T>> params(5), grad(5);
    params.gain = dyadic<T>(1, 5, "gain"), params.bias = dyadic<T>(1, 5, "bias");
    const test::ToyLayerNorm<T> layer{mistake, T(0.0078125)};
    typename test::ToyLayerNorm<T>::Cache cache;
    Mat<T> all(3 * 3 - 1, 5);
    all.topRows(3) = layer.forward(params, dyadic<T>(3, 5, "x"), cache);
    Mat<T> dx(3, 5);
    layer.backward(params, cache, dyadic<T>(3, 5, "dy"), dx, grad);
    all.middleRows(3, 3) = dx;
    all.row(6) = grad.gain, all.row(7) = grad.bias;
    return all;
  }
};

/// <dy, layer norm of x> as a function of the flat x, on any scalar.
struct NormValue {
  template <class V>
  auto operator()(const V& flat) const {
    using S = typename V::Scalar;
    Owned<test::GainBias<S>> params(5);
    params.gain = dyadic<double>(1, 5, "gain").cast<S>(), params.bias = dyadic<double>(1, 5, "bias").cast<S>();
    const test::ToyLayerNorm<S> layer{Mistake::none, S(0.0078125)};
    typename test::ToyLayerNorm<S>::Cache cache;
    Mat<S> x(3, 5);
    for (Extent i = 0; i < 15; ++i) x(i / 5, i % 5) = flat(i);
    const Mat<S>& y = layer.forward(params, x, cache);
    const Mat<double> dy = dyadic<double>(3, 5, "dy");
    S sum(0.0);
    for (Extent i = 0; i < 15; ++i) sum += y(i / 5, i % 5) * dy(i / 5, i % 5);
    return sum;
  }
};
}  // namespace

BOOST_AUTO_TEST_SUITE(check_oracle)

BOOST_AUTO_TEST_CASE(narrow_scalars_agree_with_fifty_digits) {
  const auto report =
      check::compare_scalars<Wide>(NormRun{}, 64, check::Candidate<float>{"float"}, check::Candidate<double>{"double"},
                                   check::Candidate<long double>{"long double"});
  BOOST_CHECK_MESSAGE(report.passed(), report);
  BOOST_TEST(report.at("float").value > 1e-9);    // it did run in float
  BOOST_TEST(report.at("double").value > 1e-18);  // and in double
  BOOST_TEST(report.at("double").bound < 1.5e-14);
  BOOST_TEST(report.at("long double").value < report.at("double").value);
}

BOOST_AUTO_TEST_CASE(difference_beyond_rounding_is_seen) {
  const auto mixed = []<class T>() {
    Mat<T> one = Mat<T>::Ones(1, 1);
    if constexpr (std::is_same_v<T, double>) one(0, 0) += T(1e-12);  // as a constant typed with too few digits does
    return one;
  };
  const auto report = check::compare_scalars<Wide>(mixed, 64, check::Candidate<double>{"double"},
                                                   check::Candidate<long double>{"long double"});
  BOOST_TEST((report.at("double").verdict == check::Verdict::fail));
  BOOST_TEST((report.at("long double").verdict == check::Verdict::pass));
  BOOST_CHECK_THROW(check::compare_scalars<Wide>(mixed, 0.5, check::Candidate<double>{"double"}), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(autodiff_is_an_oracle_for_backward) {
  const Mat<double> x = dyadic<double>(3, 5, "x");
  const Row<double> flat = Eigen::Map<const Row<double>>(x.data(), 1, 15);
  const Row<double> want = check::autodiff_gradient(NormValue{}, flat);
  const Mat<double> right = NormRun{}.operator()<double>(), wrong = NormRun{Mistake::one_percent}.operator()<double>();
  const Row<double> dx = Eigen::Map<const Row<double>>(right.data() + 15, 1, 15);
  const Row<double> spoiled = Eigen::Map<const Row<double>>(wrong.data() + 15, 1, 15);
  BOOST_TEST(check::Laws().equal("dx", dx, want, 1e-13).passed());
  BOOST_TEST(!check::Laws().equal("dx", spoiled, want, 5e-3).passed());
  BOOST_TEST(check::check_function(NormValue{}, flat, want).passed());
}

BOOST_AUTO_TEST_CASE(autodiff_of_a_constant_is_zero) {
  const auto constant = [](const auto& x) { return typename std::remove_cvref_t<decltype(x)>::Scalar(2.0); };
  const Row<double> x = Row<double>::Ones(3);
  BOOST_TEST(check::autodiff_gradient(constant, x).isZero(0));
}

BOOST_AUTO_TEST_CASE(gradients_are_checked_on_fifty_digits) {
  Owned<test::GainBias<Wide>> params(4);
  check::fill_parameters(params, RandomStream(1, "p"));
  const Mat<Wide> x = check::random_input<Mat<Wide>>(3, 4, RandomStream(1, "x"));
  const auto right = check::check_gradient(test::ToyLayerNorm<Wide>{}, params, x, {.directions = 1});
  BOOST_CHECK_MESSAGE(right.passed(), right);
  BOOST_TEST(right.at("x").taylor_order == 2.0, boost::test_tools::tolerance(1e-3));
  BOOST_TEST(right.at("x").central_error < 1e-20);
  const auto wrong =
      check::check_gradient(test::ToyLayerNorm<Wide>{Mistake::one_percent}, params, x, {.directions = 1});
  BOOST_TEST((wrong.at("x").verdict == check::Verdict::fail));
}

BOOST_AUTO_TEST_SUITE_END()
