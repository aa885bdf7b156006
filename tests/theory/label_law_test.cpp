// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/data/statistics.hpp>
#include <incipit/theory/label_law.hpp>
#include <theory/simulation.hpp>

#include <array>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/eigen.hpp>

using namespace incipit;
using namespace incipit::theory;

namespace {

using Float100 =
    boost::multiprecision::number<boost::multiprecision::cpp_bin_float<100>, boost::multiprecision::et_off>;

double relative(double got, const Float100& want) {
  return std::abs(static_cast<double>((Float100(got) - want) / want));
}

// Odometer over ordered tuples; its own, so that nothing is shared with for_each_tuple.
template <class Visit>
void every_tuple(IdRange range, Extent q, Visit visit) {
  std::vector<Id> tuple(static_cast<std::size_t>(q), range.first);
  for (;;) {
    visit(tuple);
    std::size_t i = 0;
    while (i < tuple.size() && tuple[i] == range.last) tuple[i++] = range.first;
    if (i == tuple.size()) return;
    ++tuple[i];
  }
}

Mat<double> enumerated_reasoning_law(const AnchorTask& task) {
  Mat<double> law = Mat<double>::Zero(task.reasoning.size(), task.vocabulary());
  every_tuple(task.reasoning, task.q, [&](const std::vector<Id>& tuple) {
    if (std::find(task.held_out.begin(), task.held_out.end(), tuple) != task.held_out.end()) return;
    for (Id z = task.keys.first; z <= task.keys.last; ++z) {
      Id label = z;
      for (const Id a : tuple) label += a;
      for (const Id a : tuple) law(a - task.reasoning.first, label) += 1;
    }
  });
  for (Extent s = 0; s < law.rows(); ++s) law.row(s) /= law.row(s).sum();
  return law;
}

AnchorTask paper_task(Extent q, std::vector<std::vector<Id>> held_out = {}) {
  AnchorTask task;
  task.q = q;
  task.length = q + 1;
  task.held_out = std::move(held_out);
  return task;
}

double mean_at_distance(const Mat<double>& cosines, Extent d) { return cosines.diagonal(static_cast<int>(d)).mean(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(theory_label_law)

BOOST_AUTO_TEST_CASE(convolution_keeps_thirteen_digits_of_every_entry_up_to_q_100) {
  for (const Extent q : {1, 2, 3, 6, 20, 60, 100})
    for (const Extent n : {2, 10, 100}) {
      const IntegerLaw law = uniform_sum_law(q, n);
      BOOST_TEST(law.p.size() == q * (n - 1) + 1);
      double worst = 0;
      for (Extent t = 0; t < law.p.size(); t += 1 + law.p.size() / 60)
        worst = (std::max)(worst, relative(law(t), uniform_sum_closed_form<Float100>(q, n, t)));
      BOOST_TEST(worst < 1e-13);
    }
}

BOOST_AUTO_TEST_CASE(closed_form_in_its_scalar_keeps_its_digits_up_to_the_stated_q) {
  const auto worst = [](auto zero, Extent q) {
    using T = decltype(zero);
    double error = 0;
    for (Extent t = 0; t <= q * 9; t += 3)
      error = (std::max)(error, relative(static_cast<double>(uniform_sum_closed_form<T>(q, 10, t)),
                                         uniform_sum_closed_form<Float100>(q, 10, t)));
    return error;
  };
  for (Extent q = 1; q <= closed_form_max_summands<double>(); ++q) BOOST_TEST(worst(0.0, q) < 1e-14);
  for (Extent q = 1; q <= closed_form_max_summands<long double>(); ++q) BOOST_TEST(worst(0.0L, q) < 1e-14);
  BOOST_TEST(worst(0.0, 60) > 1e-8);  // and it does cancel beyond: the switch is needed
}

BOOST_AUTO_TEST_CASE(probability_of_a_sum_is_right_on_both_sides_of_the_switch) {
  for (const Extent q : {2, 27, 28, 100})
    for (const Extent t : {Extent{0}, Extent{7}, q * 9 / 2, q * 9 - 5}) {
      BOOST_TEST(relative(uniform_sum_probability(q, 10, t), uniform_sum_closed_form<Float100>(q, 10, t)) < 1e-13);
    }
  BOOST_TEST(uniform_sum_probability(3, 10, -1) == 0);
  BOOST_TEST(uniform_sum_probability(3, 10, 28) == 0);
}

BOOST_AUTO_TEST_CASE(sum_law_has_total_one_and_the_moments_of_the_sum) {
  for (const Extent q : {1, 5, 40}) {
    const IntegerLaw law = uniform_sum_law(q, 10).shifted(3);
    BOOST_TEST(law.p.sum() == 1.0, boost::test_tools::tolerance(1e-13));
    BOOST_TEST(law.mean() == static_cast<double>(q) * 4.5 + 3, boost::test_tools::tolerance(1e-13));
    BOOST_TEST(law.variance() == static_cast<double>(q) * 99 / 12, boost::test_tools::tolerance(1e-12));
  }
}

BOOST_AUTO_TEST_CASE(normal_approximation_is_off_by_the_known_total_variation) {
  const std::pair<Extent, double> known[] = {{2, 0.176}, {3, 0.168}, {6, 0.150}, {20, 0.103}, {100, 0.027}};
  for (const auto& [q, distance] : known) {
    const IntegerLaw law = convolve(uniform_law(21, 120), uniform_sum_law(q - 1, 10).shifted((q - 1) * 11));
    BOOST_TEST(std::abs(total_variation(law, rounded_normal_law(law.mean(), law.variance())) - distance) < 5e-4);
  }
}

BOOST_AUTO_TEST_CASE(total_variation_of_a_law_with_itself_is_zero_and_of_disjoint_laws_one) {
  const IntegerLaw a = uniform_law(2, 7);
  BOOST_TEST(total_variation(a, a) == 0);
  BOOST_TEST(total_variation(a, a.shifted(6)) == 1.0, boost::test_tools::tolerance(1e-15));
}

BOOST_AUTO_TEST_CASE(masked_reasoning_law_equals_enumeration_of_all_tuples) {
  for (const AnchorTask& task :
       {paper_task(2), paper_task(2, {{11, 13}, {13, 11}}), paper_task(2, {{12, 12}}), paper_task(1, {{14}}),
        paper_task(3, {{11, 11, 11}, {11, 12, 11}, {20, 19, 18}}), test::small_task()}) {
    if (task.q == 1) {
      BOOST_CHECK_THROW(reasoning_label_law(task), InvalidArgument);  // its anchor occurs nowhere else
      continue;
    }
    const Mat<double> law = reasoning_label_law(task);
    BOOST_TEST((law - enumerated_reasoning_law(task)).cwiseAbs().maxCoeff() < 1e-16);
    BOOST_TEST((law.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-13);
  }
}

BOOST_AUTO_TEST_CASE(anchor_laws_are_shifts_of_one_companion_law_when_nothing_is_held_out) {
  const AnchorTask task = paper_task(4);
  const IntegerLaw companions = companion_law(task);
  const Mat<double> law = reasoning_label_law(task);
  for (Extent s = 0; s < 10; ++s)
    BOOST_TEST((law.row(s) - companions.shifted(11 + s).over_labels(task.vocabulary())).cwiseAbs().maxCoeff() < 1e-15);
}

BOOST_AUTO_TEST_CASE(cosines_of_the_paper_setting_are_the_known_ones) {
  const std::pair<Extent, std::array<double, 4>> known[] = {{2, {0.99711, 0.97629, 0.93929, 0.83520}},
                                                            {3, {0.99833, 0.98525, 0.96043, 0.88474}},
                                                            {4, {0.99876, 0.98898, 0.97011, 0.91036}}};
  const std::array<Extent, 4> distances{1, 3, 5, 9};
  for (const auto& [q, values] : known) {
    const AnchorTask task = paper_task(q);
    const Mat<double> cosines = label_cosines(reasoning_label_law(task));
    for (std::size_t i = 0; i < 4; ++i) {
      const double closed = shifted_law_cosine(companion_law(task), distances[i], task.vocabulary());
      BOOST_TEST(std::abs(closed - values[i]) < 5.1e-6);
      for (Extent s = 0; s + distances[i] < 10; ++s)
        BOOST_TEST(std::abs(cosines(s, s + distances[i]) - closed) < 1e-13);
    }
  }
}

BOOST_AUTO_TEST_CASE(cosines_under_the_held_out_pairs_are_the_known_ones) {
  const Mat<double> cosines = label_cosines(reasoning_label_law(AnchorTask::paper()));
  const std::pair<Extent, double> known[] = {{1, 0.99701}, {3, 0.97781}, {5, 0.94237}, {9, 0.84334}};
  for (const auto& [d, value] : known) BOOST_TEST(std::abs(mean_at_distance(cosines, d) - value) < 5.1e-6);
  BOOST_TEST((cosines - cosines.transpose()).cwiseAbs().maxCoeff() < 4e-14);  // D rounding units
  BOOST_TEST((cosines.diagonal().array() - 1).abs().maxCoeff() < 4e-14);
}

BOOST_AUTO_TEST_CASE(memory_laws_of_all_three_rules_equal_enumeration) {
  for (const data::MemoryRule rule :
       {data::MemoryRule::uniform_keys, data::MemoryRule::around_sum, data::MemoryRule::label_range_groups}) {
    AnchorTask task = AnchorTask::paper();
    task.rule = rule;
    task.groups.count = 5;
    Mat<double> law = Mat<double>::Zero(10, task.vocabulary());
    every_tuple(task.memory, 2, [&](const std::vector<Id>& tuple) {
      if (rule == data::MemoryRule::label_range_groups && (tuple[0] - 1) / 2 != (tuple[1] - 1) / 2) return;
      for (Id z = 21; z <= 120; ++z) {
        Id first = 21, last = 120;
        if (rule == data::MemoryRule::around_sum) first = z - tuple[0] - tuple[1], last = z + tuple[0] + tuple[1];
        if (rule == data::MemoryRule::label_range_groups) first = 30, last = 29 + 20 * ((tuple[0] - 1) / 2 + 1);
        for (Id y = first; y <= last; ++y)
          for (const Id a : tuple) law(a - 1, y) += 1 / static_cast<double>(last - first + 1);
      }
    });
    for (Extent s = 0; s < 10; ++s) law.row(s) /= law.row(s).sum();
    BOOST_TEST((memory_label_law(task) - law).cwiseAbs().maxCoeff() < 1e-15);
  }
}

BOOST_AUTO_TEST_CASE(spread_memory_law_that_leaves_the_labels_is_refused) {
  AnchorTask task = paper_task(3);
  task.rule = data::MemoryRule::around_sum;
  BOOST_CHECK_THROW(memory_label_law(task), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(key_law_is_the_mixture_that_enumeration_with_noise_gives) {
  for (const Extent length : {3, 4, 9})
    for (const bool spread : {false, true}) {
      AnchorTask task = test::small_task();
      task.length = length;
      if (spread) task.rule = data::MemoryRule::around_sum;
      Mat<double> given = Mat<double>::Zero(8, 34);  // label law of samples whose signal key is z, unnormalised
      for (const IdRange range : {task.memory, task.reasoning})
        every_tuple(range, 2, [&](const std::vector<Id>& tuple) {
          if (tuple == std::vector<Id>{5, 7} || tuple == std::vector<Id>{7, 5}) return;
          for (Id z = 9; z <= 16; ++z) {
            const Id sum = tuple[0] + tuple[1];
            Id first = z + sum, last = z + sum;
            if (range == task.memory) first = spread ? z - sum : 9, last = spread ? z + sum : 16;
            for (Id y = first; y <= last; ++y) given(z - 9, y) += 1 / static_cast<double>(last - first + 1);
          }
        });
      const Row<double> all = given.colwise().sum() / given.sum();
      for (Id z = 9; z <= 16; ++z) {
        const double noise = static_cast<double>(length - 3);
        const Row<double> want = (given.row(z - 9) / given.row(z - 9).sum() + noise * all) / (1 + noise);
        BOOST_TEST((key_label_law(task, z) - want).cwiseAbs().maxCoeff() < 1e-15);
      }
    }
  BOOST_CHECK_THROW(key_label_law(test::small_task(), 8), IndexError);
}

BOOST_AUTO_TEST_CASE(key_law_weighs_unequal_label_groups_by_their_tuples) {
  AnchorTask task;
  task.rule = data::MemoryRule::label_range_groups;  // ten anchors in four groups: 3, 3, 2, 2
  const auto statistics = data::expected_statistics(task);
  for (Id z = task.keys.first; z <= task.keys.last; z += 9)
    BOOST_TEST((key_label_law(task, z) - statistics.label_law.row(z)).cwiseAbs().maxCoeff() < 1e-14);
}

BOOST_AUTO_TEST_CASE(sampling_noise_of_a_law_is_what_drawn_examples_show) {
  const AnchorTask task = AnchorTask::paper();
  const Mat<double> law = reasoning_label_law(task);
  const auto with = [&](double n) { return label_law_assumptions(law, Col<double>::Constant(law.rows(), n)).front(); };
  const Row<double> p = law.row(0), u = Row<double>::Constant(p.size(), 1.0 / static_cast<double>(p.size()));
  const RandomStream draws(3, "labels");
  std::uint64_t drawn = 0;
  const Extent n = 400;
  double squares = 0;
  for (int r = 0; r < 200; ++r) {
    Row<double> counted = Row<double>::Zero(p.size());
    for (Extent k = 0; k < n; ++k) {
      double left = draws.uniform(drawn++);
      Extent label = 0;
      while (label + 1 < p.size() && left >= p[label]) left -= p[label++];
      counted[label] += 1 / static_cast<double>(n);
    }
    squares += (counted - p).squaredNorm() / (p - u).squaredNorm() / 200;
  }
  double worst = 0;  // the anchor of the weakest law decides
  for (Extent s = 0; s < law.rows(); ++s)
    worst = std::max(worst, (1 - law.row(s).squaredNorm()) / (law.row(s) - u).squaredNorm());
  const double own = (1 - p.squaredNorm()) / (p - u).squaredNorm();
  BOOST_TEST(std::abs(std::sqrt(squares) / (with(n).value * std::sqrt(own / worst)) - 1) < 0.05);
  BOOST_TEST(!with(400).holds());
  BOOST_TEST(with(1e6).holds());
  BOOST_TEST(with(std::numeric_limits<double>::infinity()).value == 0);
  BOOST_CHECK_THROW(with(0), InvalidArgument);
  BOOST_CHECK_THROW(label_law_assumptions(law, Col<double>::Ones(2)), ShapeError);
  BOOST_CHECK_THROW(label_law_assumptions(Mat<double>::Constant(1, 4, 0.25), Col<double>::Ones(1)), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_refused_by_name) {
  BOOST_CHECK_THROW(uniform_law(3, 2), InvalidArgument);
  BOOST_CHECK_THROW(uniform_sum_law(2, 0), InvalidArgument);
  BOOST_CHECK_THROW(uniform_sum_closed_form(0, 3, 0), InvalidArgument);
  BOOST_CHECK_THROW(rounded_normal_law(0, 0), InvalidArgument);
  BOOST_CHECK_THROW(uniform_law(0, 5).over_labels(5), IndexError);
  BOOST_CHECK_THROW(uniform_law(-1, 5).over_labels(9), IndexError);
  BOOST_CHECK_THROW(label_cosines(Mat<double>::Constant(2, 4, 0.25)), InvalidArgument);
  BOOST_CHECK_THROW(shifted_law_cosine(uniform_law(0, 3), 1, 4), InvalidArgument);
  AnchorTask task = AnchorTask::paper();
  task.held_out = {{11, 21}};
  BOOST_CHECK_THROW(reasoning_label_law(task), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
