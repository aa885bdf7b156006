// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/data/memory_map.hpp>

#include "data/refused.hpp"

using namespace incipit;
using data::AnchorTask;
using data::MemoryMap;
using data::MemoryRule;
using data::Task;
using test::check_refused;

BOOST_AUTO_TEST_SUITE(data_memory_map)

BOOST_AUTO_TEST_CASE(every_label_is_addressed_by_its_combination_alone) {
  const AnchorTask task = AnchorTask::paper();
  const RandomStream stream(11, "memory map");
  const MemoryMap mapping(task, stream);
  BOOST_TEST(mapping.labels().size() == 10'000U);
  std::uint64_t c = 0;
  task.for_each_tuple(Task::memory, [&](std::int64_t tuple, std::span<const Id> anchors) {
    for (Id key = 21; key <= 120; ++key, ++c) {
      BOOST_TEST_REQUIRE(mapping.label(key, anchors) == 21 + static_cast<Id>(stream.integer(c, 100)));
      BOOST_TEST_REQUIRE(mapping.label(key, tuple) == mapping.label(key, anchors));
    }
  });
}

BOOST_AUTO_TEST_CASE(length_and_split_change_no_label) {
  const RandomStream stream(12, "memory map");
  const MemoryMap paper(AnchorTask::paper(), stream), emb(AnchorTask::emb_mlp(), stream);
  BOOST_TEST((paper.labels() == emb.labels()));
  paper.require_made_for(AnchorTask::emb_mlp());
  BOOST_TEST((paper.labels() != MemoryMap(AnchorTask::paper(), RandomStream(13, "memory map")).labels()));
}

BOOST_AUTO_TEST_CASE(labels_are_uniform_on_the_range_of_each_rule) {
  AnchorTask around{.rule = MemoryRule::around_sum};
  AnchorTask grouped{.memory = {1, 8}, .rule = MemoryRule::label_range_groups};
  for (const AnchorTask& task : {AnchorTask::paper(), around, grouped}) {
    const MemoryMap mapping(task, RandomStream(3, "memory map"));
    double sum = 0, variance = 0;
    std::size_t c = 0;
    task.for_each_tuple(Task::memory, [&](std::int64_t, std::span<const Id> anchors) {
      for (Id key = 21; key <= 120; ++key) {
        const data::IdRange range = task.memory_labels(key, anchors);
        const Id label = mapping.labels()[c++];
        BOOST_TEST_REQUIRE(range.contains(label));
        const auto n = static_cast<double>(range.size());
        sum += label - 0.5 * (range.first + range.last);
        variance += (n * n - 1) / 12;
      }
    });
    BOOST_TEST(std::abs(sum) < 4.5 * std::sqrt(variance));
  }
}

BOOST_AUTO_TEST_CASE(combinations_that_are_none_are_refused) {
  const MemoryMap mapping(AnchorTask::paper(), RandomStream(1, "memory map"));
  const std::vector<Id> good{1, 2}, mixed{1, 11}, three{1, 2, 3};
  check_refused<InvalidArgument>([&] { mapping.label(20, good); }, "key", "got 20, allowed: a key of the task");
  check_refused<InvalidArgument>([&] { mapping.label(50, mixed); }, "anchors", "got 11");
  check_refused<ShapeError>([&] { mapping.label(50, three); }, "anchors.size()", "exactly 2");
  check_refused<IndexError>([&] { mapping.label(50, 100); }, "tuple", "got 100");
  check_refused<IndexError>([&] { mapping.label(50, -1); }, "tuple", "got -1");
}

BOOST_AUTO_TEST_CASE(given_labels_must_fit_their_ranges) {
  const AnchorTask task{.q = 1, .length = 2, .keys = {5, 6}, .memory = {1, 2}, .reasoning = {3, 4}};
  BOOST_TEST(MemoryMap(task, {5, 6, 6, 5}).label(5, std::vector<Id>{2}) == 6);
  check_refused<ShapeError>([&] { MemoryMap(task, {5, 6, 6}); }, "labels.size()", "exactly 4");
  check_refused<IndexError>([&] { MemoryMap(task, {5, 6, 7, 5}); }, "labels[2]", "got 7, allowed: 5..6");
  check_refused<InvalidArgument>([] { MemoryMap(AnchorTask{.length = 1}, RandomStream(1, "x")); }, "length", "q + 1");
}

BOOST_AUTO_TEST_SUITE_END()
