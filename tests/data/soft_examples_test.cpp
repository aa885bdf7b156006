// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/data/anchor_set.hpp>
#include <incipit/data/soft_examples.hpp>

#include <numbers>

#include "data/refused.hpp"

using namespace incipit;
using data::AnchorTask;
using data::Examples;
using data::MemoryMap;
using data::SoftExamples;
using data::Task;
using test::check_refused;

BOOST_AUTO_TEST_SUITE(data_soft_examples)

BOOST_AUTO_TEST_CASE(order_of_tokens_means_nothing_and_multiplicity_does) {
  const Examples e{
      (Mat<Id>(6, 3) << 1, 2, 2, 2, 1, 2, 1, 1, 2, 2, 2, 1, 0, 3, 1, 1, 2, 1).finished(), {4, 4, 0, 3, 2, 0}, 5};
  const SoftExamples s = merge_identical(e);
  BOOST_TEST((s.tokens == (Mat<Id>(3, 3) << 0, 1, 3, 1, 1, 2, 1, 2, 2).finished()));
  BOOST_TEST((s.counts == std::vector<std::int64_t>{1, 2, 3}));
  BOOST_TEST((s.offsets == std::vector<std::size_t>{0, 1, 2, 4}));
  BOOST_TEST((s.labels == std::vector<Id>{2, 0, 3, 4}));
  BOOST_TEST((s.label_counts == std::vector<std::int64_t>{1, 2, 1, 2}));
  BOOST_TEST(s.total == 6);
  BOOST_TEST(s.vocab == 5);
  const Mat<double> pi = s.soft_labels<double>();
  BOOST_TEST(pi.rows() == 3);
  BOOST_TEST(pi(2, 3) == 1.0 / 3);
  BOOST_TEST(pi(2, 4) == 2.0 / 3);
  BOOST_TEST((pi.rowwise().sum().array() == 1).all());
  BOOST_TEST((s.weights<double>() - Col<double, 3>(1.0 / 6, 2.0 / 6, 0.5)).norm() < 1e-15);
  BOOST_TEST(std::abs(s.loss_floor() - (std::log(3.0) + 2 * std::log(1.5)) / 6) < 1e-15);
  BOOST_TEST(s.best_accuracy() == 5.0 / 6);
}

BOOST_AUTO_TEST_CASE(merging_keeps_the_full_batch_loss) {
  const AnchorTask task = AnchorTask::emb_mlp();
  const Examples e = population(task, MemoryMap(task, RandomStream(1, "memory map"))).train;
  const SoftExamples s = merge_identical(e);
  BOOST_TEST(s.size() == 100 * (55 + 54));  // unordered pairs; (11,13) and (13,11) are both held out
  // Any function of the sum of embeddings: one random weight a token, logits that depend on the sum.
  const RandomStream stream(2, "weights");
  const auto row_loss = [&](auto&& tokens, auto&& weight_of) {
    double x = 0;
    for (Extent i = 0; i < tokens.size(); ++i) x += stream.normal(static_cast<std::uint64_t>(tokens(i)));
    Row<double> logits(161);
    for (Extent y = 0; y < 161; ++y) logits(y) = std::sin(x * static_cast<double>(y + 1));
    const double lse = std::log(logits.array().exp().sum());
    return weight_of(logits, lse);
  };
  double plain = 0, merged = 0;
  for (Extent n = 0; n < e.size(); n += 1)
    plain += row_loss(e.tokens.row(n),
                      [&](auto& logits, double lse) { return lse - logits(e.labels[static_cast<std::size_t>(n)]); });
  const Mat<double> pi = s.soft_labels<double>();
  const Col<double> w = s.weights<double>();
  for (Extent u = 0; u < s.size(); ++u)
    merged += row_loss(s.tokens.row(u), [&](auto& logits, double lse) { return w(u) * (lse - logits.dot(pi.row(u))); });
  BOOST_TEST(std::abs(plain / static_cast<double>(e.size()) - merged) < 1e-11 * merged);
}

BOOST_AUTO_TEST_CASE(memory_floor_of_the_paper_setting) {
  const AnchorTask task = AnchorTask::emb_mlp();
  double floor = 0, accuracy = 0;
  constexpr int mappings = 20;
  for (int k = 0; k < mappings; ++k) {
    const MemoryMap mapping(task, RandomStream(static_cast<std::uint64_t>(k), "memory map"));
    const SoftExamples s = merge_identical(population(task, mapping).of(Task::memory));
    BOOST_TEST_REQUIRE(s.size() == 5500);
    floor += s.loss_floor() / mappings;
    accuracy += s.best_accuracy() / mappings;
  }
  // 4500 pairs of combinations collide; each has two labels with probability 0.99. Mean over 20 mappings, 5 sigma.
  const double sigma = std::sqrt(4500 * 0.99 * 0.01 / mappings) / 10'000;
  BOOST_TEST(std::abs(floor - 0.9 * 0.99 * std::numbers::ln2) < 5 * 2 * std::numbers::ln2 * sigma);
  BOOST_TEST(std::abs(accuracy - 0.5545) < 5 * sigma);
}

BOOST_AUTO_TEST_CASE(floor_is_over_labels_not_positions_u55) {
  for (const Extent length : {1, 9, 50}) {
    Examples e{Mat<Id>::Constant(117, length, 3), {}, 117};
    for (Id y = 0; y < 117; ++y) e.labels.push_back(y);
    const SoftExamples s = merge_identical(e);
    BOOST_TEST(s.size() == 1);
    BOOST_TEST(std::abs(s.loss_floor() - 4.762173934797756) < 1e-13);  // ln 117
    BOOST_TEST(std::abs(s.best_accuracy() - 1.0 / 117) < 1e-15);
  }
}

BOOST_AUTO_TEST_CASE(other_scalars_and_bad_sets) {
  const Examples e{(Mat<Id>(3, 1) << 1, 1, 1).finished(), {0, 1, 1}, 2};
  BOOST_TEST(merge_identical(e).soft_labels<float>()(0, 1) == 2.0f / 3.0f);
  BOOST_TEST(merge_identical(e).soft_labels<long double>()(0, 1) == 2.0L / 3.0L);
  check_refused<IndexError>(
      [] {
        data::merge_identical({Mat<Id>::Constant(1, 1, 2), {0}, 2});
      },
      "tokens(0, 0)", "got 2");
}

BOOST_AUTO_TEST_SUITE_END()
