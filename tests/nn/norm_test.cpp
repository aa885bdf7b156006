// SPDX-License-Identifier: MIT
#include <incipit/check/layer.hpp>
#include <incipit/nn/layer_norm.hpp>
#include <incipit/nn/rms_norm.hpp>

#include <boost/test/unit_test.hpp>

#include <tuple>

using namespace incipit;

namespace {

using Norms = std::tuple<nn::LayerNorm<double>, nn::LayerNorm<double, false>, nn::RmsNorm<double>,
                         nn::RmsNorm<double, nn::EpsPlace::outside_root>>;

template <class Norm, class T>
Mat<T> normalised(const Norm& norm, const Mat<T>& x) {
  Owned<typename Norm::Params> params(x.cols());
  Norm::reset(params);
  typename Norm::Cache cache;
  return norm.forward(params, x, cache);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nn_norms)

BOOST_AUTO_TEST_CASE_TEMPLATE(norms_pass_the_battery, Norm, Norms) {
  for (const auto& [rows, cols] : {std::pair{4, 5}, std::pair{3, 3}, std::pair{2, 16}}) {
    Owned<typename Norm::Params> params(cols);
    check::fill_parameters(params, RandomStream(1, "norm"));
    const auto x = check::random_input<Mat<double>>(rows, cols, RandomStream(1, "x"));
    const auto report = check::check_layer(Norm{}, params, x);
    BOOST_CHECK_MESSAGE(report.passed(), report);
  }
}

BOOST_AUTO_TEST_CASE(layer_norm_of_width_two_passes_the_battery_where_eps_leaves_it_a_slope) {
  using Norm = nn::LayerNorm<double>;  // with a small eps the output is +-1 and dx all cancellation
  Owned<Norm::Params> params(2);
  check::fill_parameters(params, RandomStream(1, "norm"));
  const auto report = check::check_layer(Norm{.eps = 0.5}, params, check::random_input<Mat<double>>(3, 2, RandomStream(1, "x")));
  BOOST_CHECK_MESSAGE(report.passed(), report);
}

BOOST_AUTO_TEST_CASE(rms_norm_of_width_one_passes_the_battery_and_layer_norm_gives_its_bias) {
  using Rms = nn::RmsNorm<double>;
  Owned<Rms::Params> gain(1);
  check::fill_parameters(gain, RandomStream(2, "norm"));
  const auto x = check::random_input<Mat<double>>(3, 1, RandomStream(2, "x"));
  const auto report = check::check_layer(Rms{.eps = 0.5}, gain, x);
  BOOST_CHECK_MESSAGE(report.passed(), report);
  using Layer = nn::LayerNorm<double>;
  Owned<Layer::Params> params(1), grad(1);
  params.gain(0) = 3;
  params.bias(0) = 7;
  Layer::Cache cache;
  BOOST_CHECK_EQUAL((Layer{}.forward(params, x, cache).array() - 7).abs().maxCoeff(), 0.0);
  Mat<double> dx(3, 1);
  Layer{}.backward(params, cache, Mat<double>::Ones(3, 1), dx, grad);
  BOOST_CHECK_EQUAL(dx.cwiseAbs().maxCoeff(), 0.0);
  BOOST_CHECK_EQUAL(grad.bias(0), 3.0);
}

BOOST_AUTO_TEST_CASE(layer_norm_with_a_large_mean_u08) {
  Mat<float> x(1, 4), want(1, 4);
  x << 40000, 40001, 40002, 40003;
  want << -1.341635F, -0.447212F, 0.447212F, 1.341635F;
  BOOST_CHECK_LT((normalised(nn::LayerNorm<float>{}, x) - want).cwiseAbs().maxCoeff(), 1e-4F);
  Mat<float> close(1, 16);
  for (Extent i = 0; i < 16; ++i) close(0, i) = static_cast<float>(10000 + 0.001 * static_cast<double>(i));
  const Mat<double> exact = close.cast<double>();
  const double mean = exact.mean(), variance = (exact.array() - mean).square().mean();
  const Mat<double> reference = (exact.array() - mean) / std::sqrt(variance + 1e-5);
  BOOST_CHECK_LT((normalised(nn::LayerNorm<float>{}, close).cast<double>() - reference).cwiseAbs().maxCoeff(), 1e-3);
  for (const float shift : {1e3F, 1e5F, -1e6F}) {  // a shift that every entry takes exactly changes nothing
    Mat<float> moved(1, 4);
    moved << shift + 1, shift + 2, shift + 4, shift + 8;
    BOOST_CHECK_LT((normalised(nn::LayerNorm<float>{}, moved) - normalised(nn::LayerNorm<float>{}, Mat<float>(moved.array() - shift)))
                       .cwiseAbs()
                       .maxCoeff(),
                   1e-5F);
  }
}

BOOST_AUTO_TEST_CASE(rms_norm_backward_has_one_formula_u10) {
  const auto run = [](auto zero, double tolerance) {
    using T = decltype(zero);
    using Norm = nn::RmsNorm<T>;
    Owned<typename Norm::Params> params(4), grad(4);
    Norm::reset(params);
    typename Norm::Cache cache;
    Mat<T> x(1, 4), dx(1, 4);
    x << 1, 0, 0, 0;
    const Norm norm{.eps = 1e-4};
    norm.forward(params, x, cache);
    norm.backward(params, cache, x, dx, grad);
    BOOST_CHECK_SMALL(std::abs(static_cast<double>(dx(0, 0)) - 7.9952e-4) / 7.9952e-4, tolerance);
    BOOST_CHECK_EQUAL(dx(0, 1), T(0));
    Mat<T> shared = x;  // the upstream storage
    norm.backward(params, cache, shared, shared, grad);
    BOOST_CHECK_EQUAL((shared - dx).cwiseAbs().maxCoeff(), T(0));
  };
  run(0.0, 1e-5);  // the reference has five digits
  run(0.0F, 1e-3);
  // To 1e-9: r = (1/4 + eps)^(-1/2), dx = r - r^3 / 4.
  const double r = 1 / std::sqrt(0.2501);
  using Norm = nn::RmsNorm<double>;
  Owned<Norm::Params> params(4), grad(4);
  Norm::reset(params);
  Norm::Cache cache;
  Mat<double> x(1, 4), dx(1, 4);
  x << 1, 0, 0, 0;
  Norm{.eps = 1e-4}.forward(params, x, cache);
  Norm{.eps = 1e-4}.backward(params, cache, x, dx, grad);
  BOOST_CHECK_SMALL(dx(0, 0) - (r - r * r * r / 4), 1e-9);
}

BOOST_AUTO_TEST_CASE(rms_norm_eps_inside_and_outside_the_root_u12) {
  const Mat<double> x = Mat<double>::Constant(1, 4, 1e-3);
  const double inside = normalised(nn::RmsNorm<double>{.eps = 1e-6}, x)(0, 0);
  const double outside = normalised(nn::RmsNorm<double, nn::EpsPlace::outside_root>{.eps = 1e-6}, x)(0, 0);
  BOOST_CHECK_SMALL(inside - 0.7071068, 1e-7);
  BOOST_CHECK_SMALL(outside - 0.9990010, 1e-7);
}

BOOST_AUTO_TEST_CASE(rows_without_a_direction_give_zero_when_eps_is_zero) {
  const auto run = [](auto norm, const Mat<double>& x) {
    using Norm = decltype(norm);
    norm.eps = 0;
    Owned<typename Norm::Params> params(x.cols()), grad(x.cols());
    Norm::reset(params);
    typename Norm::Cache cache;
    BOOST_CHECK_EQUAL(norm.forward(params, x, cache).cwiseAbs().maxCoeff(), 0.0);
    Mat<double> dx = Mat<double>::Constant(x.rows(), x.cols(), 7.0);
    norm.backward(params, cache, Mat<double>::Ones(x.rows(), x.cols()), dx, grad);
    BOOST_CHECK_EQUAL(dx.cwiseAbs().maxCoeff(), 0.0);
  };
  run(nn::LayerNorm<double>{}, Mat<double>::Constant(2, 3, 5.0));
  run(nn::RmsNorm<double>{}, Mat<double>::Zero(2, 3));
  run(nn::RmsNorm<double, nn::EpsPlace::outside_root>{}, Mat<double>::Zero(2, 3));
}

BOOST_AUTO_TEST_CASE(wrong_widths_and_a_negative_eps_are_refused) {
  nn::LayerNorm<double>::Cache cache;
  Owned<nn::LayerNorm<double>::Params> params(3);
  BOOST_CHECK_THROW(nn::LayerNorm<double>{}.forward(params, Mat<double>::Ones(2, 4), cache), ShapeError);
  BOOST_CHECK_THROW(nn::LayerNorm<double>{.eps = -1}.forward(params, Mat<double>::Ones(2, 3), cache), InvalidArgument);
  nn::RmsNorm<double>::Cache rms;
  Owned<nn::RmsNorm<double>::Params> gain(3);
  BOOST_CHECK_THROW(nn::RmsNorm<double>{}.forward(gain, Mat<double>::Ones(2, 4), rms), ShapeError);
  BOOST_CHECK_THROW(nn::RmsNorm<double>{.eps = std::numeric_limits<double>::quiet_NaN()}.forward(gain, Mat<double>::Ones(2, 3), rms), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
