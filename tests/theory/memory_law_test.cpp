// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/theory/memory_law.hpp>
#include <theory/simulation.hpp>

using namespace incipit;
using namespace incipit::theory;

namespace {

struct Sample {
  double mean, error, pair_deviation;
};

// Draws mappings, counts each law in plain loops, and averages the cosine over all pairs of anchors.
Sample drawn_cosine(Extent q, Extent anchors, Extent keys, Extent D, int mappings) {
  double sum = 0, squares = 0, pair = 0, pair_squares = 0;
  Extent tuples = 1;
  for (Extent i = 0; i < q; ++i) tuples *= anchors;
  for (int r = 0; r < mappings; ++r) {
    const RandomStream stream = RandomStream(7, "mapping").child(static_cast<std::uint64_t>(r));
    Mat<double> row = Mat<double>::Zero(anchors, D);
    for (Extent t = 0; t < tuples; ++t)
      for (Extent z = 0; z < keys; ++z) {
        const auto label = static_cast<Extent>(
            stream.integer(static_cast<std::uint64_t>(t * keys + z), static_cast<std::uint64_t>(keys)));
        for (Extent rest = t, i = 0; i < q; ++i, rest /= anchors) row(rest % anchors, label) += 1;
      }
    row /= row.row(0).sum();
    row.array() -= 1 / static_cast<double>(D);
    double mean = 0;
    for (Extent s = 0; s < anchors; ++s)
      for (Extent t = 0; t < s; ++t) {
        const double cosine = row.row(s).dot(row.row(t)) / (row.row(s).norm() * row.row(t).norm());
        mean += cosine / static_cast<double>(anchors * (anchors - 1) / 2);
        if (s == 1) pair += cosine, pair_squares += cosine * cosine;
      }
    sum += mean;
    squares += mean * mean;
  }
  const auto n = static_cast<double>(mappings);
  return {sum / n, std::sqrt((squares / n - sum * sum / (n * n)) / n),
          std::sqrt(pair_squares / n - pair * pair / (n * n))};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(theory_memory_law)

BOOST_AUTO_TEST_CASE(ratio_of_expectations_is_the_known_form_for_two_anchors) {
  const QuenchedMemoryLaw law(2, 10, 100, 161);
  const double keys = 100, anchors = 10, w = 1 / (2 * keys * anchors), v = 1 - 1 / keys, b = 1 / keys - 1 / 161.0;
  BOOST_TEST(law.ratio() == (b + 2 * keys * w * w * v) / (b + (2 * anchors + 2) * keys * w * w * v),
             boost::test_tools::tolerance(1e-14));
  BOOST_TEST(std::abs(law.ratio() - 0.88577) < 5e-6);
  BOOST_TEST(std::abs(law.bias() - 2e-4) < 5e-5);
  BOOST_TEST(std::abs(law.mean() - 0.88597) < 4.5 * 6e-5);  // an independent measurement, 0.88597(6)
}

BOOST_AUTO_TEST_CASE(quenched_cosine_over_drawn_mappings_meets_the_closed_form_for_every_q) {
  struct Setting {
    Extent q, anchors, keys, D;
  };
  for (const Setting& s : {Setting{2, 10, 100, 161}, Setting{3, 5, 40, 80}, Setting{4, 3, 30, 50}}) {
    const Sample drawn = drawn_cosine(s.q, s.anchors, s.keys, s.D, 400);
    const QuenchedMemoryLaw law(s.q, s.anchors, s.keys, s.D);
    BOOST_TEST(std::abs(drawn.mean - law.mean()) < 4.5 * drawn.error + 3e-4);
    BOOST_TEST(std::abs(drawn.pair_deviation / law.pair_deviation() - 1) < 0.16);  // 4.5 errors of a deviation of 400
    BOOST_TEST(all_hold(law.assumptions()));
  }
}

BOOST_AUTO_TEST_CASE(second_order_term_is_what_the_ratio_misses_where_noise_is_large) {
  const Sample drawn = drawn_cosine(1, 5, 20, 30, 4000);
  const QuenchedMemoryLaw law(1, 5, 20, 30);
  BOOST_TEST(std::abs(drawn.mean - law.ratio()) > 4.5 * drawn.error);
  BOOST_TEST(std::abs(drawn.mean - law.mean()) < 4.5 * drawn.error);
  BOOST_TEST(!all_hold(law.assumptions()));  // and it says that its expansion is stretched
}

BOOST_AUTO_TEST_CASE(law_of_a_task_is_that_of_its_numbers_and_needs_the_uniform_rule) {
  AnchorTask task = AnchorTask::paper();
  BOOST_TEST(QuenchedMemoryLaw(task).mean() == QuenchedMemoryLaw(2, 10, 100, 161).mean());
  task.rule = data::MemoryRule::around_sum;
  BOOST_CHECK_THROW((QuenchedMemoryLaw(task)), InvalidArgument);
  BOOST_CHECK_THROW(QuenchedMemoryLaw(2, 1, 100, 161), InvalidArgument);
  BOOST_CHECK_THROW(QuenchedMemoryLaw(2, 10, 161, 161), InvalidArgument);
  BOOST_CHECK_THROW(QuenchedMemoryLaw(0, 10, 100, 161), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(many_combinations_wash_the_quenched_noise_out) {
  double last = 0;
  for (const Extent q : {1, 2, 3, 4, 5}) {
    const double cosine = QuenchedMemoryLaw(q, 10, 100, 161).mean();
    BOOST_TEST(cosine > last);
    last = cosine;
  }
  BOOST_TEST(QuenchedMemoryLaw::unquenched() - last < 1e-3);
}

BOOST_AUTO_TEST_CASE(counted_law_of_one_mapping_is_exact) {
  for (const data::MemoryRule rule :
       {data::MemoryRule::uniform_keys, data::MemoryRule::around_sum, data::MemoryRule::label_range_groups}) {
    AnchorTask task = test::small_task();
    task.rule = rule;
    task.groups = {2, 3, 5};
    const data::MemoryMap mapping(task, RandomStream(3, "mapping"));
    const data::Examples all = test::whole_population(task, mapping);
    Mat<double> law = Mat<double>::Zero(4, 34), keys = Mat<double>::Zero(8, 34);
    for (Extent n = 0; n < all.size(); ++n) {
      if (!task.memory.contains(all.tokens(n, 1))) continue;
      const Id label = all.labels[static_cast<std::size_t>(n)];
      keys(all.tokens(n, 0) - 9, label) += 1;
      for (Extent i = 1; i < 3; ++i) law(all.tokens(n, i) - 1, label) += 1;
    }
    for (Extent s = 0; s < 4; ++s) law.row(s) /= law.row(s).sum();
    BOOST_TEST((counted_memory_law(task, mapping) - law).cwiseAbs().maxCoeff() == 0);
    for (Id z = 9; z <= 16; ++z) {
      const Row<double> key = keys.row(z - 9) / keys.row(z - 9).sum();
      BOOST_TEST((counted_memory_key_law(task, mapping, z) - key).cwiseAbs().maxCoeff() == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(counted_law_refuses_a_mapping_of_another_task) {
  const data::MemoryMap mapping(test::small_task(), RandomStream(3, "mapping"));
  BOOST_CHECK_THROW(counted_memory_law(AnchorTask::paper(), mapping), InvalidArgument);
  BOOST_CHECK_THROW(counted_memory_key_law(AnchorTask::paper(), mapping, 21), InvalidArgument);
  BOOST_CHECK_THROW(counted_memory_key_law(test::small_task(), mapping, 8), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
