// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/theory/attention_remainder.hpp>
#include <incipit/theory/proposition_2.hpp>
#include <theory/definition_2.hpp>
#include <theory/simulation.hpp>

using namespace incipit;
using namespace incipit::theory;
using data::AnchorTask;
using data::Examples;

namespace {

constexpr test::Shape small_shape{34, 36, 6, 10}, paper_shape{161, 192, 32, 256};
constexpr data::IdRange reasoning{11, 20};

/// Every place of the key and every noise key of a small task: 3840 inputs of length 4.
const Examples& population() {
  static const Examples all = [] {
    AnchorTask task = test::small_task();
    task.length = 4;
    return test::noisy_population(task, data::MemoryMap(task, RandomStream(1, "mapping")));
  }();
  return all;
}
struct Paper {
  AnchorTask task;
  data::MemoryMap mapping;
  Examples set;
};
Paper paper(Extent samples, std::uint64_t seed) {
  AnchorTask task = AnchorTask::paper();
  task.samples = samples;
  const data::MemoryMap mapping(task, RandomStream(seed, "mapping"));
  return {task, mapping, data::sample(task, mapping, RandomStream(seed, "set")).train};
}
Proposition2 predictors(const Paper& p) {
  return {data::count_last_token_statistics(p.set, paper_shape.m),
          data::population_last_token_statistics(p.task, p.mapping, paper_shape.m), p.set.size()};
}
AttentionFlow flow_of(const Examples& set, Extent m, ActivationFacts facts = {}) {
  return AttentionFlow(data::count_last_token_statistics(set, m), facts);
}
AttentionRemainder remainder_of(const Examples& set, Extent m) {
  return {data::count_last_token_statistics(set, m), average_last_cooccurrence(set)};
}
std::array<double, 7> errors(const Examples& set, test::Shape shape, double gamma, std::uint64_t seed) {
  const TransformerMatrices w = test::draw_transformer(shape, gamma, seed);
  return test::relative_errors(test::descend(set, w).down, flow_of(set, shape.m).velocity(w, set));
}
struct Match {
  double ratio, error, cosine;  // |a - b| / |b|, |a - b| / |a|, between a measured and b predicted
};
Match match(const Mat<double>& measured, const Mat<double>& predicted, data::IdRange tokens) {
  const Mat<double> a = measured.middleRows(tokens.first, tokens.size()),
                    b = predicted.middleRows(tokens.first, tokens.size());
  return {(a - b).norm() / b.norm(), (a - b).norm() / a.norm(), a.cwiseProduct(b).sum() / (a.norm() * b.norm())};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(theory_proposition_2)

BOOST_AUTO_TEST_CASE(flows_are_the_exact_gradients_of_the_first_order_loss) {
  const AttentionFlow flow = flow_of(population(), small_shape.m, {0, 0.7, 0});
  const TransformerMatrices w = test::draw_transformer(small_shape, 0.4, 1),
                            d = test::draw_transformer(small_shape, 0.3, 2), v = flow.velocity(w);
  const double base = flow.loss_drop(w);
  const auto check = [&](Mat<double> TransformerMatrices::*which) {
    TransformerMatrices moved = w;
    moved.*which += d.*which;  // the drop is linear in each matrix: differences are exact
    BOOST_TEST(flow.loss_drop(moved) - base == (v.*which).cwiseProduct(d.*which).sum(),
               boost::test_tools::tolerance(1e-11));
  };
  check(&TransformerMatrices::embedding);
  check(&TransformerMatrices::value);
  check(&TransformerMatrices::output);
  check(&TransformerMatrices::hidden_in);
  check(&TransformerMatrices::hidden_out);
  BOOST_TEST((flow.embedding_velocity(w) - v.embedding).norm() < 1e-14 * v.embedding.norm());
  BOOST_TEST(v.query.isZero(0));
  BOOST_TEST(v.key.isZero(0));
  BOOST_TEST(flow.loss(w) == std::log(36.0) - base);
}

BOOST_AUTO_TEST_CASE(query_and_key_follow_the_sum_over_samples) {
  const Examples set =
      test::whole_population(test::small_task(), data::MemoryMap(test::small_task(), RandomStream(1, "m")));
  const TransformerMatrices w = test::draw_transformer(small_shape, 0.5, 3);
  const AttentionFlow flow = flow_of(set, small_shape.m, {0, 0.7, 0});
  const Mat<double> through = Mat<double>::Identity(36, 36) + 0.7 * w.hidden_in * w.hidden_out;
  const Mat<double> mix = w.value * w.output;
  Mat<double> gain = Mat<double>::Zero(36, 36);
  for (Extent n = 0; n < set.size(); ++n) {
    Row<double> pull = Row<double>::Constant(36, -1.0 / 36);
    pull[set.labels[static_cast<std::size_t>(n)]] += 1;
    const Row<double> h = pull * through.transpose() * mix.transpose();
    Mat<double> x(3, 36);
    for (Extent j = 0; j < 3; ++j) x.row(j) = w.embedding.row(set.tokens(n, j));
    const Row<double> mean = x.colwise().mean();
    for (Extent j = 0; j < 3; ++j)
      gain += x.row(2).transpose() * x.row(j) * (x.row(j) - mean).dot(h) /
              (3 * std::sqrt(6.0) * static_cast<double>(set.size()));
  }
  BOOST_TEST((flow.attention_gain(w, set) - gain).norm() < 1e-13 * gain.norm());
  const TransformerMatrices v = flow.velocity(w, set);
  BOOST_TEST((v.query - gain * w.key).norm() < 1e-13 * v.query.norm());
  BOOST_TEST((v.key - gain.transpose() * w.query).norm() < 1e-13 * v.key.norm());
}

BOOST_AUTO_TEST_CASE(every_matrix_of_the_model_follows_its_flow_with_a_remainder_of_order_D_to_minus_gamma) {
  const Examples set = paper(400, 1).set;
  const AttentionRemainder law = remainder_of(set, paper_shape.m);
  const std::array<double, 7> far = errors(set, paper_shape, 1.0, 1), near = errors(set, paper_shape, 1.5, 1);
  for (std::size_t i = 0; i < 7; ++i) {
    BOOST_TEST_INFO(test::matrix_names[i]);
    BOOST_TEST(std::abs(law.slope(1.0, far[i], 1.5, near[i]) - 1) < 1e-2);
    BOOST_TEST_INFO(test::matrix_names[i]);
    BOOST_TEST(near[i] < 1e-4);
    // (D m)^-gamma, the order of Emb-MLP with a bent activation, is another law
    const double other = std::log(near[i] / far[i]) / std::log(161.0 * 192.0) / -0.5;
    BOOST_TEST(other < 0.6);
  }
}

BOOST_AUTO_TEST_CASE(slopes_hold_at_small_sizes_and_other_seeds_where_weights_are_smaller) {
  for (const std::uint64_t seed : {1u, 2u}) {
    const std::array<double, 7> far = errors(population(), small_shape, 1.5, seed),
                                near = errors(population(), small_shape, 2.0, seed);
    for (std::size_t i = 0; i < 7; ++i) {
      BOOST_TEST_INFO(test::matrix_names[i]);
      BOOST_TEST(std::abs(remainder_of(population(), small_shape.m).slope(1.5, far[i], 2.0, near[i]) - 1) < 1e-2);
    }
  }
}

BOOST_AUTO_TEST_CASE(remainders_have_the_derived_prefactors) {
  AnchorTask task = test::small_task();
  const Examples set = test::whole_population(task, data::MemoryMap(task, RandomStream(1, "mapping")));
  const AttentionFlow flow = flow_of(set, small_shape.m);
  const AttentionRemainder law = remainder_of(set, small_shape.m);
  const double gamma = 2.0;
  constexpr int draws = 80;
  std::array<std::array<double, draws>, 7> off{}, signal{};
  for (int k = 0; k < draws; ++k) {
    const TransformerMatrices w = test::draw_transformer(small_shape, gamma, static_cast<std::uint64_t>(k) + 1);
    const TransformerMatrices run = test::descend(set, w).down, v = flow.velocity(w, set);
    const auto a = test::all_matrices(run), b = test::all_matrices(v);
    for (std::size_t i = 0; i < 7; ++i) {
      off[i][static_cast<std::size_t>(k)] = (*a[i] - *b[i]).squaredNorm();
      signal[i][static_cast<std::size_t>(k)] = b[i]->squaredNorm();
    }
  }
  const double predicted[] = {
      law.embedding(gamma, {0, 33}), 0, 0, law.value_output(gamma), law.value_output(gamma), law.feed_forward(gamma),
      law.feed_forward(gamma)};
  for (const std::size_t i : {0u, 3u, 4u, 5u, 6u}) {
    double mean_off = 0, mean_signal = 0, spread = 0;
    for (std::size_t k = 0; k < draws; ++k) mean_off += off[i][k] / draws, mean_signal += signal[i][k] / draws;
    const double ratio = mean_off / mean_signal;
    for (std::size_t k = 0; k < draws; ++k)
      spread += std::pow((off[i][k] - ratio * signal[i][k]) / mean_signal, 2) / draws;
    BOOST_TEST_INFO(test::matrix_names[i] << ": " << std::sqrt(ratio) << " against " << predicted[i]);
    BOOST_TEST(std::abs(ratio - predicted[i] * predicted[i]) < 4.5 * std::sqrt(spread / draws));
  }
}

BOOST_AUTO_TEST_CASE(counted_form_meets_training_as_closely_as_its_remainder_says) {
  const Paper p = paper(1000, 1);
  const Proposition2 forms = predictors(p);
  const AttentionRemainder law = remainder_of(p.set, paper_shape.m);
  for (const double gamma : {0.8, 1.5}) {
    const TransformerMatrices w = test::draw_transformer(paper_shape, gamma, 1);
    const double error = match(test::descend(p.set, w).down.embedding, forms.counted(w), reasoning).error;
    BOOST_TEST(std::abs(error / law.embedding(gamma, reasoning) - 1) < 0.05);
    BOOST_TEST(error < (gamma == 0.8 ? 2.2e-2 : 1e-3));
  }
  // Few samples have a strong signal; with all of them the error is the largest, and still as small as that.
  const AttentionRemainder limit(data::expected_last_token_statistics(p.task, paper_shape.m),
                                 Mat<double>::Identity(161, 161));
  BOOST_TEST(std::abs(limit.embedding(0.8, reasoning) / 1.83e-2 - 1) < 0.03);
  BOOST_TEST(limit.embedding(1.5, reasoning) < 1e-3);
}

BOOST_AUTO_TEST_CASE(law_is_off_by_its_predicted_sampling_error) {
  const TransformerMatrices w = test::draw_transformer(paper_shape, 1.0, 1);
  // one set of each size was seen to miss 0.82 and 0.48; between sets ten anchors of some 100 labels scatter by 2 %
  for (const auto& [samples, seen] : {std::pair<Extent, double>{15'000, 0.82}, {100'000, 0.48}}) {
    const Proposition2 forms = predictors(paper(samples, 2));
    const Match got = match(forms.counted(w), forms.law(w), reasoning);
    BOOST_TEST(std::abs(got.ratio / forms.sampling_ratio(reasoning) - 1) < 0.2);
    BOOST_TEST(std::abs(got.error / forms.law_error(reasoning) - 1) < 0.2);
    BOOST_TEST(std::abs(got.cosine - forms.law_cosine(reasoning)) < 0.05);
    BOOST_TEST(std::abs(forms.law_error(reasoning) / seen - 1) < 0.03);
    const Match off = match(forms.counted(w), forms.published(w), reasoning);
    BOOST_TEST(std::abs(off.error / forms.published_error(reasoning) - 1) < 0.1);
    BOOST_TEST(std::abs(off.cosine - forms.published_cosine(reasoning)) < 0.05);
  }
  // the same against the model's own gradient, at a size where sampling hides the law
  const Paper p = paper(2000, 3);
  const Proposition2 forms = predictors(p);
  const Match got = match(test::descend(p.set, w).down.embedding, forms.law(w), reasoning);
  BOOST_TEST(std::abs(got.ratio / forms.sampling_ratio(reasoning) - 1) < 0.2);
  BOOST_TEST(!all_hold(forms.assumptions(reasoning)));
}

BOOST_AUTO_TEST_CASE(sampling_error_of_one_token_is_the_named_formula) {
  const Paper p = paper(2000, 1);
  const Proposition2 forms = predictors(p);
  const data::LastTokenStatistics& law = forms.law_flow().statistics();
  const Row<double> row = law.last_law.row(15);
  const double one =
      std::sqrt((1 - row.squaredNorm()) / (1980 * law.last[15])) / (row.array() - 1.0 / 192).matrix().norm();
  BOOST_TEST(forms.sampling_ratio({15, 15}) == one, boost::test_tools::tolerance(1e-12));
  BOOST_CHECK_THROW(forms.sampling_ratio({150, 160}), InvalidArgument);  // these never stand last
  BOOST_CHECK_THROW(forms.sampling_ratio({150, 161}), IndexError);
}

BOOST_AUTO_TEST_CASE(published_form_tends_to_14_ninths_of_the_truth_in_its_very_direction) {
  AnchorTask task = AnchorTask::paper();
  const data::LastTokenStatistics law = data::expected_last_token_statistics(task, paper_shape.m);
  const Proposition2 forms(law, law, 1'000'000'000);
  const auto close = boost::test_tools::tolerance(1e-12);
  for (const data::IdRange anchors : {reasoning, data::IdRange{1, 10}, data::IdRange{11, 11}}) {
    BOOST_TEST(forms.published_excess(anchors) == 14.0 / 9 - 1, close);
    BOOST_TEST(forms.published_limit_cosine(anchors) == 1, close);
  }
  TransformerMatrices w = test::draw_transformer(paper_shape, 1, 1);
  w.value.setZero();
  w.hidden_in.setZero();  // the limit of small weights
  const Match got = match(forms.law(w), forms.published(w), reasoning);
  BOOST_TEST(got.error == 14.0 / 9 - 1, close);
  BOOST_TEST(got.cosine == 1, close);
  // with weights, the published form is the average through (F^T)(W_VO^T + I), written out
  w = test::draw_transformer(paper_shape, 0.6, 1);
  const Mat<double> feed = Mat<double>::Identity(192, 192) + w.hidden_in * w.hidden_out,
                    mix = Mat<double>::Identity(192, 192) + w.value * w.output;
  const Mat<double> written = law.average_correlation * feed.transpose() * mix.transpose();
  BOOST_TEST((forms.published(w) - written).norm() < 1e-13 * written.norm());
  // keys stand last as noise: neither their share nor their direction is the published one
  BOOST_TEST(forms.published_limit_cosine({21, 120}) < 0.97);
  BOOST_TEST(forms.published_excess({21, 120}) > 0.2);
}

BOOST_AUTO_TEST_CASE(first_order_loss_is_off_by_the_square_of_the_logits) {
  double off[2];
  const double gammas[] = {1.5, 2.0};
  for (int i = 0; i < 2; ++i) {
    const TransformerMatrices w = test::draw_transformer(small_shape, gammas[i], 4);
    off[i] = test::descend(population(), w).loss - flow_of(population(), small_shape.m).loss(w);
  }
  BOOST_TEST(off[0] > 0);
  BOOST_TEST(std::abs(remainder_of(population(), small_shape.m).slope(1.5, off[0], 2.0, off[1]) - 2) < 0.03);
}

BOOST_AUTO_TEST_CASE(assumptions_hold_at_small_weights_and_break_at_large_ones) {
  const AttentionFlow flow = flow_of(population(), small_shape.m);
  BOOST_TEST(all_hold(flow.assumptions(test::draw_transformer(small_shape, 1.2, 1))));
  BOOST_TEST(!all_hold(flow.assumptions(test::draw_transformer(small_shape, 0.4, 1))));
  const AttentionRemainder law = remainder_of(population(), small_shape.m);
  BOOST_TEST(all_hold(law.assumptions(1.5, 6, 10)));
  BOOST_TEST(!all_hold(law.assumptions(0.6, 6, 10)));
  const AttentionFlow shifted = flow_of(population(), small_shape.m, {0.5, 0.25, 0});
  BOOST_TEST(first_broken(shifted.assumptions(test::draw_transformer(small_shape, 2, 1)))->name == "act(0) = 0");
}

BOOST_AUTO_TEST_CASE(shapes_that_do_not_chain_are_refused) {
  const AttentionFlow flow = flow_of(population(), small_shape.m);
  const TransformerMatrices good = test::draw_transformer(small_shape, 1, 1);
  for (Mat<double> TransformerMatrices::*which :
       {&TransformerMatrices::embedding, &TransformerMatrices::query, &TransformerMatrices::key,
        &TransformerMatrices::value, &TransformerMatrices::output, &TransformerMatrices::hidden_in,
        &TransformerMatrices::hidden_out}) {
    TransformerMatrices w = good;
    (w.*which).resize((good.*which).rows() + 1, (good.*which).cols());
    BOOST_CHECK_THROW(flow.velocity(w), ShapeError);
  }
  Examples other = population();
  other.vocab = 35;
  BOOST_CHECK_THROW(flow.velocity(good, other), ShapeError);
  BOOST_CHECK_THROW(AttentionFlow(data::LastTokenStatistics{}), InvalidArgument);
  const data::LastTokenStatistics wide = data::count_last_token_statistics(population(), 40),
                                  narrow = data::count_last_token_statistics(population(), 36);
  BOOST_CHECK_THROW(Proposition2(wide, narrow, 10), ShapeError);
  BOOST_CHECK_THROW(Proposition2(narrow, narrow, 0), InvalidArgument);
  BOOST_CHECK_THROW(AttentionRemainder(narrow, Mat<double>::Zero(3, 3)), ShapeError);
}

BOOST_AUTO_TEST_SUITE_END()
