// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/data/anchor_set.hpp>
#include <incipit/data/statistics.hpp>

#include <Eigen/SVD>

#include "data/refused.hpp"

using namespace incipit;
using data::AnchorTask;
using data::Examples;
using data::MemoryMap;
using data::MemoryRule;
using data::Task;
using data::TokenStatistics;
using test::check_refused;

namespace {
MemoryMap drawn(const AnchorTask& task, std::uint64_t seed) { return {task, RandomStream(seed, "memory map")}; }

double distance(const TokenStatistics& a, const TokenStatistics& b) {
  return (std::max)({(a.occurrences - b.occurrences).cwiseAbs().maxCoeff(), (a.labels - b.labels).cwiseAbs().maxCoeff(),
                     (a.label_law - b.label_law).cwiseAbs().maxCoeff(),
                     (a.correlation - b.correlation).cwiseAbs().maxCoeff()});
}

// What every statistics must satisfy, whatever the data.
void check_laws(const TokenStatistics& s, double length) {
  const Extent d = s.vocab();
  BOOST_TEST(std::abs(s.occurrences.sum() - length) < 1e-12 * length);
  BOOST_TEST(std::abs(s.labels.sum() - 1) < 1e-12);
  BOOST_TEST(s.correlation.rowwise().sum().cwiseAbs().maxCoeff() < 1e-13);
  for (Extent t = 0; t < d; ++t) {
    const double total = s.label_law.row(t).sum();
    BOOST_TEST(std::abs(total - (s.occurrences(t) > 0 ? 1 : 0)) < 1e-12);
    const Row<double> row = s.occurrences(t) * (s.label_law.row(t).array() - 1.0 / static_cast<double>(d)).matrix();
    BOOST_TEST((row - s.correlation.row(t)).cwiseAbs().maxCoeff() < 1e-15);
  }
}

double cosine(const TokenStatistics& s, Extent a, Extent b) {
  return s.correlation.row(a).dot(s.correlation.row(b)) / (s.correlation.row(a).norm() * s.correlation.row(b).norm());
}
double mean_cosine(const TokenStatistics& s, data::IdRange range, Extent apart) {
  double sum = 0;
  for (Extent a = range.first; a + apart <= range.last; ++a) sum += cosine(s, a, a + apart);
  return sum / static_cast<double>(range.size() - apart);
}
}  // namespace

BOOST_AUTO_TEST_SUITE(data_statistics)

BOOST_AUTO_TEST_CASE(a_token_counts_as_often_as_it_stands) {
  const Examples two{(Mat<Id>(2, 2) << 3, 3, 3, 1).finished(), {0, 2}, 4};
  const TokenStatistics s = count_statistics(two);
  check_laws(s, 2);
  BOOST_TEST(s.occurrences(3) == 1.5);
  BOOST_TEST(s.occurrences(1) == 0.5);
  BOOST_TEST(s.label_law(3, 0) == 2.0 / 3.0);
  BOOST_TEST(s.label_law(3, 2) == 1.0 / 3.0);
  BOOST_TEST(s.label_law.row(0).isZero(0));  // never occurs
  BOOST_TEST(s.correlation(3, 0) == 1 - 1.5 / 4);
  BOOST_TEST(s.correlation(3, 1) == -1.5 / 4);
}

BOOST_AUTO_TEST_CASE(statistics_do_not_see_positions) {
  const AnchorTask task = AnchorTask::emb_mlp();
  Examples set = population(task, drawn(task, 3)).train;
  const TokenStatistics before = count_statistics(set);
  set.tokens.rowwise().reverseInPlace();
  BOOST_TEST(distance(before, count_statistics(set)) == 0);
}

BOOST_AUTO_TEST_CASE(population_law_is_the_count_of_the_population) {
  for (const MemoryRule rule : {MemoryRule::uniform_keys, MemoryRule::around_sum}) {
    AnchorTask task = AnchorTask::emb_mlp();
    task.rule = rule;
    const MemoryMap mapping = drawn(task, 1);
    const TokenStatistics law = population_statistics(task, mapping);
    check_laws(law, 3);
    BOOST_TEST(distance(law, count_statistics(population(task, mapping).train)) == 0);
  }
  const AnchorTask grouped{.q = 3,
                           .length = 4,
                           .keys = {21, 40},
                           .memory = {1, 8},
                           .reasoning = {11, 16},
                           .held_out = {{11, 12, 11}},
                           .rule = MemoryRule::label_range_groups};
  const MemoryMap mapping = drawn(grouped, 2);
  const TokenStatistics law = population_statistics(grouped, mapping);
  check_laws(law, 4);
  BOOST_TEST(distance(law, count_statistics(population(grouped, mapping).train)) == 0);
}

BOOST_AUTO_TEST_CASE(noise_keys_enter_in_closed_form) {
  // Every place of the key and every pair of noise keys, enumerated, against L = q + 3 in closed form.
  const AnchorTask task{.q = 1, .length = 4, .keys = {4, 6}, .memory = {0, 1}, .reasoning = {2, 3}, .held_out = {{3}}};
  const MemoryMap mapping = drawn(task, 5);
  std::vector<Row<Id>> rows;
  Examples all{Mat<Id>(), {}, task.vocabulary()};
  for (const Task kind : {Task::memory, Task::reasoning})
    task.for_each_tuple(kind, [&](std::int64_t tuple, std::span<const Id> anchors) {
      for (Id z = 4; z <= 6; ++z)
        for (Id n1 = 4; n1 <= 6; ++n1)
          for (Id n2 = 4; n2 <= 6; ++n2)
            for (Id place = 0; place < 3; ++place) {
              Row<Id> row(4);
              if (place == 0) row << z, anchors[0], n1, n2;
              if (place == 1) row << n1, z, anchors[0], n2;
              if (place == 2) row << n1, n2, z, anchors[0];
              rows.push_back(row);
              all.labels.push_back(kind == Task::memory ? mapping.label(z, tuple) : z + anchors[0]);
            }
    });
  all.tokens.resize(static_cast<Extent>(rows.size()), 4);
  for (std::size_t n = 0; n < rows.size(); ++n) all.tokens.row(static_cast<Extent>(n)) = rows[n];
  const TokenStatistics law = population_statistics(task, mapping);
  check_laws(law, 4);
  BOOST_TEST(distance(law, count_statistics(all)) < 1e-15);
}

BOOST_AUTO_TEST_CASE(expected_law_is_the_mean_over_all_mappings) {
  const AnchorTask plain{.q = 1, .length = 3, .keys = {6, 8}, .memory = {1, 2}, .reasoning = {3, 4}, .held_out = {{3}}};
  AnchorTask around = plain, grouped = plain;
  around.rule = MemoryRule::around_sum;
  grouped.rule = MemoryRule::label_range_groups;
  grouped.groups = {.count = 2, .first = 5, .step = 2};
  for (const AnchorTask& task : {plain, around, grouped}) {
    std::vector<data::IdRange> ranges;
    task.for_each_tuple(Task::memory, [&](std::int64_t, std::span<const Id> anchors) {
      for (Id z = task.keys.first; z <= task.keys.last; ++z) ranges.push_back(task.memory_labels(z, anchors));
    });
    std::vector<Id> labels;
    for (const data::IdRange range : ranges) labels.push_back(range.first);
    TokenStatistics sum = population_statistics(task, MemoryMap(task, labels));
    double mappings = 1;
    for (bool more = true; more;) {
      more = false;
      for (std::size_t c = 0; c < labels.size() && !more; ++c) {
        more = labels[c] < ranges[c].last;
        labels[c] = more ? labels[c] + 1 : ranges[c].first;
      }
      if (!more) break;
      const TokenStatistics one = population_statistics(task, MemoryMap(task, labels));
      sum.occurrences += one.occurrences;
      sum.label_law += one.label_law;
      sum.correlation += one.correlation;
      sum.labels += one.labels;
      ++mappings;
    }
    BOOST_TEST(mappings > 500);
    sum.occurrences /= mappings;
    sum.label_law /= mappings;
    sum.correlation /= mappings;
    sum.labels /= mappings;
    const TokenStatistics law = expected_statistics(task);
    check_laws(law, 3);
    BOOST_TEST(distance(law, sum) < 1e-12);
  }
}

BOOST_AUTO_TEST_CASE(occurrences_of_the_paper_setting) {
  const TokenStatistics emb = expected_statistics(AnchorTask::emb_mlp()),
                        paper = expected_statistics(AnchorTask::paper());
  for (const TokenStatistics& s : {emb, paper}) {
    for (Extent a = 1; a <= 10; ++a) BOOST_TEST(std::abs(s.occurrences(a) - 20.0 / 198) < 1e-15);
    for (Extent a = 11; a <= 20; ++a)
      BOOST_TEST(std::abs(s.occurrences(a) - (a == 11 || a == 13 ? 18.0 : 20.0) / 198) < 1e-15);
  }
  for (Extent z = 21; z <= 120; ++z) {
    BOOST_TEST(std::abs(emb.occurrences(z) - 0.01) < 1e-15);
    BOOST_TEST(std::abs(paper.occurrences(z) - 0.07) < 1e-15);
  }
  BOOST_TEST(emb.occurrences(0) == 0);
  BOOST_TEST(emb.occurrences.tail(40).isZero(0));
  for (Extent a = 1; a <= 10; ++a) {
    BOOST_TEST((emb.label_law.row(a).segment(21, 100).array() - 0.01).abs().maxCoeff() < 1e-15);
    BOOST_TEST(emb.label_law.row(a).head(21).isZero(0));
    BOOST_TEST(emb.label_law.row(a).tail(40).isZero(0));
  }
}

BOOST_AUTO_TEST_CASE(reasoning_cosines_by_distance) {
  AnchorTask task = AnchorTask::emb_mlp();
  const double masked[] = {0.99701, 0.97781, 0.94237, 0.84334}, unmasked[] = {0.99711, 0.97629, 0.93929, 0.83520};
  const TokenStatistics with = expected_statistics(task);
  task.held_out.clear();
  const TokenStatistics without = expected_statistics(task);
  for (std::size_t k = 0; k < 4; ++k) {
    const Extent apart = std::array<Extent, 4>{1, 3, 5, 9}[k];
    BOOST_TEST(std::abs(mean_cosine(with, task.reasoning, apart) - masked[k]) < 6e-6);
    BOOST_TEST(std::abs(mean_cosine(without, task.reasoning, apart) - unmasked[k]) < 6e-6);
  }
  task = {.q = 3, .length = 4};
  BOOST_TEST(std::abs(mean_cosine(expected_statistics(task), task.reasoning, 9) - 0.88474) < 6e-6);
}

BOOST_AUTO_TEST_CASE(singular_values_and_memory_cosines_over_mappings) {
  const AnchorTask task = AnchorTask::emb_mlp();
  constexpr Extent mappings = 40;
  Mat<double> values(mappings, 4);
  Col<double> cosines(mappings);
  for (Extent k = 0; k < mappings; ++k) {
    const TokenStatistics s = population_statistics(task, drawn(task, static_cast<std::uint64_t>(k)));
    values.row(k) = Eigen::BDCSVD<Eigen::MatrixXd>(s.correlation).singularValues().head(4).transpose();
    double sum = 0;
    for (Extent apart = 1; apart < 10; ++apart)
      sum += mean_cosine(s, task.memory, apart) * static_cast<double>(10 - apart);
    cosines(k) = sum / 45;
  }
  const auto deviation = [](const Col<double>& x) {
    return std::sqrt((x.array() - x.mean()).square().sum() / static_cast<double>(x.size() - 1));
  };
  const double seen[] = {0.02162, 0.01715, 0.00474, 0.00469};  // of one mapping
  for (Extent i = 0; i < 4; ++i) {
    const double spread = deviation(values.col(i));
    BOOST_TEST(spread < 0.02 * values.col(i).mean());
    BOOST_TEST(std::abs(values.col(i).mean() - seen[i]) < 4 * spread);
  }
  BOOST_TEST(std::abs(cosines.mean() - 0.88577) < 4.5 * deviation(cosines) / std::sqrt(double(mappings)) + 3e-4);
}

BOOST_AUTO_TEST_CASE(a_sampled_set_approaches_the_population_law) {
  const AnchorTask task = AnchorTask::paper();
  const MemoryMap mapping = drawn(task, 1);
  const TokenStatistics law = population_statistics(task, mapping);
  const TokenStatistics counted = count_statistics(sample(task, mapping, RandomStream(1, "set")).train);
  check_laws(counted, 9);
  // E |C_N - C|^2 = (E |sum_x e_x|^2 (1 - 1/D) - |C|^2) / N for independent sequences; |sum_x e_x|^2 is close to L.
  const double expected = std::sqrt((9.0 - law.correlation.squaredNorm()) / 198000);
  const double error = (counted.correlation - law.correlation).norm();
  BOOST_TEST(error > 0.8 * expected);
  BOOST_TEST(error < 1.2 * expected);
  for (Extent a = 1; a <= 20; ++a) BOOST_TEST(std::abs(counted.occurrences(a) - law.occurrences(a)) < 1e-15);
}

BOOST_AUTO_TEST_CASE(a_vocabulary_too_large_for_dense_statistics_is_refused) {
  const Examples wide{Mat<Id>::Zero(1, 1), {0}, data::max_dense_vocab + 1};
  check_refused<InvalidArgument>([&] { count_statistics(wide); }, "vocab", "got 16385, allowed: 1 to 16384");
  AnchorTask task = AnchorTask::emb_mlp();
  task.vocab = 20000;
  check_refused<InvalidArgument>([&] { expected_statistics(task); }, "vocab", "got 20000");
  const Examples bad{Mat<Id>::Constant(1, 1, 7), {0}, 4};
  check_refused<IndexError>([&] { count_statistics(bad); }, "tokens(0, 0)", "got 7");
}

BOOST_AUTO_TEST_CASE(a_mapping_of_another_task_is_refused) {
  AnchorTask task = AnchorTask::emb_mlp();
  const MemoryMap mapping = drawn(task, 1);
  task.keys = {22, 121};
  check_refused<InvalidArgument>([&] { population_statistics(task, mapping); }, "mapping", "another task");
  check_refused<InvalidArgument>([&] { population(task, mapping); }, "mapping", "another task");
  check_refused<InvalidArgument>([&] { sample(task, mapping, RandomStream(1, "set")); }, "mapping", "another task");
}

BOOST_AUTO_TEST_SUITE_END()
