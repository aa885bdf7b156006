// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/theory/memory_floor.hpp>
#include <theory/simulation.hpp>

using namespace incipit;
using namespace incipit::theory;

namespace {

struct Averages {
  double entropy, mode;
};

// All values^n outcomes of n labels, one by one.
Averages enumerated(Extent n, Extent values) {
  std::vector<Extent> labels(static_cast<std::size_t>(n), 0);
  double entropy = 0, mode = 0, outcomes = 0;
  for (;;) {
    std::vector<double> count(static_cast<std::size_t>(values), 0);
    for (const Extent label : labels) count[static_cast<std::size_t>(label)] += 1 / static_cast<double>(n);
    for (const double p : count)
      if (p > 0) entropy -= p * std::log(p);
    mode += *std::max_element(count.begin(), count.end());
    outcomes += 1;
    std::size_t i = 0;
    while (i < labels.size() && labels[i] == values - 1) labels[i++] = 0;
    if (i == labels.size()) return {entropy / outcomes, mode / outcomes};
    ++labels[i];
  }
}

data::AnchorTask task_of(Extent q, Id anchors, Id keys) {
  data::AnchorTask task;
  task.q = q;
  task.length = q + 1;
  task.memory = {1, anchors};
  task.reasoning = {anchors + 1, anchors + 2};
  task.keys = {anchors + 3, anchors + 2 + keys};
  return task;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(theory_memory_floor)

BOOST_AUTO_TEST_CASE(entropy_and_mode_of_few_labels_equal_enumeration_of_all_outcomes) {
  for (const auto& [n, values] : {std::pair<Extent, Extent>{1, 4}, {2, 5}, {3, 4}, {6, 3}, {5, 7}, {4, 1}, {9, 2}}) {
    const Averages all = enumerated(n, values);
    BOOST_TEST(std::abs(expected_empirical_entropy(n, values) - all.entropy) < 1e-11);  // a plain sum of 16807 outcomes
    BOOST_TEST(std::abs(expected_mode_share(n, values) - all.mode) < 1e-11);
  }
}

BOOST_AUTO_TEST_CASE(floor_of_the_paper_setting_is_the_known_one) {
  const MemoryFloor floor = expected_memory_floor(2, 10, 100);
  BOOST_TEST(floor.loss == 0.9 * 0.99 * std::log(2.0), boost::test_tools::tolerance(1e-13));
  BOOST_TEST(floor.accuracy == 0.5545, boost::test_tools::tolerance(1e-13));
  const MemoryFloor same = expected_memory_floor(data::AnchorTask::emb_mlp());
  BOOST_TEST(same.loss == floor.loss, boost::test_tools::tolerance(1e-13));
  BOOST_TEST(same.accuracy == floor.accuracy, boost::test_tools::tolerance(1e-13));
}

BOOST_AUTO_TEST_CASE(floor_by_partitions_equals_floor_by_multisets) {
  for (const Extent q : {1, 2, 3, 4, 5})
    for (const Id anchors : {1, 2, 3, 6}) {
      const MemoryFloor partitions = expected_memory_floor(q, anchors, 11);
      const MemoryFloor multisets = expected_memory_floor(task_of(q, anchors, 11));
      BOOST_TEST(std::abs(partitions.loss - multisets.loss) < 1e-12);
      BOOST_TEST(std::abs(partitions.accuracy - multisets.accuracy) < 1e-12);
    }
}

BOOST_AUTO_TEST_CASE(realised_floors_average_to_the_expected_one_under_every_rule) {
  for (const int kind : {0, 1, 2, 3}) {
    data::AnchorTask task = kind == 3 ? task_of(3, 4, 9) : test::small_task();
    if (kind == 1) task.rule = data::MemoryRule::around_sum;
    if (kind == 2) task.rule = data::MemoryRule::label_range_groups, task.groups = {2, 3, 5};
    double loss = 0, loss2 = 0, accuracy = 0, accuracy2 = 0;
    const int draws = 400;
    for (int r = 0; r < draws; ++r) {
      const data::MemoryMap mapping(task, RandomStream(static_cast<std::uint64_t>(r), "mapping"));
      const MemoryFloor floor = realised_memory_floor(task, mapping);
      loss += floor.loss / draws, loss2 += floor.loss * floor.loss / draws;
      accuracy += floor.accuracy / draws, accuracy2 += floor.accuracy * floor.accuracy / draws;
    }
    const MemoryFloor expected = expected_memory_floor(task);
    BOOST_TEST(std::abs(loss - expected.loss) < 4.5 * std::sqrt((loss2 - loss * loss) / draws));
    BOOST_TEST(std::abs(accuracy - expected.accuracy) < 4.5 * std::sqrt((accuracy2 - accuracy * accuracy) / draws));
  }
}

BOOST_AUTO_TEST_CASE(realised_floor_is_the_best_that_a_table_over_unordered_inputs_reaches) {
  const data::AnchorTask task = test::small_task();
  const data::MemoryMap mapping(task, RandomStream(5, "mapping"));
  double loss = 0, right = 0;  // pairs {a, b}: fitted by the counts of two labels
  for (Id z = 9; z <= 16; ++z)
    for (Id a = 1; a <= 4; ++a)
      for (Id b = 1; b <= 4; ++b) {
        const Id one[] = {a, b}, other[] = {b, a};
        const bool same = mapping.label(z, one) == mapping.label(z, other);
        loss += same ? 0 : std::log(2.0);
        right += same ? 1 : 0.5;
      }
  const MemoryFloor floor = realised_memory_floor(task, mapping);
  BOOST_TEST(floor.loss == loss / 128, boost::test_tools::tolerance(1e-13));
  BOOST_TEST(floor.accuracy == right / 128, boost::test_tools::tolerance(1e-13));
}

BOOST_AUTO_TEST_CASE(order_that_cannot_matter_leaves_no_floor) {
  BOOST_TEST(expected_memory_floor(1, 10, 100).loss == 0);
  BOOST_TEST(expected_memory_floor(1, 10, 100).accuracy == 1);
  BOOST_TEST(expected_memory_floor(3, 1, 100).loss == 0);
  BOOST_TEST(expected_memory_floor(3, 10, 1).loss == 0);
  BOOST_TEST(std::abs(expected_memory_floor(3, 10, 1).accuracy - 1) < 1e-13);
}

BOOST_AUTO_TEST_CASE(noise_keys_and_a_model_that_sees_order_break_the_assumptions) {
  data::AnchorTask task = test::small_task();
  task.length = task.q + 1;
  BOOST_TEST(all_hold(memory_floor_assumptions(task, false)));
  BOOST_TEST(first_broken(memory_floor_assumptions(task, true)).value().value == 1);
  task.length = task.q + 4;
  BOOST_TEST(first_broken(memory_floor_assumptions(task, false)).value().value == 3);
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_refused_by_name) {
  BOOST_CHECK_THROW(expected_memory_floor(7, 10, 100), InvalidArgument);
  BOOST_CHECK_THROW(expected_memory_floor(0, 10, 100), InvalidArgument);
  BOOST_CHECK_THROW(expected_empirical_entropy(0, 3), InvalidArgument);
  BOOST_CHECK_THROW(expected_mode_share(2, 0), InvalidArgument);
  const data::MemoryMap mapping(test::small_task(), RandomStream(5, "mapping"));
  BOOST_CHECK_THROW(realised_memory_floor(data::AnchorTask::paper(), mapping), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
