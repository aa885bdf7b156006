// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/check/order.hpp>
#include <incipit/core/random.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace {
using namespace incipit;
using check::Verdict;

std::vector<double> steps() {
  std::vector<double> h;
  for (int k = 0; k < 8; ++k) h.push_back(std::ldexp(0.1, -k));
  return h;
}
template <class F>
std::vector<double> map(const std::vector<double>& h, F f) {
  std::vector<double> e;
  for (std::size_t i = 0; i < h.size(); ++i) e.push_back(f(h[i], i));
  return e;
}
}  // namespace

BOOST_AUTO_TEST_SUITE(check_order)

BOOST_AUTO_TEST_CASE(line_fit_is_exact_on_a_line_and_knows_its_error) {
  const std::vector<double> x{1, 2, 4, 7}, y{5, 7, 11, 17}, noisy{5.1, 6.9, 11.1, 16.9};
  const auto line = check::fit_line(x, y);
  BOOST_TEST(line.slope == 2.0, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(line.intercept == 3.0, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(line.slope_error < 1e-14);
  // By hand: residuals of the least-squares line over Sxx = 21.
  const auto fit = check::fit_line(x, noisy);
  double squares = 0;
  for (std::size_t i = 0; i < 4; ++i) squares += std::pow(noisy[i] - fit.at(x[i]), 2);
  BOOST_TEST(fit.slope_error == std::sqrt(squares / 2 / 21), boost::test_tools::tolerance(1e-12));
  BOOST_CHECK_THROW(check::fit_line(std::vector<double>{1, 1}, std::vector<double>{1, 2}), InvalidArgument);
  BOOST_CHECK_THROW(check::fit_line(x, std::vector<double>{1, 2}), ShapeError);
}

BOOST_AUTO_TEST_CASE(right_order_passes_wrong_order_fails) {
  const auto h = steps();
  for (const double order : {0.5, 1.0, 2.0, 4.0}) {
    const auto e = map(h, [&](double s, std::size_t) { return 3 * std::pow(s, order) * (1 + s); });
    const auto row = check::check_order("e", h, e, order, 0.1);
    BOOST_TEST((row.verdict == Verdict::pass), row.reason);
    BOOST_TEST(row.order == order, boost::test_tools::tolerance(0.05));
    BOOST_TEST((check::check_order("e", h, e, order + 1, 0.1).verdict == Verdict::fail));
    BOOST_TEST((check::check_order("e", h, e, order - 0.3, 0.1).verdict == Verdict::fail));
  }
}

BOOST_AUTO_TEST_CASE(known_floor_is_left_out_and_counted) {
  const auto h = steps();
  const auto e = map(h, [](double s, std::size_t i) { return s * s * s * s + (i > 4 ? 3e-9 : 0.0); });
  const auto row = check::check_order("e", h, e, 4, 0.1, 1e-8);
  BOOST_TEST((row.verdict == Verdict::pass), row.reason);
  BOOST_TEST(row.points < h.size());
  BOOST_TEST(row.reason.find("at the floor left out") != std::string::npos);
  BOOST_TEST((check::check_order("e", h, e, 4, 0.1, 1.0).verdict == Verdict::unresolved));
}

BOOST_AUTO_TEST_CASE(unannounced_floor_is_unresolved) {
  const auto h = steps();
  const auto e = map(h, [](double s, std::size_t) { return s * s + 1e-5; });
  const auto row = check::check_order("e", h, e, 2, 0.3);
  BOOST_TEST((row.verdict == Verdict::unresolved));
  BOOST_TEST(row.reason.find("a floor") != std::string::npos, row.reason);
}

BOOST_AUTO_TEST_CASE(noise_is_unresolved) {
  const auto h = steps();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const RandomStream stream(seed, "noise");
    const auto e = map(h, [&](double s, std::size_t i) { return s * s * std::exp(2 * stream.normal(i)); });
    const auto row = check::check_order("e", h, e, 2, 0.05);
    BOOST_TEST((row.verdict == Verdict::unresolved), row.reason);
  }
}

BOOST_AUTO_TEST_CASE(zero_and_nan_errors_fail) {
  const auto h = steps();
  auto e = map(h, [](double s, std::size_t) { return s * s; });
  e[3] = 0;
  BOOST_TEST((check::check_order("e", h, e, 2, 0.1).verdict == Verdict::fail));
  e[3] = std::numeric_limits<double>::quiet_NaN();
  BOOST_TEST((check::check_order("e", h, e, 2, 0.1, 1e-9).verdict == Verdict::fail));
}

BOOST_AUTO_TEST_CASE(law_slope_compares_measured_with_predicted) {
  const std::vector<double> prediction{1e-2, 3e-3, 4e-4, 7e-5};
  const auto proportional = map(prediction, [](double p, std::size_t) { return 1.7 * p; });
  const auto other = map(prediction, [](double p, std::size_t) { return std::pow(p, 1.01); });
  check::OrderReport report;
  report.rows.push_back(check::check_law_slope("law", prediction, proportional, 0.002));
  BOOST_CHECK_MESSAGE(report.passed(), report);
  report.rows.push_back(check::check_law_slope("other law", prediction, other, 0.002));
  BOOST_TEST(!report.passed());
  BOOST_TEST((report.at("other law").verdict == Verdict::fail));
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_refused) {
  const std::vector<double> h{0.1, 0.2, 0.4}, e{1, 2, 4}, negative{-0.1, 0.2, 0.4}, two{1, 2};
  BOOST_CHECK_THROW(check::check_order("e", h, two, 1, 0.1), ShapeError);
  BOOST_CHECK_THROW(check::check_order("e", two, two, 1, 0.1), InvalidArgument);
  BOOST_CHECK_THROW(check::check_order("e", negative, e, 1, 0.1), InvalidArgument);
  BOOST_CHECK_THROW(check::check_order("e", h, e, 1, 0), InvalidArgument);
  BOOST_CHECK_THROW(check::check_order("e", h, e, 1, 0.1, -1), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
