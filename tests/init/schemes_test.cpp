// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/init/orthogonal.hpp>

#include <functional>

using namespace incipit;

namespace {
/// Integral over [-1, 1] by Simpson's rule.
double integral(const std::function<double(double)>& f) {
  constexpr int n = 2000;
  double sum = f(-1) + f(1);
  for (int i = 1; i < n; ++i) sum += (i % 2 == 1 ? 4 : 2) * f(-1 + 2.0 * i / n);
  return sum / n * 2 / 3;
}

/// Mean, variance and fourth moment of many entries are within 4.5 standard errors of the exact ones.
template <class S>
void check_sampled_moments(const S& scheme, init::Fan fan, const char* name) {
  const auto law = scheme.law(fan);
  const init::Moments exact = scheme.moments(fan);
  const RandomStream stream(6, name);
  constexpr std::uint64_t n = 100000;
  double mean = 0, square = 0, fourth = 0, eighth = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const double w = law.draw(stream, i) - exact.mean, w2 = w * w;
    mean += w / n;
    square += w2 / n;
    fourth += w2 * w2 / n;
    eighth += w2 * w2 * w2 * w2 / n;
  }
  BOOST_TEST_CONTEXT(name) {
    BOOST_TEST(std::abs(mean) <= 4.5 * std::sqrt(exact.variance / n));
    BOOST_TEST(std::abs(square - exact.variance) <=
               4.5 * std::sqrt((exact.fourth - exact.variance * exact.variance) / n));
    BOOST_TEST(std::abs(fourth - exact.fourth) <= 4.5 * std::sqrt((eighth - exact.fourth * exact.fourth) / n));
  }
}
}  // namespace

BOOST_AUTO_TEST_SUITE(init_schemes)

BOOST_AUTO_TEST_CASE(every_scheme_follows_the_contracted_size_u33) {
  const init::Fan fan{256, 16};
  BOOST_TEST(init::Gamma{0.5}.moments(fan).std() == 0.0625);
  BOOST_TEST(init::Gamma{1}.moments(fan).std() == 1.0 / 256);
  BOOST_TEST(init::Gamma{0}.moments(fan).std() == 1.0);
  BOOST_TEST(init::Gamma{0.8}.moments(fan).std() == std::pow(256, -0.8), boost::test_tools::tolerance(2e-15));
  BOOST_TEST(init::LeCun{}.moments(fan).std() == 0.0625);
  BOOST_TEST(init::He{}.moments(fan).variance == 2.0 / 256, boost::test_tools::tolerance(1e-15));
  BOOST_TEST(init::Glorot{}.moments(fan).variance == 2.0 / 272, boost::test_tools::tolerance(1e-15));
  BOOST_TEST(init::GlorotUniform{}.moments(fan).variance == 2.0 / 272, boost::test_tools::tolerance(1e-15));
  BOOST_TEST(init::Gpt2Residual({.std = 0.02, .layers = 8}).moments(fan).std() == 0.005,
             boost::test_tools::tolerance(1e-15));
  BOOST_TEST(init::Gamma{0.5}.moments({64, 3 * 64}).std() == 0.125);
}

BOOST_AUTO_TEST_CASE(sampled_moments_agree_with_the_exact_ones) {
  const init::Fan fan{100, 40};
  check_sampled_moments(init::Gamma{0.8}, fan, "gamma");
  check_sampled_moments(init::LeCun{}, fan, "lecun");
  check_sampled_moments(init::He{}, fan, "he");
  check_sampled_moments(init::Glorot{}, fan, "glorot");
  check_sampled_moments(init::GlorotUniform{}, fan, "glorot uniform");
  check_sampled_moments(init::Gpt2Residual{}, fan, "gpt2 residual");
  check_sampled_moments(init::Normal{3}, fan, "normal");
  check_sampled_moments(init::Constant{0.25}, fan, "constant");
  for (const double cut : {0.3, 1.0, 2.0, 3.0})
    check_sampled_moments(init::TruncatedNormal{0.5, cut}, fan, "truncated");
}

BOOST_AUTO_TEST_CASE(truncated_moments_are_the_integrals_and_draws_stay_inside) {
  for (const double cut : {0.5, 1.0, 2.0, 5.0}) {
    const auto density = [=](double u) { return std::exp(-cut * cut * u * u / 2); };
    const double mass = integral(density), c2 = cut * cut;
    const init::Moments m = init::TruncatedNormal{2, cut}.moments({1, 1});
    BOOST_TEST(m.variance == 4 * c2 * integral([=](double u) { return u * u * density(u); }) / mass,
               boost::test_tools::tolerance(1e-9));
    BOOST_TEST(m.fourth == 16 * c2 * c2 * integral([=](double u) { return u * u * u * u * density(u); }) / mass,
               boost::test_tools::tolerance(1e-9));
    const RandomStream stream(8, "inside");
    for (std::uint64_t i = 0; i < 1000; ++i)
      BOOST_REQUIRE(std::abs(init::TruncatedLaw{2, cut}.draw(stream, i)) <= 2 * cut);
  }
  const init::Moments wide = init::TruncatedNormal{1, 40}.moments({1, 1});
  BOOST_TEST(wide.variance == 1.0);
  BOOST_TEST(wide.fourth == 3.0);
}

BOOST_AUTO_TEST_CASE(orthogonal_weights_are_orthogonal_in_every_shape) {
  for (const init::Fan fan : {init::Fan{1, 1}, {5, 5}, {12, 4}, {4, 12}, {1, 6}, {6, 1}, {64, 48}}) {
    const Mat<double> w = init::Orthogonal{1.5}.draw(fan, RandomStream(3, "orthogonal"));
    BOOST_TEST((w.rows() == fan.in && w.cols() == fan.out));
    const Mat<double> gram = fan.in >= fan.out ? Mat<double>(w.transpose() * w) : Mat<double>(w * w.transpose());
    BOOST_TEST((gram - 2.25 * Mat<double>::Identity(gram.rows(), gram.cols())).cwiseAbs().maxCoeff() < 1e-14);
  }
}

BOOST_AUTO_TEST_CASE(orthogonal_weights_are_haar_distributed) {
  for (const init::Fan fan : {init::Fan{3, 3}, {5, 2}, {2, 4}}) {
    const init::Moments exact = init::Orthogonal{}.moments(fan);
    const double n = static_cast<double>((std::max)(fan.in, fan.out));
    BOOST_TEST(exact.variance == 1 / n);
    constexpr int draws = 4000;
    Mat<double> mean = Mat<double>::Zero(fan.in, fan.out), square = mean, fourth = mean;
    for (int k = 0; k < draws; ++k) {
      const Mat<double> w = init::Orthogonal{}.draw(fan, RandomStream(3, "haar").child(static_cast<std::uint64_t>(k)));
      mean += w / draws;
      square += w.cwiseAbs2() / draws;
      fourth += w.cwiseAbs2().cwiseAbs2() / draws;
    }
    const double eighth = 105 / (n * (n + 2) * (n + 4) * (n + 6));
    const double spread2 = std::sqrt((exact.fourth - exact.variance * exact.variance) / draws);
    const double spread4 = std::sqrt((eighth - exact.fourth * exact.fourth) / draws);
    BOOST_TEST(mean.cwiseAbs().maxCoeff() < 4.5 * std::sqrt(exact.variance / draws));
    BOOST_TEST((square.array() - exact.variance).abs().maxCoeff() < 4.5 * spread2);
    BOOST_TEST((fourth.array() - exact.fourth).abs().maxCoeff() < 4.5 * spread4);
  }
}

BOOST_AUTO_TEST_CASE(settings_out_of_range_are_refused) {
  const init::Fan fan{2, 2};
  BOOST_CHECK_THROW(init::Gamma{-0.1}.law(fan), InvalidArgument);
  BOOST_CHECK_THROW(init::Gamma{std::numeric_limits<double>::quiet_NaN()}.law(fan), InvalidArgument);
  BOOST_CHECK_THROW(init::Normal{-1}.law(fan), InvalidArgument);
  BOOST_CHECK_THROW((init::TruncatedNormal{1, 0.01}.law(fan)), InvalidArgument);
  BOOST_CHECK_THROW((init::Gpt2Residual{0.02, 0}.law(fan)), InvalidArgument);
  BOOST_CHECK_THROW(init::Orthogonal{-1}.draw(fan, RandomStream(1, "x")), InvalidArgument);
  BOOST_CHECK_THROW(init::LeCun{}.law({0, 2}), ShapeError);
  BOOST_CHECK_THROW(init::Glorot{}.law({2, 0}), ShapeError);
}

BOOST_AUTO_TEST_SUITE_END()
