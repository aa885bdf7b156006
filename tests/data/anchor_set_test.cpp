// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/data/anchor_set.hpp>

#include <map>

#include "data/refused.hpp"

using namespace incipit;
using data::AnchorTask;
using data::Dataset;
using data::Examples;
using data::MemoryMap;
using data::Task;
using test::check_refused;

namespace {
MemoryMap drawn(const AnchorTask& task) { return {task, RandomStream(5, "memory map")}; }
AnchorTask small(Extent samples) {
  AnchorTask task = AnchorTask::paper();
  task.samples = samples;
  return task;
}
}  // namespace

BOOST_AUTO_TEST_SUITE(data_anchor_set)

BOOST_AUTO_TEST_CASE(population_of_the_paper_has_19800_training_inputs) {
  const AnchorTask task = AnchorTask::emb_mlp();
  const MemoryMap mapping = drawn(task);
  const Dataset set = population(task, mapping);
  set.train.validate();
  set.held_out.validate();
  BOOST_TEST(set.train.size() == 19'800);
  BOOST_TEST(set.held_out.size() == 200);
  BOOST_TEST(set.train.length() == 3);
  BOOST_TEST(set.train.vocab == 161);
  BOOST_TEST(set.of(Task::memory).size() == 10'000);
  BOOST_TEST(set.of(Task::reasoning).size() == 9'800);
  BOOST_TEST(set.of(Task::held_out).size() == 200);
  std::map<std::vector<Id>, int> seen;
  for (const Examples* part : {&set.train, &set.held_out})
    for (Extent n = 0; n < part->size(); ++n) {
      const Id z = part->tokens(n, 0), a = part->tokens(n, 1), b = part->tokens(n, 2),
               y = part->labels[static_cast<std::size_t>(n)];
      ++seen[{z, a, b}];
      const std::vector<Id> pair{a, b};
      BOOST_TEST_REQUIRE(y == (a <= 10 ? mapping.label(z, pair) : z + a + b));
      const bool held_out = (a == 11 && b == 13) || (a == 13 && b == 11);
      BOOST_TEST_REQUIRE(held_out == (part == &set.held_out));
    }
  BOOST_TEST(seen.size() == 20'000U);
}

BOOST_AUTO_TEST_CASE(sampled_sets_have_the_sizes_of_the_paper) {
  const Dataset set = sample(small(15'000), drawn(small(15'000)), RandomStream(1, "set"));
  BOOST_TEST(set.train.size() == 14'850);
  BOOST_TEST(set.held_out.size() == 150);
  BOOST_TEST(set.of(Task::memory).size() == 7'500);
  BOOST_TEST(set.of(Task::reasoning).size() == 7'350);
  BOOST_TEST((set.groups.memory == data::IdRange{1, 10}));
  BOOST_TEST((set.groups.reasoning == data::IdRange{11, 20}));
  BOOST_TEST((set.groups.keys == data::IdRange{21, 120}));
}

BOOST_AUTO_TEST_CASE(one_stream_gives_one_set_and_another_a_fresh_one) {
  const AnchorTask task = small(2'000);
  const MemoryMap mapping = drawn(task);
  const Dataset a = sample(task, mapping, RandomStream(1, "set")), b = sample(task, mapping, RandomStream(1, "set"));
  const Dataset c = sample(task, mapping, RandomStream(1, "other set"));
  BOOST_TEST((a.train.tokens == b.train.tokens && a.train.labels == b.train.labels && a.tasks == b.tasks));
  BOOST_TEST((a.held_out.tokens == b.held_out.tokens));
  BOOST_TEST((a.train.tokens != c.train.tokens));
}

BOOST_AUTO_TEST_CASE(rows_come_shuffled) {
  const Dataset set = sample(small(20'000), drawn(small(20'000)), RandomStream(2, "set"));
  std::size_t changes = 0;
  for (std::size_t n = 1; n < set.tasks.size(); ++n) changes += set.tasks[n] != set.tasks[n - 1];
  // Independent order: about half of the neighbours differ, with a spread of sqrt(N)/2.
  BOOST_TEST(std::abs(static_cast<double>(changes) - 9'900) < 4.5 * 0.5 * std::sqrt(19'800.0) + 1);
}

BOOST_AUTO_TEST_CASE(seen_pairs_are_tested_on_all_of_them_u51) {
  const AnchorTask task{
      .length = 5, .keys = {10, 20}, .memory = {5, 6}, .reasoning = {1, 4}, .held_out = {{3, 4}}, .samples = 400};
  const MemoryMap mapping = drawn(task);
  const Examples fresh = sample(task, mapping, RandomStream(1, "fresh")).of(Task::reasoning);
  const RandomStream draws(1, "draws");
  std::map<std::pair<Id, Id>, double> pairs;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const auto n = static_cast<Extent>(draws.integer(i, static_cast<std::uint64_t>(fresh.size())));
    Extent x = 0;
    while (fresh.tokens(n, x) > 4) ++x;
    pairs[{fresh.tokens(n, x), fresh.tokens(n, x + 1)}] += 1;
  }
  BOOST_TEST(pairs.size() == 15U);
  BOOST_TEST(pairs.count({3, 4}) == 0U);
  double chi_square = 0;
  for (const auto& [pair, count] : pairs) chi_square += (count - 5000.0 / 15) * (count - 5000.0 / 15) / (5000.0 / 15);
  BOOST_TEST(chi_square < 42.58);  // p = 1e-4 at 14 degrees of freedom
  const Examples unseen = sample(task, mapping, RandomStream(1, "fresh")).held_out;
  BOOST_TEST(unseen.size() == 20);
  for (Extent n = 0; n < unseen.size(); ++n) {
    Extent x = 0;
    while (unseen.tokens(n, x) > 4) ++x;
    BOOST_TEST((unseen.tokens(n, x) == 3 && unseen.tokens(n, x + 1) == 4));
  }
}

BOOST_AUTO_TEST_CASE(no_noise_and_no_held_out_tuples_are_fine) {
  AnchorTask task{.q = 1, .length = 2, .keys = {5, 9}, .memory = {1, 2}, .reasoning = {3, 4}, .samples = 40};
  const Dataset set = sample(task, drawn(task), RandomStream(1, "set"));
  set.train.validate();
  BOOST_TEST(set.train.size() == 40);
  BOOST_TEST(set.held_out.size() == 0);
  BOOST_TEST(population(task, drawn(task)).train.size() == 20);
}

BOOST_AUTO_TEST_CASE(sizes_that_cannot_be_equal_are_refused) {
  const MemoryMap mapping = drawn(AnchorTask::paper());
  const auto refused = [&](Extent samples) {
    check_refused<InvalidArgument>([&] { sample(small(samples), mapping, RandomStream(1, "set")); }, "samples",
                                   "a positive multiple of the number of ordered anchor tuples, 200");
  };
  refused(0);
  refused(199);
  refused(15'001);
}

BOOST_AUTO_TEST_CASE(a_population_with_noise_is_refused) {
  check_refused<InvalidArgument>([] { population(AnchorTask::paper(), drawn(AnchorTask::paper())); }, "length",
                                 "got 9, allowed: q + 1 = 3: noise keys are not enumerated, use population_statistics");
  const AnchorTask wide{.q = 4, .length = 5, .keys = {100, 1099}, .memory = {1, 20}, .reasoning = {21, 40}};
  const MemoryMap none(AnchorTask{.q = 1, .length = 2}, RandomStream(1, "memory map"));
  check_refused<InvalidArgument>([&] { population(wide, none); }, "mapping", "another task");
}

BOOST_AUTO_TEST_SUITE_END()
