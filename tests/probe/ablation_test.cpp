// SPDX-License-Identifier: MIT
#include <incipit/probe/ablation.hpp>

#include <boost/test/unit_test.hpp>

#include "small_decoders.hpp"

using namespace incipit;
using test::Pre, test::named;

namespace {

template <class M>
Mat<double> logits_of(const typename M::Parameters& params, const Mat<Id>& tokens = test::some_tokens()) {
  typename M::Cache cache;
  return M{}.forward(params, tokens, cache);
}

constexpr auto unplaced = probe::without_positions(test::pre_config);
using Unplaced = model::Decoder<double, unplaced, nn::Tanh>;
constexpr auto unnormed = probe::without_norms(test::pre_config);
using Unnormed = model::Decoder<double, unnormed, nn::Tanh>;
constexpr auto unprojected = probe::without_projection(test::pre_config);
using Unprojected = model::Decoder<double, unprojected, nn::Tanh>;
constexpr auto headless = probe::without_head(test::bare_config);
using Headless = model::Decoder<double, headless, nn::Tanh>;

}  // namespace

BOOST_AUTO_TEST_SUITE(probe_ablation)

BOOST_AUTO_TEST_CASE(average_attention_is_exact_in_its_layer_and_leaves_the_rest) {
  const auto params = test::random_parameters<Pre>();
  for (const Extent l : {0, 1}) {
    const auto edited = probe::with_average_attention<Pre>(params, l);
    Pre::Cache cache;
    Pre{}.forward(edited, test::some_tokens(), cache);
    for (const Extent other : {0, 1}) {
      const probe::LayerView<Pre> layer(cache, other);
      const double largest = measure::prefix_distance(layer.weights(), layer.layout()).largest.maxCoeff();
      if (other == l)
        BOOST_TEST(largest == 0);
      else
        BOOST_TEST(largest > 1e-3);
    }
    std::vector<std::pair<std::string, Mat<double>>> before;
    params.for_each_parameter([&](std::string_view name, const auto& slot) { before.emplace_back(name, slot); });
    std::size_t k = 0;
    const std::string query = "blocks." + std::to_string(l) + ".attention.query";
    edited.for_each_parameter([&](std::string_view name, const auto& slot) {
      const auto& [known, value] = before[k++];
      if (name.starts_with(query))
        BOOST_TEST(slot.isZero(0));
      else
        BOOST_TEST((slot - value).isZero(0), known);
    });
  }
  BOOST_TEST(!params.blocks[0].attention.query.weight.isZero(0));
  BOOST_CHECK_EXCEPTION(probe::with_average_attention<Pre>(params, 2), IndexError, named("layer"));
  BOOST_CHECK_EXCEPTION(probe::with_average_attention<Pre>(params, -1), IndexError, named("layer"));
}

BOOST_AUTO_TEST_CASE(without_positions_is_a_table_of_zeros) {
  auto params = test::random_parameters<Pre>();
  const auto bare = probe::transplant<Pre, Unplaced>(params);
  BOOST_TEST((bare.left_out == std::vector<std::string>{"positions.weight"}));
  const Mat<double> found = logits_of<Unplaced>(bare.parameters);
  BOOST_TEST((found - logits_of<Pre>(params)).cwiseAbs().maxCoeff() > 1e-3);
  params.positions.weight.setZero();
  BOOST_TEST((found - logits_of<Pre>(params)).isZero(0));
}

BOOST_AUTO_TEST_CASE(without_projection_is_an_identity_projection) {
  auto params = test::random_parameters<Pre>();
  const auto bare = probe::transplant<Pre, Unprojected>(params);
  BOOST_TEST((bare.left_out ==
              std::vector<std::string>{"blocks.0.attention.output.weight", "blocks.0.attention.output.bias",
                                       "blocks.1.attention.output.weight", "blocks.1.attention.output.bias"}));
  for (auto& block : params.blocks) {
    block.attention.output.weight.setIdentity();
    block.attention.output.bias.setZero();
  }
  BOOST_TEST((logits_of<Unprojected>(bare.parameters) - logits_of<Pre>(params)).cwiseAbs().maxCoeff() < 1e-14);
  auto wide = test::small_sizes;
  wide.key = 4;  // 2 heads of 4 are not the width, 6
  const auto misfit = test::random_parameters<Pre>(wide);
  BOOST_CHECK_EXCEPTION((probe::transplant<Pre, Unprojected>(misfit)), ShapeError, named("heads * value"));
}

BOOST_AUTO_TEST_CASE(without_norms_and_head_the_rest_is_brought_over) {
  const auto params = test::random_parameters<Pre>();
  const auto bare = probe::transplant<Pre, Unnormed>(params);
  BOOST_TEST(bare.left_out.size() == 10U);
  for (const auto& name : bare.left_out) BOOST_TEST(name.find("norm") != std::string::npos);
  BOOST_TEST((bare.parameters.blocks[1].hidden.in.weight - params.blocks[1].hidden.in.weight).isZero(0));
  BOOST_TEST((logits_of<Unnormed>(bare.parameters) - logits_of<Pre>(params)).cwiseAbs().maxCoeff() > 1e-3);
  const auto full = test::random_parameters<test::Bare>();
  const auto cut = probe::transplant<test::Bare, Headless>(full);
  BOOST_TEST((cut.left_out == std::vector<std::string>{"head.weight"}));
  const Mat<double> stream = logits_of<Headless>(cut.parameters);
  BOOST_TEST((stream * full.head.weight - logits_of<test::Bare>(full)).cwiseAbs().maxCoeff() < 1e-13);
}

BOOST_AUTO_TEST_CASE(a_part_that_the_donor_lacks_is_refused_by_name) {
  const auto bare = test::random_parameters<Unplaced>();
  BOOST_CHECK_EXCEPTION((probe::transplant<Unplaced, Pre>(bare)), InvalidArgument, named("parameter"));
}

BOOST_AUTO_TEST_CASE(no_ablation_has_no_effect) {
  const auto params = test::random_parameters<Pre>();
  const std::vector<Id> labels{0, 1, 2, 3, 6};
  const auto effect = probe::ablation_effect<Pre>(params, params, test::some_tokens(), labels);
  BOOST_TEST(effect.before.loss == effect.after.loss);
  BOOST_TEST(effect.before.accuracy == effect.after.accuracy);
  BOOST_TEST(effect.agreement == 1);
  BOOST_TEST(effect.divergence == 0);
}

BOOST_AUTO_TEST_CASE(effects_follow_their_definition_over_many_chunks) {
  const Extent rows = 150;
  const Mat<Id> tokens = test::some_tokens(rows);
  const auto params = test::random_parameters<Pre>();
  const auto bare = probe::transplant<Pre, Unplaced>(params).parameters;
  const Mat<double> z = logits_of<Pre>(params, tokens), y = logits_of<Unplaced>(bare, tokens);
  std::vector<Id> labels;
  double loss = 0, loss_after = 0, hits = 0, hits_after = 0, same = 0, divergence = 0;
  for (Extent n = 0; n < rows; ++n) {
    labels.push_back(tokens(n, 0));
    const Row<double> p = z.row(n).array().exp() / z.row(n).array().exp().sum(),
                      q = y.row(n).array().exp() / y.row(n).array().exp().sum();
    Extent best = 0, best_after = 0;
    p.maxCoeff(&best);
    q.maxCoeff(&best_after);
    loss -= std::log(p(labels.back()));
    loss_after -= std::log(q(labels.back()));
    hits += best == labels.back();
    hits_after += best_after == labels.back();
    same += best == best_after;
    for (Extent c = 0; c < 7; ++c) divergence += p(c) * std::log(p(c) / q(c));
  }
  const auto effect = probe::ablation_effect<Pre, Unplaced>(params, bare, tokens, labels);
  BOOST_TEST(std::abs(effect.before.loss - loss / 150) < 1e-13);
  BOOST_TEST(std::abs(effect.after.loss - loss_after / 150) < 1e-13);
  BOOST_TEST(std::abs(effect.before.accuracy - hits / 150) < 1e-15);
  BOOST_TEST(std::abs(effect.after.accuracy - hits_after / 150) < 1e-15);
  BOOST_TEST(std::abs(effect.agreement - same / 150) < 1e-15);
  BOOST_TEST(std::abs(effect.divergence - divergence / 150) < 1e-13);
  BOOST_TEST(effect.divergence > 0);
}

BOOST_AUTO_TEST_CASE(every_position_counts_where_every_position_answers) {
  const auto params = test::random_parameters<test::Bare>();
  auto edited = probe::with_average_attention<test::Bare>(params);
  const Mat<Id> tokens = test::some_tokens(70);
  const Mat<double> z = logits_of<test::Bare>(params, tokens);
  const std::vector<Id> labels(280, 2);
  double loss = 0;
  for (Extent n = 0; n < 280; ++n) loss += (log_sum_exp(z.row(n)) - z(n, 2)) / 280;
  const auto effect = probe::ablation_effect<test::Bare>(params, edited, tokens, labels);
  BOOST_TEST(std::abs(effect.before.loss - loss) < 1e-13);
  BOOST_TEST(effect.divergence > 1e-6);
  // The first position sees itself alone, whatever the scores: nothing changes there.
  const auto first = probe::ablation_effect<test::Bare>(params, edited, tokens.leftCols(1), std::vector<Id>(70, 2));
  BOOST_TEST(first.divergence == 0);
}

BOOST_AUTO_TEST_CASE(sets_and_labels_that_do_not_fit_are_refused_by_name) {
  const auto params = test::random_parameters<test::Bare>();
  const auto cut = probe::transplant<test::Bare, Headless>(params).parameters;
  const Mat<Id> tokens = test::some_tokens(2, 3);
  const std::vector<Id> labels(6, 1), few(2, 1), wrong(6, 7);
  BOOST_CHECK_EXCEPTION(probe::ablation_effect<test::Bare>(params, params, tokens, few), ShapeError, named("labels"));
  BOOST_CHECK_EXCEPTION(probe::ablation_effect<test::Bare>(params, params, Mat<Id>(0, 3), few), ShapeError,
                        named("tokens.rows"));
  BOOST_CHECK_EXCEPTION(probe::ablation_effect<test::Bare>(params, params, tokens, wrong), IndexError,
                        named("labels[0]"));
  BOOST_CHECK_EXCEPTION((probe::ablation_effect<test::Bare, Headless>(params, cut, tokens, labels)), ShapeError,
                        named("label space"));
  auto broken = params;
  broken.head.weight(0, 0) = std::numeric_limits<double>::quiet_NaN();
  BOOST_CHECK_EXCEPTION(probe::ablation_effect<test::Bare>(params, broken, tokens, labels), NonFiniteError,
                        named("loss after"));
}

BOOST_AUTO_TEST_SUITE_END()
