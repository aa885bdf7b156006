// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/theory/proposition_1.hpp>
#include <incipit/theory/remainder_law.hpp>
#include <theory/simulation.hpp>

using namespace incipit;
using namespace incipit::theory;

namespace {

constexpr Extent width = 8, hidden_width = 12;
constexpr ActivationFacts tanh_facts{0, 1, 0}, silu_facts{0, 1, 1}, quarter_facts{0, 0.25, 0},
    sigmoid_facts{0.5, 0.25, 0};

const data::Examples& population() {
  static const data::Examples all =
      test::whole_population(test::small_task(), data::MemoryMap(test::small_task(), RandomStream(1, "mapping")));
  return all;
}

LayerMatrices initial(double gamma, std::uint64_t seed) {
  test::Weights w = test::draw(population().vocab, width, hidden_width, gamma, seed);
  return {w.embedding, w.hidden, w.output};
}

Proposition1 proposition(ActivationFacts facts) { return {test::counted_correlation(population()), 3, facts}; }

struct Errors {
  double embedding, hidden, output;  // relative, Frobenius
};
Errors errors(test::Curve act, ActivationFacts facts, double gamma, std::uint64_t seed) {
  const LayerMatrices w = initial(gamma, seed), v = proposition(facts).velocity(w);
  const test::Weights run = test::descend(population(), {w.embedding, w.hidden, w.output}, act).down;
  return {(run.embedding - v.embedding).norm() / v.embedding.norm(), (run.hidden - v.hidden).norm() / v.hidden.norm(),
          (run.output - v.output).norm() / v.output.norm()};
}

RemainderLaw remainder(ActivationFacts facts) {
  return {remainder_statistics(population()), width, hidden_width, facts};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(theory_proposition_1)

BOOST_AUTO_TEST_CASE(flows_are_the_exact_gradients_of_the_first_order_loss) {
  const Proposition1 flow = proposition({0, 0.7, 0});
  const LayerMatrices w = initial(0.4, 1), d = initial(0.3, 2), v = flow.velocity(w);
  const double base = flow.loss_drop(w);
  const auto close = boost::test_tools::tolerance(1e-11);  // the drop is linear in each matrix: differences are exact
  BOOST_TEST(flow.loss_drop({w.embedding + d.embedding, w.hidden, w.output}) - base ==
                 v.embedding.cwiseProduct(d.embedding).sum(),
             close);
  BOOST_TEST(
      flow.loss_drop({w.embedding, w.hidden + d.hidden, w.output}) - base == v.hidden.cwiseProduct(d.hidden).sum(),
      close);
  BOOST_TEST(
      flow.loss_drop({w.embedding, w.hidden, w.output + d.output}) - base == v.output.cwiseProduct(d.output).sum(),
      close);
  BOOST_TEST((flow.embedding_velocity(w) - v.embedding).norm() == 0);
  BOOST_TEST(flow.loss(w) == std::log(34.0) - base);
}

BOOST_AUTO_TEST_CASE(row_of_a_token_is_its_own_statistics_through_the_weights) {
  const LayerMatrices w = initial(0.5, 3);
  const Mat<double> c = test::counted_correlation(population());
  const Mat<double> v = proposition(tanh_facts).embedding_velocity(w);
  for (const Extent s : {1, 6, 12}) {
    const Row<double> row = c.row(s) * w.output.transpose() * w.hidden.transpose();
    BOOST_TEST((v.row(s) - row).norm() <= 1e-14 * row.norm());
  }
  BOOST_TEST(v.row(0).norm() == 0);  // a token that never occurs
}

BOOST_AUTO_TEST_CASE(all_three_flows_meet_the_gradient_of_the_network_at_small_weights) {
  for (const std::uint64_t seed : {1u, 2u}) {
    for (const auto& [act, facts] : {std::pair{test::tanh_curve, tanh_facts}, {test::centred_sigmoid, quarter_facts}}) {
      const Errors far = errors(act, facts, 1.0, seed), near = errors(act, facts, 2.0, seed);
      BOOST_TEST((std::max)({far.embedding, far.hidden, far.output}) < 2e-2);
      BOOST_TEST((std::max)({near.embedding, near.hidden, near.output}) < 1e-5);
    }
  }
}

BOOST_AUTO_TEST_CASE(remainder_slope_is_that_of_its_law_for_both_kinds_of_activation) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const double flat_a = errors(test::tanh_curve, tanh_facts, 2.0, seed).embedding,
                 flat_b = errors(test::tanh_curve, tanh_facts, 2.5, seed).embedding,
                 bent_a = errors(test::double_silu, silu_facts, 3.0, seed).embedding,
                 bent_b = errors(test::double_silu, silu_facts, 3.5, seed).embedding;
    BOOST_TEST(std::abs(remainder(tanh_facts).slope(2.0, flat_a, 2.5, flat_b) - 1) < 2e-3);
    BOOST_TEST(std::abs(remainder(silu_facts).slope(3.0, bent_a, 3.5, bent_b) - 1) < 2e-3);
    // the two laws are different ones: neither fits the other activation
    BOOST_TEST(std::abs(remainder(tanh_facts).slope(3.0, bent_a, 3.5, bent_b) - 1) > 0.2);
  }
  BOOST_TEST(remainder(tanh_facts).expected_slope(2.0, 2.5) == 1, boost::test_tools::tolerance(1e-12));
  // with f this small the softmax's part still shows at gamma = 1; the mixture of both parts knows by how much
  BOOST_TEST(std::abs(remainder(silu_facts).expected_slope(3.0, 3.5) - 1) < 2e-3);
  BOOST_TEST(remainder(silu_facts).expected_slope(1.0, 1.5) > 1.01);
}

BOOST_AUTO_TEST_CASE(remainder_size_has_the_derived_prefactors) {
  const double gamma = 2.0;
  for (const auto& [act, facts] : {std::pair{test::tanh_curve, tanh_facts},
                                   {test::double_silu, silu_facts},
                                   {test::centred_sigmoid, quarter_facts}}) {
    const int draws = 60;
    std::vector<double> off, signal;
    for (std::uint64_t seed = 1; seed <= draws; ++seed) {
      const LayerMatrices w = initial(gamma, seed);
      const Mat<double> v = proposition(facts).embedding_velocity(w);
      const test::Weights run = test::descend(population(), {w.embedding, w.hidden, w.output}, act).down;
      off.push_back((run.embedding - v).squaredNorm());
      signal.push_back(v.squaredNorm());
    }
    double mean_off = 0, mean_signal = 0, spread = 0;
    for (std::size_t i = 0; i < off.size(); ++i) mean_off += off[i] / draws, mean_signal += signal[i] / draws;
    const double ratio = mean_off / mean_signal, law = remainder(facts).rms(gamma);
    for (std::size_t i = 0; i < off.size(); ++i)
      spread += std::pow((off[i] - ratio * signal[i]) / mean_signal, 2) / draws;
    BOOST_TEST(std::abs(ratio - law * law) < 4.5 * std::sqrt(spread / draws));
  }
}

BOOST_AUTO_TEST_CASE(remainder_statistics_equal_sums_over_pairs_of_samples) {
  data::Examples examples = population();
  examples.tokens(0, 1) = examples.tokens(0, 0);  // a token twice in one input
  const Extent n = examples.size();
  const double u = 1 / static_cast<double>(examples.vocab), weight = 1 / static_cast<double>(n * n);
  double signal = 0, pairs = 0, interaction = 0;
  for (Extent a = 0; a < n; ++a)
    for (Extent b = 0; b < n; ++b) {
      double overlap = 0;
      for (Extent i = 0; i < 3; ++i)
        for (Extent j = 0; j < 3; ++j) overlap += examples.tokens(a, i) == examples.tokens(b, j) ? 1 : 0;
      const double same =
          examples.labels[static_cast<std::size_t>(a)] == examples.labels[static_cast<std::size_t>(b)] ? 1 : 0;
      signal += weight * overlap * (same - u);
      pairs += weight * overlap * overlap;
      interaction += weight * overlap * overlap * (same - u);
    }
  const RemainderStatistics counted = remainder_statistics(examples);
  const auto close = boost::test_tools::tolerance(1e-11);
  BOOST_TEST(counted.correlation2 == signal, close);
  BOOST_TEST(counted.cooccurrence2 == pairs, close);
  BOOST_TEST(counted.interaction2 == interaction, close);
  BOOST_TEST(counted.correlation2 == test::counted_correlation(examples).squaredNorm(), close);
}

BOOST_AUTO_TEST_CASE(first_order_loss_is_off_by_the_square_of_its_drop) {
  double off[2];
  const double gammas[] = {1.0, 1.4};
  for (int i = 0; i < 2; ++i) {
    const LayerMatrices w = initial(gammas[i], 4);
    off[i] = test::descend(population(), {w.embedding, w.hidden, w.output}, test::tanh_curve).loss -
             proposition(tanh_facts).loss(w);
  }
  BOOST_TEST(off[0] > 0);
  BOOST_TEST(std::abs(remainder(tanh_facts).slope(1.0, off[0], 1.4, off[1]) - 2) < 0.03);
}

BOOST_AUTO_TEST_CASE(plain_sigmoid_breaks_the_proposition_and_the_assumptions_say_so) {
  const Errors off = errors(test::plain_sigmoid, sigmoid_facts, 2.0, 1);
  BOOST_TEST(off.embedding > 1e3 * errors(test::centred_sigmoid, quarter_facts, 2.0, 1).embedding);
  BOOST_TEST(off.output > 1);  // the output layer follows act(0) times the label counts instead
  const auto broken = first_broken(proposition(sigmoid_facts).assumptions(initial(2.0, 1)));
  BOOST_REQUIRE(broken.has_value());
  BOOST_TEST(broken->name == "act(0) = 0");
  BOOST_TEST(broken->value == 0.5);
}

BOOST_AUTO_TEST_CASE(assumptions_hold_at_small_weights_and_break_at_large_ones) {
  BOOST_TEST(all_hold(proposition(tanh_facts).assumptions(initial(1.0, 1))));
  BOOST_TEST(!all_hold(proposition(tanh_facts).assumptions(initial(0.2, 1))));
  BOOST_TEST(all_hold(remainder(tanh_facts).assumptions(1.5)));
  BOOST_TEST(!all_hold(remainder(tanh_facts).assumptions(0.3)));
  const Assumption nan{"a number", std::nan(""), 1};
  BOOST_TEST(!nan.holds());
  BOOST_TEST(describe({{"a is small", 0.5, 0.25}, 37}) == "assumption 'a is small' broke at step 37: 0.5 > 0.25");
}

BOOST_AUTO_TEST_CASE(shapes_that_do_not_chain_are_refused) {
  const Proposition1 flow = proposition(tanh_facts);
  LayerMatrices w = initial(1, 1);
  w.hidden.resize(width + 1, hidden_width);
  BOOST_CHECK_THROW(flow.velocity(w), ShapeError);
  BOOST_CHECK_THROW(Proposition1(Mat<double>::Zero(3, 4), 3), ShapeError);
  BOOST_CHECK_THROW(Proposition1(Mat<double>::Zero(3, 3), 0), InvalidArgument);
  BOOST_CHECK_THROW(RemainderLaw(RemainderStatistics{}, 3, 3), InvalidArgument);
  BOOST_CHECK_THROW(RemainderLaw(remainder_statistics(population()), 3, 3, {0, 0, 0}), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
