// SPDX-License-Identifier: MIT
#include <incipit/compare/phase_map.hpp>
#include <incipit/core/random.hpp>

#include <boost/test/unit_test.hpp>

using namespace incipit;

BOOST_AUTO_TEST_SUITE(compare_phase_map)

BOOST_AUTO_TEST_CASE(wilson_interval_solves_its_equation_and_is_right_at_the_ends) {
  for (const auto& [hits, n] : {std::pair{3LL, 10LL}, {1LL, 2LL}, {999LL, 1000LL}, {50LL, 100LL}})
    for (const double z : {0.5, 1.96, 4.5}) {
      const auto interval = measure::wilson_interval(hits, n, z);
      const double share = static_cast<double>(hits) / static_cast<double>(n);
      for (const double p : {interval.low, interval.high})
        BOOST_CHECK_SMALL(std::abs(share - p) - z * std::sqrt(p * (1 - p) / static_cast<double>(n)), 1e-12);
      BOOST_CHECK(interval.low < share && share < interval.high);
    }
  BOOST_CHECK_EQUAL(measure::wilson_interval(0, 7).low, 0.0);
  BOOST_CHECK_EQUAL(measure::wilson_interval(7, 7).high, 1.0);
  BOOST_CHECK_SMALL(measure::wilson_interval(0, 10, 1.96).high - 0.27754, 1e-5);  // z^2 / (n + z^2)
  BOOST_CHECK_THROW(measure::wilson_interval(1, 0), InvalidArgument);
  BOOST_CHECK_THROW(measure::wilson_interval(3, 2), InvalidArgument);
  BOOST_CHECK_THROW(measure::wilson_interval(1, 2, 0), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(wilson_interval_covers_as_often_as_it_says) {
  const RandomStream draws(1, "wilson");
  const double p = 0.07;
  int covered = 0;
  const int repeats = 4000, n = 60;
  for (int r = 0; r < repeats; ++r) {
    int hits = 0;
    for (int k = 0; k < n; ++k) hits += draws.uniform(static_cast<std::uint64_t>(r * n + k)) < p;
    const auto interval = measure::wilson_interval(hits, n);
    covered += interval.low <= p && p <= interval.high;
  }
  // Exact coverage of 60 trials at 0.07, summed over the binomial law; 4.5 standard errors of the simulation.
  double exact = 0;
  for (int hits = 0; hits <= n; ++hits) {
    const auto interval = measure::wilson_interval(hits, n);
    if (interval.low <= p && p <= interval.high)
      exact += std::exp(std::lgamma(n + 1) - std::lgamma(hits + 1) - std::lgamma(n - hits + 1) + hits * std::log(p) + (n - hits) * std::log1p(-p));
  }
  BOOST_CHECK_SMALL(static_cast<double>(covered) / repeats - exact, 4.5 * std::sqrt(exact * (1 - exact) / repeats));
  BOOST_CHECK_GT(exact, 0.92);
}

BOOST_AUTO_TEST_CASE(recommendation_follows_the_goal) {
  const std::vector<compare::PhasePoint> points{{0.3, {90, 100}, {5, 100}}, {0.5, {80, 100}, {50, 100}}, {0.8, {20, 100}, {95, 100}}, {1.2, {1, 100}, {1, 1}}};
  BOOST_CHECK_EQUAL(compare::recommend_gamma(points, {}).gamma, 0.8);  // one lucky trial at 1.2 does not win
  BOOST_CHECK_EQUAL(compare::recommend_gamma(points, {.memory = 1, .reasoning = 0}).gamma, 0.3);
  BOOST_CHECK_EQUAL(compare::recommend_gamma(points, {.memory = 1, .reasoning = 1}).gamma, 0.5);
  BOOST_CHECK_EQUAL(compare::recommend_gamma(points, {.required_memory = 0.6}).gamma, 0.5);
  const auto none = compare::recommend_gamma(points, {.required_memory = 0.6, .required_reasoning = 0.8});
  BOOST_CHECK(!none.found);
  BOOST_CHECK(none.reason.find("no measured gamma") != std::string::npos);
  BOOST_CHECK_EQUAL(compare::recommend_gamma({{0.8, {1, 2}, {1, 2}}, {0.5, {1, 2}, {1, 2}}}, {}).gamma, 0.5);
  BOOST_CHECK_THROW(compare::recommend_gamma({}, {}), InvalidArgument);
  BOOST_CHECK_THROW(compare::recommend_gamma(points, {.reasoning = 0}), InvalidArgument);
  BOOST_CHECK_THROW(compare::recommend_gamma(points, {.reasoning = -1}), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
