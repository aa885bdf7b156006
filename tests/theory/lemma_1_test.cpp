// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/theory/lemma_1.hpp>
#include <theory/definition_2.hpp>
#include <theory/simulation.hpp>

using namespace incipit;
using namespace incipit::theory;

namespace {

constexpr test::Shape shape{34, 36, 6, 10};

const data::Examples& population() {
  static const data::Examples all =
      test::whole_population(test::small_task(), data::MemoryMap(test::small_task(), RandomStream(1, "mapping")));
  return all;
}
Mat<double> logits(const TransformerMatrices& w) {
  const Mat<double> queries = w.embedding * w.query, keys = w.embedding * w.key;
  return queries * keys.transpose() / std::sqrt(static_cast<double>(w.query.cols()));
}
struct Extremes {
  double logit = 0, deviation = 0;  // max |l| and max |A_Lj - 1/L| over a set
};
Extremes extremes(const data::Examples& set, const Mat<double>& l) {
  Extremes out;
  const Extent L = set.length();
  for (Extent n = 0; n < set.size(); ++n) {
    const Id last = set.tokens(n, L - 1);
    double sum = 0;
    for (Extent j = 0; j < L; ++j) sum += std::exp(l(last, set.tokens(n, j)));
    for (Extent j = 0; j < L; ++j) {
      const double x = l(last, set.tokens(n, j));
      out.logit = (std::max)(out.logit, std::abs(x));
      out.deviation = (std::max)(out.deviation, std::abs(std::exp(x) / sum - 1 / static_cast<double>(L)));
    }
  }
  return out;
}
double mean_maximum(const data::Examples& set, test::Shape s, double gamma, int draws) {
  double mean = 0;
  for (int k = 1; k <= draws; ++k)
    mean += extremes(set, logits(test::draw_transformer(s, gamma, static_cast<std::uint64_t>(k)))).deviation / draws;
  return mean;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(theory_lemma_1)

BOOST_AUTO_TEST_CASE(pairs_in_use_counted_by_hand) {
  const data::Examples four{(Mat<Id>(4, 3) << 1, 2, 3, 2, 1, 3, 3, 3, 3, 1, 1, 2).finished(), {0, 0, 0, 0}, 4};
  const AttendedPairs p = attended_pairs(four);
  BOOST_TEST(p.length == 3);
  BOOST_TEST(p.last_tokens == 2);  // 3 and 2
  BOOST_TEST(p.pairs == 5);        // (3,1) (3,2) (3,3) (2,1) (2,2)
  BOOST_TEST(p.same == 2);
  BOOST_TEST(p.entries == 6);  // {1,2,3} once for both orders, {3}, {1,2}
}

BOOST_AUTO_TEST_CASE(bound_is_never_violated_and_follows_from_the_largest_logit) {
  const AttendedPairs in_use = attended_pairs(population());
  const Lemma1 lemma(shape.D, shape.m, shape.k);
  for (const double eps : {0.3, 1e-3}) {
    const double gamma = lemma.required_gamma(eps, in_use);
    BOOST_TEST(lemma.failure_probability(gamma, eps, in_use) == eps, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(Lemma1::bound(Lemma1::allowed_logit(eps), 2) == eps, boost::test_tools::tolerance(1e-12));
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      const Extremes got = extremes(population(), logits(test::draw_transformer(shape, gamma, seed)));
      BOOST_TEST(got.deviation <= eps);
      BOOST_TEST(got.deviation <= Lemma1::bound(got.logit, 3));
    }
    // far below the required gamma it does fail
    BOOST_TEST(extremes(population(), logits(test::draw_transformer(shape, gamma - 0.45, 1))).deviation > eps);
  }
}

BOOST_AUTO_TEST_CASE(attention_of_the_model_stays_within_the_bound_at_its_last_position) {
  const AttendedPairs in_use = attended_pairs(population());
  const double eps = 0.01, gamma = Lemma1(shape.D, shape.m, shape.k).required_gamma(eps, in_use);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const TransformerMatrices w = test::draw_transformer(shape, gamma, seed);
    const test::Transformer::Parameters p = test::parameters(w, population().length());
    test::Transformer::Cache cache;
    test::Transformer{}.forward(p, population().tokens, cache);
    const Mat<double> weights = cache.blocks[0].attention.weights;
    const double deviation = (weights.array() - 1.0 / 3).abs().maxCoeff();
    BOOST_TEST(deviation <= eps);
    BOOST_TEST(deviation == extremes(population(), logits(w)).deviation, boost::test_tools::tolerance(1e-6));
  }
}

BOOST_AUTO_TEST_CASE(required_gamma_is_the_published_inequality_with_its_constant) {
  const AttendedPairs no_self{.length = 9, .last_tokens = 10, .pairs = 500, .same = 0, .entries = 500};
  const Lemma1 lemma(161, 192, 32);
  const double eps = 0.01, t = std::log(1.02) / 2;
  const double written =
      (2 * std::log(192.0) + std::log(500 / (eps * t * t))) / (4 * (std::log(192.0) + std::log(161.0)));
  BOOST_TEST(lemma.required_gamma(eps, no_self) == written, boost::test_tools::tolerance(1e-12));
  AttendedPairs all_self = no_self;
  all_self.same = 500;
  BOOST_TEST(lemma.required_gamma(eps, all_self) - written ==
                 std::log1p(2.0 / 192) / (4 * (std::log(192.0) + std::log(161.0))),
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(lemma.failure_probability(0.1, eps, no_self) == 1);
  BOOST_TEST(Lemma1::bound(0.3, 1) == 0);
}

BOOST_AUTO_TEST_CASE(logit_deviation_and_kurtosis_over_initializations) {
  const Lemma1 lemma(shape.D, shape.m, shape.k);
  const double gamma = 0.8;
  double other2 = 0, other4 = 0, same2 = 0;
  constexpr int draws = 150;
  const double D = 34;
  for (int k = 1; k <= draws; ++k) {
    const Mat<double> l = logits(test::draw_transformer(shape, gamma, static_cast<std::uint64_t>(k)));
    const Col<double> own = l.diagonal();
    same2 += own.squaredNorm() / D / draws;
    other2 += (l.squaredNorm() - own.squaredNorm()) / (D * (D - 1)) / draws;
    other4 += (l.array().pow(4).sum() - own.array().pow(4).sum()) / (D * (D - 1)) / draws;
  }
  BOOST_TEST(std::abs(std::sqrt(other2) / lemma.logit_deviation(gamma) - 1) < 0.05);
  BOOST_TEST(std::abs(std::sqrt(same2) / lemma.logit_deviation(gamma, true) - 1) < 0.05);
  BOOST_TEST(std::abs(other4 / (other2 * other2) / lemma.logit_kurtosis() - 1) < 0.1);
  BOOST_TEST(lemma.logit_kurtosis() > 4);  // not normal at these sizes
  BOOST_TEST(std::abs(std::sqrt(other2) / Lemma1(shape.D, shape.m, 1).logit_deviation(1.0) - 1) > 0.5);
}

BOOST_AUTO_TEST_CASE(a_token_attends_to_itself_with_a_larger_logit_in_a_narrow_model) {
  const Lemma1 narrow(34, 4, 6);  // sqrt(1 + 2/m) = 1.22
  double own = 0, other = 0;
  constexpr int draws = 400;
  for (int k = 1; k <= draws; ++k) {
    const Mat<double> l = logits(test::draw_transformer({34, 4, 6, 1}, 0.8, static_cast<std::uint64_t>(k)));
    own += l.diagonal().squaredNorm() / 34 / draws;
    other += (l.squaredNorm() - l.diagonal().squaredNorm()) / (34 * 33) / draws;
  }
  BOOST_TEST(std::abs(std::sqrt(own) / narrow.logit_deviation(0.8, true) - 1) < 0.05);
  BOOST_TEST(std::abs(std::sqrt(other) / narrow.logit_deviation(0.8) - 1) < 0.05);
}

BOOST_AUTO_TEST_CASE(expected_maximum_is_met_within_a_quarter) {
  data::AnchorTask noisy = test::small_task();
  noisy.length = 4;
  const data::Examples longer = test::noisy_population(noisy, data::MemoryMap(noisy, RandomStream(1, "mapping")));
  for (const auto& [set, s] : {std::pair<const data::Examples*, test::Shape>{&population(), shape},
                               {&longer, shape},
                               {&longer, {34, 36, 32, 10}}}) {
    const Lemma1 lemma(s.D, s.m, s.k);
    const double predicted = lemma.expected_maximum(0.8, attended_pairs(*set));
    BOOST_TEST(std::abs(mean_maximum(*set, s, 0.8, 40) / predicted - 1) < 0.25);
    BOOST_TEST(all_hold(lemma.assumptions(0.8, attended_pairs(*set))));
    // twice the logits, twice the maximum: the estimate is not so wide that anything fits
    BOOST_TEST(mean_maximum(*set, s, 0.8, 40) / (2 * predicted) < 0.75);
  }
  // The paper's sizes: 12 480 pairs in 35 640 places, where a bound from Chebyshev is thousands of times too large.
  data::AnchorTask task = data::AnchorTask::paper();
  task.samples = 4000;
  const data::Examples set =
      data::sample(task, data::MemoryMap(task, RandomStream(1, "mapping")), RandomStream(2, "set")).train;
  const AttendedPairs in_use = attended_pairs(set);
  const Lemma1 lemma(161, 192, 32);
  const double measured = mean_maximum(set, {161, 192, 32, 1}, 0.8, 4);
  BOOST_TEST(std::abs(measured / lemma.expected_maximum(0.8, in_use) - 1) < 0.25);
  double eps = 1;
  while (lemma.required_gamma(eps / 2, in_use) < 0.8) eps /= 2;
  BOOST_TEST(eps / measured > 100);
}

BOOST_AUTO_TEST_CASE(expected_maximum_of_one_pair_is_the_mean_of_its_law) {
  // One last token, one pair, two places: L (A - 1/L) = (l - l') / 2 with l' a context of its own.
  const AttendedPairs one{.length = 2, .last_tokens = 1, .pairs = 1, .same = 0, .entries = 1};
  const Lemma1 wide(100, 100'000, 100'000);  // normal logits
  const double sigma = wide.logit_deviation(0.6) * std::sqrt(0.5) / 2;
  BOOST_TEST(wide.expected_maximum(0.6, one) == sigma * std::sqrt(2 / std::numbers::pi),
             boost::test_tools::tolerance(1e-3));
  // n pairs with a last token each: the maximum of n independent normals
  const AttendedPairs many{.length = 2, .last_tokens = 1000, .pairs = 1000, .same = 0, .entries = 1000};
  double mean = 0;
  for (double x = 0.005; x < 8; x += 0.01) mean += 0.01 * (1 - std::pow(1 - std::erfc(x / std::numbers::sqrt2), 1000));
  BOOST_TEST(wide.expected_maximum(0.6, many) == sigma * mean, boost::test_tools::tolerance(2e-3));
}

BOOST_AUTO_TEST_CASE(settings_that_mean_nothing_are_refused) {
  BOOST_CHECK_THROW(Lemma1(0, 3, 3), InvalidArgument);
  BOOST_CHECK_THROW(Lemma1(1, 1, 3), InvalidArgument);
  BOOST_CHECK_THROW(Lemma1(3, 3, 0), InvalidArgument);
  const Lemma1 lemma(10, 10, 2);
  BOOST_CHECK_THROW(lemma.required_gamma(0, {.length = 2, .last_tokens = 1, .pairs = 1, .entries = 1}),
                    InvalidArgument);
  BOOST_CHECK_THROW(lemma.required_gamma(0.1, {}), InvalidArgument);
  BOOST_CHECK_THROW(lemma.expected_maximum(1, {.length = 1, .last_tokens = 1, .pairs = 1, .entries = 1}),
                    InvalidArgument);
  BOOST_CHECK_THROW(lemma.expected_maximum(1, {.length = 2, .last_tokens = 1, .pairs = 3, .entries = 1}),
                    InvalidArgument);
  BOOST_CHECK_THROW(Lemma1::bound(-1, 2), InvalidArgument);
  BOOST_CHECK_THROW(Lemma1::bound(1, 0), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
