// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include "toy_layers.hpp"

#include <incipit/check/gradient.hpp>

#include <limits>
#include <tuple>

namespace {
using namespace incipit;
using test::Mistake;
using Scalars = std::tuple<float, double, long double>;
constexpr std::uint64_t seeds = 6;

template <class T>
check::GradientReport layer_norm(Mistake mistake, std::uint64_t seed, double scale = 1) {
  Owned<test::GainBias<T>> params(6);
  const RandomStream stream(seed, "layer norm");
  check::fill_parameters(params, stream);
  const Mat<T> x = check::random_input<Mat<T>>(4, 6, stream.child("x")) * T(scale);
  return check::check_gradient(test::ToyLayerNorm<T>{mistake}, params, x, {.seed = seed});
}
template <class T>
check::GradientReport softmax(Mistake mistake, std::uint64_t seed, double scale = 1) {
  const Mat<T> x = check::random_input<Mat<T>>(3, 5, RandomStream(seed, "softmax")) * T(scale);
  return check::check_gradient(test::ToySoftmax<T>{mistake}, check::NoParameters<T>(), x, {.seed = seed});
}
template <class T>
check::GradientReport embedding(Mistake mistake, std::uint64_t seed) {
  Owned<test::Table<T>> params(5, 4);
  check::fill_parameters(params, RandomStream(seed, "embedding"));
  Mat<Id> ids(4, 2);
  ids << 0, 3, 3, 3, 1, 0, 4, 3;
  return check::check_gradient(test::ToyEmbedding<T>{mistake}, params, ids, {.seed = seed});
}
template <class T>
check::GradientReport relu_linear(Mistake mistake, std::uint64_t seed, double scale = 1) {
  Owned<test::Table<T>> params(5, 4);
  const RandomStream stream(seed, "relu");
  check::fill_parameters(params, stream);
  const Mat<T> x = check::random_input<Mat<T>>(4, 5, stream.child("x")) * T(scale);
  return check::check_gradient(test::ToyReluLinear<T>{mistake}, params, x, {.seed = seed});
}
}  // namespace

BOOST_AUTO_TEST_SUITE(check_gradient)

BOOST_AUTO_TEST_CASE_TEMPLATE(right_layers_pass_on_every_seed, T, Scalars) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const auto& report : {layer_norm<T>(Mistake::none, seed), softmax<T>(Mistake::none, seed),
                               embedding<T>(Mistake::none, seed), relu_linear<T>(Mistake::none, seed)})
      BOOST_CHECK_MESSAGE(report.passed(), "seed " << seed << '\n' << report);
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(order_is_two_where_there_is_curvature, T, Scalars) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    for (const auto& report : {layer_norm<T>(Mistake::none, seed), softmax<T>(Mistake::none, seed)}) {
      const auto& row = report.at("x");
      BOOST_TEST(row.taylor_order >= 1.8);
      BOOST_TEST(row.taylor_order <= 2.2);
      BOOST_TEST(row.reason == "second order");
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(linear_functions_are_reported_as_linear, T, Scalars) {
  const auto report = layer_norm<T>(Mistake::none, 1);
  for (const char* name : {"gain", "bias"}) {
    BOOST_TEST(report.at(name).reason == "linear to rounding: no remainder to fit");
    BOOST_TEST(std::isnan(report.at(name).taylor_order));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(scale_of_the_input_does_not_matter, T, Scalars) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    for (const double scale : {1e-8, 1e-3, 1e2, 1e4}) {
      // At 1e-8 the float outputs are the bias to all digits but two: nothing can be said, and nothing is.
      const bool drowned = std::is_same_v<T, float> && scale == 1e-8;
      const auto norm = layer_norm<T>(Mistake::none, seed, scale);
      BOOST_CHECK_MESSAGE(drowned ? norm.count(check::Verdict::fail) == 0 : norm.passed(), "scale " << scale << " seed "
                                                                                                    << seed << '\n'
                                                                                                    << norm);
      const auto relu = relu_linear<T>(Mistake::none, seed, scale);
      BOOST_CHECK_MESSAGE(relu.passed(), "scale " << scale << " seed " << seed << '\n' << relu);
      for (const Mistake mistake : {Mistake::one_percent, Mistake::zero_dx, Mistake::zero_gain})
        BOOST_CHECK_MESSAGE(!layer_norm<T>(mistake, seed, scale).passed(), "scale " << scale << " seed " << seed);
      BOOST_TEST(!relu_linear<T>(Mistake::one_percent, seed, scale).passed());
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(six_spoiled_backwards_are_rejected_u41, T, Scalars) {
  using check::Verdict;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    // The spoiled tensor fails, and only that one.
    for (const Mistake mistake : {Mistake::no_mean_term, Mistake::no_x_hat_term, Mistake::one_percent}) {
      const auto report = layer_norm<T>(mistake, seed);
      BOOST_CHECK_MESSAGE(report.at("x").verdict == Verdict::fail, "seed " << seed << '\n' << report);
      BOOST_TEST((report.at("gain").verdict == Verdict::pass && report.at("bias").verdict == Verdict::pass));
    }
    const auto rows = layer_norm<T>(Mistake::gain_last_row, seed);
    BOOST_CHECK_MESSAGE(rows.at("gain").verdict == Verdict::fail, rows);
    BOOST_TEST((rows.at("x").verdict == Verdict::pass && rows.at("bias").verdict == Verdict::pass));
    const auto diagonal = softmax<T>(Mistake::diagonal_jacobian, seed);
    BOOST_CHECK_MESSAGE(diagonal.at("x").verdict == Verdict::fail, diagonal);
    const auto overwrite = embedding<T>(Mistake::overwrite_rows, seed);
    BOOST_CHECK_MESSAGE(overwrite.at("weight").verdict == Verdict::fail, overwrite);
    BOOST_TEST((softmax<T>(Mistake::one_percent, seed).at("x").verdict == Verdict::fail));
    BOOST_TEST((embedding<T>(Mistake::one_percent, seed).at("weight").verdict == Verdict::fail));
    BOOST_TEST((relu_linear<T>(Mistake::one_percent, seed).at("weight").verdict == Verdict::fail));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(zero_and_nan_gradients_are_rejected, T, Scalars) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    BOOST_TEST((layer_norm<T>(Mistake::zero_dx, seed).at("x").verdict == check::Verdict::fail));
    BOOST_TEST((layer_norm<T>(Mistake::zero_gain, seed).at("gain").verdict == check::Verdict::fail));
    BOOST_TEST((layer_norm<T>(Mistake::bias_one_percent, seed).at("bias").verdict == check::Verdict::fail));
    const auto nan = layer_norm<T>(Mistake::nan_dx, seed);
    BOOST_TEST(nan.at("x").reason == "gradient is not finite");
    BOOST_TEST(!nan.passed());
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(scalar_functions, T, Scalars) {
  using std::cos, std::exp, std::sin;
  const auto f = [](const Row<T>& x) {
    T sum(0);
    for (Extent i = 0; i < x.size(); ++i) sum += sin(x(i)) * exp(x((i + 1) % x.size()));
    return sum;
  };
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Row<T> x = check::random_input<Row<T>>(1, 7, RandomStream(seed, "f"));
    Row<T> g = Row<T>::Zero(7);
    for (Extent i = 0; i < 7; ++i) {
      g(i) += cos(x(i)) * exp(x((i + 1) % 7));
      g((i + 1) % 7) += sin(x(i)) * exp(x((i + 1) % 7));
    }
    const auto right = check::check_function(f, x, g, {.seed = seed});
    BOOST_CHECK_MESSAGE(right.passed(), right);
    BOOST_TEST(right.at("x").reason == "second order");
    BOOST_TEST(!check::check_function(f, x, Row<T>(g * T(1.01)), {.seed = seed}).passed());
    BOOST_TEST(!check::check_function(f, x, Row<T>(g * T(-1)), {.seed = seed}).passed());
    BOOST_TEST(!check::check_function(f, x, Row<T>(Row<T>::Zero(7)), {.seed = seed}).passed());
    Row<T> one_entry = g;
    one_entry(3) += T(0.02) * g.norm();
    BOOST_TEST(!check::check_function(f, x, one_entry, {.seed = seed}).passed());
  }
}

BOOST_AUTO_TEST_CASE(constant_function_with_zero_gradient_passes_and_says_so) {
  const Row<double> x = Row<double>::Constant(4, 0.5), zero = Row<double>::Zero(4);
  const auto constant = [](const Row<double>&) { return 3.0; };
  const auto report = check::check_function(constant, x, zero);
  BOOST_TEST(report.passed());
  BOOST_TEST(report.at("x").reason == "function and gradient are zero to rounding");
  BOOST_TEST(!check::check_function(constant, x, Row<double>(Row<double>::Constant(4, 1e-3))).passed());
}

BOOST_AUTO_TEST_CASE(vanishing_curvature_is_third_order_and_passes) {
  const auto cubic = [](const Row<double>& x) { return (x.array() + x.array().cube()).sum(); };
  const Row<double> zero = Row<double>::Zero(5), one = Row<double>::Ones(5);
  const auto report = check::check_function(cubic, zero, one);
  BOOST_TEST(report.passed());
  BOOST_TEST(report.at("x").taylor_order == 3.0, boost::test_tools::tolerance(0.02));
  BOOST_TEST(!check::check_function(cubic, zero, Row<double>(1.01 * one)).passed());
}

BOOST_AUTO_TEST_CASE(noise_that_hides_the_gradient_is_unresolved_not_passed) {
  // The slope lies under the rounding of the offset, whatever is claimed about it.
  const auto f = [](const Row<double>& x) { return 1e11 + 1e-3 * x.sum(); };
  const Row<double> x = Row<double>::Constant(3, 0.7), g = Row<double>::Constant(3, 1e-3);
  const auto report = check::check_function(f, x, g);
  BOOST_TEST(!report.passed());
  BOOST_TEST((report.at("x").verdict == check::Verdict::unresolved));
}

BOOST_AUTO_TEST_CASE(function_that_is_not_finite_nearby_fails) {
  const auto f = [](const Row<double>& x) { return std::log(x(0)); };
  const Row<double> x = Row<double>::Constant(1, 1e-200), g = Row<double>::Constant(1, 1e200);
  const auto at_infinity = [](const Row<double>& v) {
    return v(0) > 1 ? std::numeric_limits<double>::infinity() : v(0);
  };
  const Row<double> edge = Row<double>::Ones(1);
  BOOST_TEST(!check::check_function(at_infinity, edge, edge).passed());
  BOOST_TEST(check::check_function(f, x, g).passed());
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_refused) {
  const auto f = [](const Row<double>& x) { return x.sum(); };
  const Row<double> x = Row<double>::Ones(3), two = Row<double>::Ones(2), none(0);
  BOOST_CHECK_THROW(check::check_function(f, x, two), ShapeError);
  BOOST_CHECK_THROW(check::check_function(f, none, none), ShapeError);
  BOOST_CHECK_THROW(check::check_function(f, x, x, {.directions = 0}), InvalidArgument);
  BOOST_CHECK_THROW(check::check_function(f, x, x, {.largest_step = 0}), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(report_prints_a_row_per_tensor) {
  std::ostringstream out;
  out << layer_norm<double>(Mistake::one_percent, 1);
  for (const char* word : {"tensor", "central err.", "gain", "bias", "FAIL", "linear to rounding"})
    BOOST_TEST((out.str().find(word) != std::string::npos), word);
  BOOST_CHECK_THROW(layer_norm<double>(Mistake::none, 1).at("weight"), InvalidArgument);
  BOOST_TEST(!check::GradientReport{}.passed());
}

BOOST_AUTO_TEST_SUITE_END()
