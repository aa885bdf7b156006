// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/data/anchor_set.hpp>
#include <incipit/data/last_token.hpp>
#include <theory/definition_2.hpp>
#include <theory/simulation.hpp>

#include "data/refused.hpp"

using namespace incipit;
using data::AnchorTask;
using data::Examples;
using data::LastTokenStatistics;
using data::MemoryMap;
using data::MemoryRule;
using test::check_refused;

namespace {
double distance(const LastTokenStatistics& a, const LastTokenStatistics& b) {
  return (std::max)({(a.occurrences - b.occurrences).cwiseAbs().maxCoeff(), (a.last - b.last).cwiseAbs().maxCoeff(),
                     (a.label_law - b.label_law).cwiseAbs().maxCoeff(), (a.last_law - b.last_law).cwiseAbs().maxCoeff(),
                     (a.average_correlation - b.average_correlation).cwiseAbs().maxCoeff(),
                     (a.last_correlation - b.last_correlation).cwiseAbs().maxCoeff()});
}

// What every statistics must satisfy, whatever the data.
void check_laws(const LastTokenStatistics& s) {
  const double length = static_cast<double>(s.length), u = 1 / static_cast<double>(s.label_space());
  BOOST_TEST(std::abs(s.occurrences.sum() - length) < 1e-12 * length);
  BOOST_TEST(std::abs(s.last.sum() - 1) < 1e-12);
  BOOST_TEST(s.average_correlation.rowwise().sum().cwiseAbs().maxCoeff() < 1e-13);
  BOOST_TEST(s.last_correlation.rowwise().sum().cwiseAbs().maxCoeff() < 1e-13);
  // averages and last tokens see the same labels
  BOOST_TEST((s.average_correlation - s.last_correlation).colwise().sum().cwiseAbs().maxCoeff() < 1e-13);
  for (Extent t = 0; t < s.vocab(); ++t) {
    const Row<double> average = s.occurrences(t) / length * (s.label_law.row(t).array() - u).matrix(),
                      last = s.last(t) * (s.last_law.row(t).array() - u).matrix();
    BOOST_TEST((average - s.average_correlation.row(t)).cwiseAbs().maxCoeff() < 1e-14);
    BOOST_TEST((last - s.last_correlation.row(t)).cwiseAbs().maxCoeff() < 1e-14);
  }
}
}  // namespace

BOOST_AUTO_TEST_SUITE(data_last_token)

BOOST_AUTO_TEST_CASE(counted_by_hand) {
  const Examples three{(Mat<Id>(3, 2) << 3, 3, 3, 1, 0, 3).finished(), {0, 2, 2}, 4};
  const LastTokenStatistics s = data::count_last_token_statistics(three, 5);
  check_laws(s);
  BOOST_TEST(s.vocab() == 4);
  BOOST_TEST(s.label_space() == 5);
  BOOST_TEST(s.length == 2);
  BOOST_TEST(s.occurrences(3) == 4.0 / 3);
  BOOST_TEST(s.label_law(3, 0) == 0.5);  // twice in the first sequence
  BOOST_TEST(s.last(3) == 2.0 / 3);
  BOOST_TEST(s.last(1) == 1.0 / 3);
  BOOST_TEST(s.last(0) == 0);
  BOOST_TEST(s.last_law(3, 2) == 0.5);
  BOOST_TEST(s.last_law.row(0).isZero(0));
  const auto close = boost::test_tools::tolerance(1e-15);
  BOOST_TEST(s.average_correlation(3, 0) == (2 - 4.0 / 5) / 6, close);
  BOOST_TEST(s.last_correlation(3, 2) == (1 - 2.0 / 5) / 3, close);
  BOOST_TEST(s.last_correlation(3, 4) == -2.0 / 5 / 3, close);
}

BOOST_AUTO_TEST_CASE(average_is_the_correlation_that_a_sum_of_tokens_sees) {
  const AnchorTask task = test::small_task();
  const MemoryMap mapping(task, RandomStream(3, "mapping"));
  const Examples all = data::population(task, mapping).train;
  const data::TokenStatistics sum = data::count_statistics(all);
  const LastTokenStatistics s = data::count_last_token_statistics(all, all.vocab);
  BOOST_TEST((3 * s.average_correlation - sum.correlation).cwiseAbs().maxCoeff() < 1e-15);
  BOOST_TEST((s.occurrences - sum.occurrences).cwiseAbs().maxCoeff() < 1e-15);
  Examples reversed = all;
  reversed.tokens.rowwise().reverseInPlace();  // only the last position may notice
  const LastTokenStatistics r = data::count_last_token_statistics(reversed, all.vocab);
  BOOST_TEST((s.average_correlation - r.average_correlation).norm() == 0);
  BOOST_TEST((s.last - r.last).norm() > 0.1);
}

BOOST_AUTO_TEST_CASE(population_law_is_the_count_of_every_place_and_every_noise) {
  AnchorTask plain = test::small_task(), grouped = plain, odd = plain, around = plain;
  plain.length = 4;
  grouped.rule = MemoryRule::label_range_groups;
  grouped.groups = {.count = 2, .first = 5, .step = 3};
  odd = AnchorTask{.q = 1, .length = 4, .keys = {4, 6}, .memory = {0, 1}, .reasoning = {2, 3}, .held_out = {{3}}};
  around.rule = MemoryRule::around_sum;
  for (const AnchorTask& task : {test::small_task(), plain, grouped, odd, around}) {
    const MemoryMap mapping(task, RandomStream(5, "mapping"));
    const Extent m = task.vocabulary() + 3;
    const LastTokenStatistics law = data::population_last_token_statistics(task, mapping, m);
    check_laws(law);
    BOOST_TEST(distance(law, data::count_last_token_statistics(test::noisy_population(task, mapping), m)) < 1e-14);
  }
}

BOOST_AUTO_TEST_CASE(expected_law_is_the_mean_over_mappings) {
  const AnchorTask task{.q = 1, .length = 3, .keys = {6, 8}, .memory = {1, 2}, .reasoning = {3, 4}, .held_out = {{3}}};
  const Extent m = task.vocabulary();
  std::vector<Id> labels(6, 6);  // two memory anchors times three keys, all 3^6 mappings
  LastTokenStatistics sum = data::population_last_token_statistics(task, MemoryMap(task, labels), m);
  double mappings = 1;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t c = 0; c < labels.size() && !more; ++c) {
      more = labels[c] < 8;
      labels[c] = more ? labels[c] + 1 : 6;
    }
    if (!more) break;
    const LastTokenStatistics one = data::population_last_token_statistics(task, MemoryMap(task, labels), m);
    sum.occurrences += one.occurrences;
    sum.label_law += one.label_law;
    sum.average_correlation += one.average_correlation;
    sum.last += one.last;
    sum.last_law += one.last_law;
    sum.last_correlation += one.last_correlation;
    ++mappings;
  }
  BOOST_TEST(mappings == 729);
  for (Mat<double>* x : {&sum.label_law, &sum.average_correlation, &sum.last_law, &sum.last_correlation})
    *x /= mappings;
  sum.occurrences /= mappings;
  sum.last /= mappings;
  const LastTokenStatistics law = data::expected_last_token_statistics(task, m);
  check_laws(law);
  BOOST_TEST(distance(law, sum) < 1e-12);
}

BOOST_AUTO_TEST_CASE(an_anchor_closes_a_sequence_with_the_chance_of_the_last_place) {
  AnchorTask task;  // nothing held out: r_s / (q (L - q)), 1/14 of r_s where the average has 1/9
  const LastTokenStatistics law = data::expected_last_token_statistics(task, 192);
  check_laws(law);
  const auto close = boost::test_tools::tolerance(1e-12);
  for (const Extent s : {1, 10, 11, 20}) {
    BOOST_TEST(law.last(s) == law.occurrences(s) / 14, close);
    BOOST_TEST((law.last_law.row(s) - law.label_law.row(s)).norm() < 1e-14);
  }
  BOOST_TEST(law.last(70) == 6.0 / 7 / 100, close);  // noise, and so with the law of all labels
  BOOST_TEST((law.last_law.row(70) - law.last_law.row(21)).norm() < 1e-14);
  BOOST_TEST((law.label_law.row(70) - law.label_law.row(21)).norm() > 1e-3);
  // Holding out (11, 13) and (13, 11) takes from both places alike; (11, 13) alone does not.
  task.held_out = {{11, 13}};
  const LastTokenStatistics lopsided = data::expected_last_token_statistics(task, 192);
  BOOST_TEST(lopsided.last(13) == 9.0 / 199 / 7, close);
  BOOST_TEST(lopsided.last(11) == 10.0 / 199 / 7, close);
  BOOST_TEST((lopsided.last_law.row(13) - lopsided.label_law.row(13)).norm() > 1e-4);
}

BOOST_AUTO_TEST_CASE(a_sampled_set_approaches_the_law) {
  AnchorTask task = AnchorTask::paper();
  task.samples = 20'000;
  const MemoryMap mapping(task, RandomStream(1, "mapping"));
  const LastTokenStatistics law = data::population_last_token_statistics(task, mapping, 161),
                            counted = data::count_last_token_statistics(
                                data::sample(task, mapping, RandomStream(1, "set")).train, 161);
  check_laws(counted);
  // One token of one sequence is last: E |count - law|^2 = ((1 - 1/M) - |law|^2) / N for independent sequences.
  const double expected = std::sqrt((1 - 1.0 / 161 - law.last_correlation.squaredNorm()) / 19'800);
  const double error = (counted.last_correlation - law.last_correlation).norm();
  BOOST_TEST(std::abs(error / expected - 1) < 0.05);
}

BOOST_AUTO_TEST_CASE(a_label_space_that_does_not_hold_the_labels_is_refused) {
  const Examples two{(Mat<Id>(2, 1) << 0, 1).finished(), {0, 1}, 3};
  check_refused<InvalidArgument>([&] { data::count_last_token_statistics(two, 2); }, "label_space", "got 2");
  check_refused<InvalidArgument>([&] { data::count_last_token_statistics(two, data::max_dense_vocab + 1); },
                                 "label_space", "got 16385");
  const AnchorTask task = test::small_task();
  check_refused<InvalidArgument>([&] { data::expected_last_token_statistics(task, 33); }, "label_space", "got 33");
  AnchorTask other = task;
  other.keys = {10, 17};
  other.vocab = 40;
  check_refused<InvalidArgument>(
      [&] { data::population_last_token_statistics(other, MemoryMap(task, RandomStream(1, "m")), 40); }, "mapping",
      "another task");
  const Examples bad{Mat<Id>::Constant(1, 1, 7), {0}, 4};
  check_refused<IndexError>([&] { data::count_last_token_statistics(bad, 4); }, "tokens(0, 0)", "got 7");
}

BOOST_AUTO_TEST_SUITE_END()
