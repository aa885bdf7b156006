// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/data/anchor_task.hpp>

#include <set>

#include "data/refused.hpp"

using namespace incipit;
using data::AnchorTask;
using data::MemoryRule;
using data::Task;
using test::check_refused;

namespace {
using Tuple = std::vector<Id>;

std::vector<Tuple> tuples(const AnchorTask& task, Task kind) {
  std::vector<Tuple> all;
  task.for_each_tuple(kind, [&](std::int64_t index, std::span<const Id> anchors) {
    BOOST_TEST_REQUIRE(index == static_cast<std::int64_t>(all.size()));
    all.emplace_back(anchors.begin(), anchors.end());
  });
  return all;
}

// paper() with one change must be refused, naming `argument` and with `part` in the message.
template <class Change>
void refuse(Change change, std::string_view argument, std::string_view part) {
  AnchorTask task = AnchorTask::paper();
  change(task);
  check_refused<InvalidArgument>([&] { task.validate(); }, argument, part);
}
}  // namespace

BOOST_AUTO_TEST_SUITE(data_anchor_task)

BOOST_AUTO_TEST_CASE(presets_are_the_settings_of_the_paper) {
  constexpr Extent vocabulary = AnchorTask::paper().vocabulary();  // usable as a template argument
  static_assert(vocabulary == 161);
  const AnchorTask paper = AnchorTask::paper(), emb = AnchorTask::emb_mlp();
  paper.validate();
  emb.validate();
  BOOST_TEST(paper.length == 9);
  BOOST_TEST(paper.noise() == 6);
  BOOST_TEST(paper.positions() == 7);
  BOOST_TEST(emb.length == 3);
  BOOST_TEST(emb.noise() == 0);
  for (const AnchorTask& task : {paper, emb}) {
    BOOST_TEST(task.tuples(Task::memory) == 100);
    BOOST_TEST(task.tuples(Task::reasoning) == 98);
    BOOST_TEST(task.tuples(Task::held_out) == 2);
    BOOST_TEST(task.all_tuples() == 200);
    BOOST_TEST(task.vocabulary() == 161);
  }
}

BOOST_AUTO_TEST_CASE(vocabulary_grows_with_the_labels) {
  AnchorTask task{.q = 3, .length = 4};
  BOOST_TEST(task.vocabulary() == 181);
  task.q = 4;
  BOOST_TEST(task.vocabulary() == 201);
  BOOST_TEST((AnchorTask{.vocab = 500}.vocabulary()) == 500);
  BOOST_TEST((AnchorTask{.keys = {100, 300}, .memory = {40, 70}, .rule = MemoryRule::around_sum}.vocabulary()) == 441);
}

BOOST_AUTO_TEST_CASE(split_is_a_set_operation_on_ordered_pairs_u51) {
  const AnchorTask task{.keys = {10, 20}, .memory = {5, 6}, .reasoning = {1, 4}, .held_out = {{3, 4}}};
  task.validate();
  const std::vector<Tuple> train = tuples(task, Task::reasoning);
  const std::set<Tuple> seen(train.begin(), train.end());
  BOOST_TEST(train.size() == 15U);
  BOOST_TEST(seen.size() == 15U);
  for (Id a = 1; a <= 4; ++a)
    for (Id b = 1; b <= 4; ++b) {
      const bool held_out = a == 3 && b == 4;
      BOOST_TEST(seen.count({a, b}) == (held_out ? 0U : 1U));
      BOOST_TEST((task.kind_of(Tuple{a, b}) == (held_out ? Task::held_out : Task::reasoning)));
    }
  BOOST_TEST((tuples(task, Task::held_out) == std::vector<Tuple>{{3, 4}}));
}

BOOST_AUTO_TEST_CASE(tuples_are_visited_once_in_order_for_any_q) {
  for (Extent q = 1; q <= 5; ++q) {
    AnchorTask task{.q = q, .length = q + 1, .keys = {50, 60}, .memory = {1, 3}, .reasoning = {4, 7}};
    task.held_out = {Tuple(static_cast<std::size_t>(q), 7), Tuple(static_cast<std::size_t>(q), 4)};  // last and first
    task.validate();
    for (const Task kind : {Task::memory, Task::reasoning}) {
      const std::vector<Tuple> all = tuples(task, kind);
      BOOST_TEST(static_cast<std::int64_t>(all.size()) == task.tuples(kind));
      BOOST_TEST(std::is_sorted(all.begin(), all.end()));
      BOOST_TEST((std::adjacent_find(all.begin(), all.end()) == all.end()));
      for (const Tuple& tuple : all) BOOST_TEST_REQUIRE((task.kind_of(tuple) == kind));
    }
    std::int64_t index = 0;
    for (const Tuple& tuple : tuples(task, Task::memory)) BOOST_TEST(task.memory_index(tuple) == index++);
  }
}

BOOST_AUTO_TEST_CASE(label_range_groups_never_mix) {
  AnchorTask task{.memory = {1, 8}, .reasoning = {11, 18}, .rule = MemoryRule::label_range_groups};
  task.validate();
  BOOST_TEST(task.tuples(Task::memory) == 4 * 2 * 2);
  std::int64_t index = 0;
  for (const Tuple& tuple : tuples(task, Task::memory)) {
    BOOST_TEST((tuple[0] - 1) / 2 == (tuple[1] - 1) / 2);
    BOOST_TEST(task.memory_index(tuple) == index++);
    const Id i = (tuple[0] - 1) / 2 + 1;
    BOOST_TEST((task.memory_labels(21, tuple) == data::IdRange{30, 29 + 20 * i}));
  }
  check_refused<InvalidArgument>(
      [&] {
        task.memory_index(Tuple{2, 3});
      },
      "anchors", "got 3, allowed: a memory anchor, 1..2");
}

BOOST_AUTO_TEST_CASE(labels_follow_the_rules) {
  const AnchorTask task{.rule = MemoryRule::around_sum};
  task.validate();
  BOOST_TEST(AnchorTask::reasoning_label(50, Tuple{11, 13}) == 74);
  BOOST_TEST((task.memory_labels(50, Tuple{3, 4}) == data::IdRange{43, 57}));
  BOOST_TEST((AnchorTask::paper().memory_labels(50, Tuple{3, 4}) == data::IdRange{21, 120}));
}

BOOST_AUTO_TEST_CASE(kinds_never_mix) {
  const AnchorTask task = AnchorTask::paper();
  check_refused<InvalidArgument>([&] { task.kind_of(Tuple{3, 12}); }, "anchors", "got 12");
  check_refused<InvalidArgument>([&] { task.kind_of(Tuple{12, 3}); }, "anchors", "got 3");
  check_refused<InvalidArgument>([&] { task.kind_of(Tuple{30, 12}); }, "anchors", "got 30");
  check_refused<ShapeError>([&] { task.kind_of(Tuple{3}); }, "anchors.size()", "exactly 2");
}

BOOST_AUTO_TEST_CASE(sizes_that_fit_no_sequence_are_refused) {
  refuse([](auto& t) { t.length = 2; }, "length", "got 2, allowed: at least q + 1 = 3");
  refuse([](auto& t) { t.q = 0; }, "q", "1 to 64");
  refuse([](auto& t) { t.q = -1; }, "q", "1 to 64");
  refuse([](auto& t) { t.q = (std::numeric_limits<Extent>::max)(); }, "q", "1 to 64");
  refuse([](auto& t) { t.length = (std::numeric_limits<Extent>::max)(); }, "length", "less than");
  refuse([](auto& t) { t.samples = -1; }, "samples", "0 to");
  refuse([](auto& t) { t.samples = (std::numeric_limits<Extent>::max)(); }, "samples", "sequences of this length");
}

BOOST_AUTO_TEST_CASE(ranges_that_are_empty_negative_or_overlap_are_refused) {
  refuse([](auto& t) { t.keys = {120, 21}; }, "keys", "got 120..21, allowed: a range that is not empty");
  refuse([](auto& t) { t.memory = {}; }, "memory", "not empty");
  refuse([](auto& t) { t.reasoning = {15, 14}; }, "reasoning", "not empty");
  refuse([](auto& t) { t.memory = {-3, 10}; }, "memory", "ids from 0");
  refuse([](auto& t) { t.keys = {20, 120}; }, "reasoning", "no id of keys (20..120): ranges overlap");
  refuse([](auto& t) { t.keys = {5, 120}; }, "memory", "ranges overlap");
  refuse([](auto& t) { t.memory = {1, 11}; }, "memory", "no id of reasoning (11..20)");
  refuse([](auto& t) { t.memory = {12, 14}; }, "memory", "ranges overlap");
}

BOOST_AUTO_TEST_CASE(held_out_tuples_that_are_none_are_refused) {
  refuse(
      [](auto& t) {
        t.held_out.push_back({11, 13, 12});
      },
      "held_out", "got (11,13,12), allowed: tuples of q = 2 anchors");
  refuse([](auto& t) { t.held_out.push_back({}); }, "held_out", "got ()");
  refuse(
      [](auto& t) {
        t.held_out.push_back({11, 10});
      },
      "held_out", "got (11,10), allowed: tuples of reasoning anchors");
  refuse([](auto& t) { t.held_out.push_back({1, 3}); }, "held_out", "got (1,3)");
  refuse([](auto& t) { t.held_out.push_back({13, 11}); }, "held_out", "got (13,11), allowed: every tuple once");
  refuse([](auto& t) { t.reasoning = {11, 11}, t.held_out = {{11, 11}}; }, "held_out", "not all reasoning tuples");
}

BOOST_AUTO_TEST_CASE(labels_beyond_the_vocabulary_are_refused) {
  refuse([](auto& t) { t.vocab = 160; }, "largest reasoning label", "got 160, allowed: less than vocab = 160");
  AnchorTask exact = AnchorTask::paper();
  exact.vocab = 161;
  exact.validate();
  refuse([](auto& t) { t.vocab = 100; }, "keys.last", "got 120");
  refuse([](auto& t) { t.vocab = -5; }, "vocab", "got -5");
  refuse([](auto& t) { t.vocab = Extent{1} << 40; }, "vocab", "0 (smallest) to");
  refuse([](auto& t) { t.keys = {2'147'483'600, 2'147'483'640}; }, "largest label", "less than 2147483647");
  refuse(
      [](auto& t) {
        t.rule = MemoryRule::label_range_groups, t.memory = {1, 8}, t.vocab = 161, t.groups.step = 40;
      },
      "largest memory label", "got 189");
  refuse(
      [](auto& t) {
        t.rule = MemoryRule::around_sum, t.keys = {121, 140}, t.memory = {40, 50}, t.vocab = 240;
      },
      "F_mem2 (around_sum) largest label z + sum a", "got 240");
}

BOOST_AUTO_TEST_CASE(f_mem2_below_zero_is_refused_by_name) {
  refuse([](auto& t) { t.q = 3, t.held_out = {}, t.rule = MemoryRule::around_sum; },
         "F_mem2 (around_sum) smallest label z - sum a", "got -9, allowed: at least 0: F_mem2 leaves [0, D)");
  AnchorTask two = AnchorTask::paper();
  two.rule = MemoryRule::around_sum;
  two.validate();  // smallest label 21 - 20
}

BOOST_AUTO_TEST_CASE(groups_that_do_not_divide_differ_by_one) {
  const AnchorTask task{.rule = MemoryRule::label_range_groups};
  task.validate();
  BOOST_TEST((task.group(0) == data::IdRange{1, 3} && task.group(1) == data::IdRange{4, 6}));
  BOOST_TEST((task.group(2) == data::IdRange{7, 8} && task.group(3) == data::IdRange{9, 10}));
  BOOST_TEST(task.tuples(Task::memory) == 9 + 9 + 4 + 4);
  std::int64_t seen = 0;
  task.for_each_tuple(Task::memory, [&](std::int64_t index, std::span<const Id> anchors) {
    BOOST_TEST(index == seen++);
    BOOST_TEST(task.memory_index(anchors) == index);
  });
  BOOST_TEST(seen == task.tuples(Task::memory));
}

BOOST_AUTO_TEST_CASE(groups_without_anchors_are_refused) {
  const auto groups = [](Extent count) {
    return [count](AnchorTask& t) { t.rule = MemoryRule::label_range_groups, t.groups.count = count; };
  };
  refuse(groups(11), "groups.count", "got 11, allowed: 1 to the number of memory anchors, 10");
  refuse(groups(0), "groups.count", "got 0");
  refuse(groups(20), "groups.count", "got 20");
  refuse([&](auto& t) { groups(5)(t), t.groups.step = 0; }, "groups.step", "at least 1");
  refuse([&](auto& t) { groups(5)(t), t.groups.first = -1; }, "groups.first", "at least 0");
  refuse([](auto& t) { t.rule = static_cast<MemoryRule>(9); }, "rule", "got 9");
}

BOOST_AUTO_TEST_CASE(products_that_overflow_are_refused) {
  refuse([](auto& t) { t.q = 40, t.length = 41, t.held_out = {}; }, "memory", "combinations");
  refuse(
      [](auto& t) {
        t.q = 64, t.length = 65, t.held_out = {}, t.memory = {1, 1};
      },
      "reasoning", "11..20 with q = 64");
  refuse([](auto& t) { t.keys = {21, 500'000'000}; }, "memory", "at most 268435456 combinations");
}

BOOST_AUTO_TEST_SUITE_END()
