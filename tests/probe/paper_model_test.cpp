// SPDX-License-Identifier: MIT
#include <incipit/probe/ablation.hpp>
#include <incipit/probe/value_flow.hpp>
#include <incipit/probe/weights.hpp>

#include <array>
#include <boost/test/unit_test.hpp>

#include "small_decoders.hpp"

using namespace incipit;

namespace {

using Paper = model::Decoder<float, model::paper_transformer, nn::Relu>;

Paper::Parameters at_gamma(double gamma) {
  const model::DecoderSizes sizes{
      .vocab = 161, .width = 64, .layers = 2, .heads = 1, .key = 64, .hidden = 256, .length = 9};
  Paper::Parameters params(sizes);
  Paper::initialize(params, init::Gamma{gamma}, 1);
  return params;
}

double first_attention(const Paper::Parameters& params, Paper::Cache& cache) {
  Paper{}.forward(params, test::some_tokens(20, 9, 161), cache);
  const probe::LayerView<Paper> layer(cache, 0);
  return measure::prefix_distance(layer.weights(), layer.layout()).largest.maxCoeff();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(probe_paper_model)

BOOST_AUTO_TEST_CASE(first_attention_starts_as_the_average_at_small_initialization_only) {
  Paper::Cache cache;
  BOOST_TEST(first_attention(at_gamma(0.8), cache) <= 1e-3);
  BOOST_TEST(first_attention(at_gamma(0.3), cache) >= 0.3);
}

BOOST_AUTO_TEST_CASE(all_probes_read_a_float_model) {
  const auto params = at_gamma(0.8);
  Paper::Cache cache;
  first_attention(params, cache);
  const probe::LayerView<Paper> first(cache, 0), second(cache, 1);
  // Averaging nine rows of equal size keeps a ninth of the key at the last position, in either layer.
  Mat<Id> roles = Mat<Id>::Zero(20, 9);
  roles.col(3).setOnes();
  const auto flow = measure::last_query_by_role(first.weights(), first.layout(), roles, 2);
  BOOST_TEST(std::abs(flow.each(0, 1) - 1.0 / 9) < 1e-3);
  BOOST_TEST(std::abs(measure::last_query_by_role(second.weights(), second.layout(), roles, 2).total.sum() - 1) < 1e-5);
  BOOST_TEST(measure::attention_entropy(first.weights(), first.layout()).mean(0, 8) > std::log(9.0) - 1e-3);

  const auto path = probe::value_path<Paper>(params, 0, 0);
  const auto mode = measure::leading_mode(path.value);
  BOOST_TEST(mode.ratio.value > 1);
  BOOST_TEST(mode.ratio.value < 1.2);  // two neighbours at the edge of a random spectrum
  const std::array<Id, 4> group{11, 12, 13, 14};
  const auto aligned = measure::alignment(probe::first_inputs<Paper>(params), group, mode.input);
  BOOST_TEST(aligned.used == 4);
  BOOST_TEST(aligned.mean < 0.3);
  const std::vector<Extent> sources(20, 3);
  const auto spread = probe::propagation(first, path, sources);
  for (const auto& at : spread.arrivals) {
    const double average = at.offset < 0 ? 0 : spread.gain * spread.captured / static_cast<double>(at.offset + 4);
    BOOST_TEST(std::abs(at.from_source - average) <= 1e-2 * average);
  }

  const auto averaged = probe::with_average_attention<Paper>(params);
  BOOST_TEST(first_attention(averaged, cache) <= 1.2e-7F);
  const Mat<Id> tokens = test::some_tokens(20, 9, 161);
  const auto effect = probe::ablation_effect<Paper>(params, averaged, tokens, std::vector<Id>(20, 30));
  BOOST_TEST(effect.divergence < 1e-6);
  // A normalised stream of length 8 meets columns of entries 64^-0.8: the logit of one label deviates by this much.
  const double deviation = 8 * std::pow(64.0, -0.8);
  BOOST_TEST(std::abs(effect.before.loss - std::log(161.0)) < 3 * deviation);
  BOOST_TEST(probe::weight_spectra(params).size() == 15U);
  BOOST_TEST(probe::kept_direction(second).size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
