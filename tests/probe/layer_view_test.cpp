// SPDX-License-Identifier: MIT
#include <incipit/probe/layer_view.hpp>

#include <array>
#include <boost/test/unit_test.hpp>

#include "small_decoders.hpp"

using namespace incipit;
using test::Post, test::Pre, test::named;

namespace {

/// Rows normalised to mean 0 and variance 1 (eps 0.1), times the gain.
Mat<double> layer_norm(const Mat<double>& x, const Row<double>& gain) {
  Mat<double> y = x.colwise() - x.rowwise().mean();
  for (Extent n = 0; n < y.rows(); ++n)
    y.row(n) /= std::sqrt(y.row(n).squaredNorm() / static_cast<double>(y.cols()) + 0.1);
  return y * gain.asDiagonal();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(probe_layer_view)

BOOST_AUTO_TEST_CASE(a_layer_of_a_post_norm_model_is_its_definition_written_out) {
  const auto params = test::random_parameters<Post>();
  const Mat<Id> tokens = test::some_tokens();
  Post::Cache cache;
  Post{}.forward(params, tokens, cache);
  const probe::LayerView<Post> layer(cache, 0);
  BOOST_TEST(layer.sequences() == 5);
  BOOST_TEST(layer.length() == 4);
  BOOST_TEST(layer.queries() == 4);
  BOOST_TEST(layer.layout().heads == 2);
  BOOST_TEST(layer.layout().queries == 4);
  const Mat<double> positions = nn::sinusoidal_positions(4, 6);
  const auto& w = params.blocks[0].attention;
  for (Extent b = 0; b < 5; ++b) {
    Mat<double> x(4, 6), mixed(4, 6);
    for (Extent t = 0; t < 4; ++t) x.row(t) = params.embedding.weight.row(tokens(b, t)) + positions.row(t);
    const Mat<double> q = x * w.query.weight, k = x * w.key.weight, v = x * w.value.weight;
    for (Extent h = 0; h < 2; ++h)
      for (Extent i = 0; i < 4; ++i) {
        Row<double> a = Row<double>::Zero(4);
        for (Extent j = 0; j <= i; ++j)
          a(j) = std::exp(q.row(i).segment(3 * h, 3).dot(k.row(j).segment(3 * h, 3)) / std::sqrt(3.0));
        a /= a.sum();
        mixed.row(i).segment(3 * h, 3) = a * v.middleCols(3 * h, 3);
        BOOST_TEST((layer.weights().row((b * 2 + h) * 4 + i) - a).cwiseAbs().maxCoeff() < 1e-14);
      }
    const Mat<double> branch = mixed * w.output.weight, after = layer_norm(x + branch, params.blocks[0].norm_1.gain);
    BOOST_TEST((layer.before().middleRows(4 * b, 4) - x).cwiseAbs().maxCoeff() < 1e-14);
    BOOST_TEST((layer.read().middleRows(4 * b, 4) - x).cwiseAbs().maxCoeff() < 1e-14);
    BOOST_TEST((layer.mixed().middleRows(4 * b, 4) - mixed).cwiseAbs().maxCoeff() < 1e-14);
    BOOST_TEST((layer.branch().middleRows(4 * b, 4) - branch).cwiseAbs().maxCoeff() < 1e-14);
    BOOST_TEST((layer.after().middleRows(4 * b, 4) - after).cwiseAbs().maxCoeff() < 1e-13);
  }
  const probe::LayerView<Post> second(cache, 1);
  BOOST_TEST((second.before() - second.read()).isZero(0));  // what enters layer 1 is what left layer 0
}

BOOST_AUTO_TEST_CASE(the_last_layer_of_a_last_output_model_has_one_query) {
  const auto params = test::random_parameters<Pre>();
  Pre::Cache cache;
  Pre{}.forward(params, test::some_tokens(), cache);
  const probe::LayerView<Pre> layer(cache, 1);
  BOOST_TEST(layer.queries() == 1);
  BOOST_TEST(layer.layout().heads == 2);
  BOOST_TEST(layer.weights().rows() == 10);
  BOOST_TEST(layer.before().rows() == 20);
  BOOST_TEST(layer.after().rows() == 5);
  const Mat<double> before = layer.before(), read = layer.read();
  const auto& norm = params.blocks[1].norm_1;
  BOOST_TEST((read - (layer_norm(before, norm.gain).rowwise() + norm.bias)).cwiseAbs().maxCoeff() < 1e-13);
  for (Extent b = 0; b < 5; ++b) {
    BOOST_TEST(layer.row_of(b, 0) == 4 * b + 3);
    BOOST_TEST((layer.after().row(b) - before.row(4 * b + 3) - layer.branch().row(b)).cwiseAbs().maxCoeff() < 1e-14);
  }
  const auto distance = measure::prefix_distance(layer.weights(), layer.layout());
  BOOST_TEST(distance.largest.rows() == 2);
  BOOST_TEST(distance.largest.cols() == 1);
  BOOST_TEST(distance.largest.minCoeff() > 1e-3);
}

BOOST_AUTO_TEST_CASE(cosines_before_and_after_attention_follow_their_definition) {
  const auto params = test::random_parameters<Pre>();
  const Mat<Id> tokens = test::some_tokens();
  Pre::Cache cache;
  Pre{}.forward(params, tokens, cache);
  const std::array<Id, 3> group{5, 0, 2};
  for (const Extent l : {0, 1}) {
    const probe::LayerView<Pre> layer(cache, l);
    const Extent queries = layer.queries();
    const auto kept = probe::kept_direction(layer);
    BOOST_TEST_REQUIRE(static_cast<Extent>(kept.size()) == queries);
    Mat<double> before = Mat<double>::Zero(7, 6), after = before;
    Col<Extent> counts = Col<Extent>::Zero(7);
    for (Extent i = 0; i < queries; ++i) {
      double mean = 0;
      for (Extent b = 0; b < 5; ++b) {
        const Row<double> x = layer.before().row(4 * b + 4 - queries + i), h = layer.after().row(b * queries + i);
        mean += x.dot(h) / (x.norm() * h.norm()) / 5;
        const Id token = tokens(b, 4 - queries + i);
        before.row(token) += x;
        after.row(token) += h;
        ++counts(token);
      }
      BOOST_TEST(std::abs(kept[static_cast<std::size_t>(i)].mean - mean) < 1e-14);
      BOOST_TEST(kept[static_cast<std::size_t>(i)].used == 5);
    }
    const auto cosines = probe::token_cosines(layer, group, 7);
    for (std::size_t a = 0; a < 3; ++a) {
      BOOST_TEST(cosines.counts[a] == counts(group[a]));
      for (std::size_t b = 0; b < a; ++b) {
        const auto i = static_cast<Extent>(a), j = static_cast<Extent>(b);
        BOOST_TEST(std::abs(cosines.before.values(i, j) -
                            measure::cosine(before.row(group[a]), before.row(group[b])).value) < 1e-14);
        BOOST_TEST(std::abs(cosines.after.values(i, j) -
                            measure::cosine(after.row(group[a]), after.row(group[b])).value) < 1e-14);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(silent_attention_keeps_every_direction) {
  auto params = test::random_parameters<Pre>();
  params.blocks[0].attention.output.weight.setZero();
  params.blocks[0].attention.output.bias.setZero();
  Pre::Cache cache;
  Pre{}.forward(params, test::some_tokens(), cache);
  const probe::LayerView<Pre> layer(cache, 0);
  for (const auto& kept : probe::kept_direction(layer)) BOOST_TEST(std::abs(kept.mean - 1) < 1e-15);
  const std::array<Id, 2> group{1, 2};
  const auto cosines = probe::token_cosines(layer, group, 7);
  BOOST_TEST((cosines.before.values - cosines.after.values).isZero(0));
}

BOOST_AUTO_TEST_CASE(zero_rows_and_absent_tokens_are_counted_not_nan) {
  test::Bare::Parameters params(test::small_sizes);  // all zero
  test::Bare::Cache cache;
  test::Bare{}.forward(params, Mat<Id>::Constant(2, 3, 1), cache);
  const probe::LayerView<test::Bare> layer(cache, 0);
  for (const auto& kept : probe::kept_direction(layer)) {
    BOOST_TEST(kept.used == 0);
    BOOST_TEST(kept.skipped == 2);
  }
  const std::array<Id, 2> group{1, 4};
  const auto cosines = probe::token_cosines(layer, group, 7);
  BOOST_TEST((cosines.counts == std::vector<Extent>{6, 0}));
  BOOST_TEST((cosines.before.zero_rows == std::vector<Extent>{0, 1}));
}

BOOST_AUTO_TEST_CASE(missing_layers_empty_caches_and_unknown_tokens_are_refused_by_name) {
  Pre::Cache cache;
  BOOST_CHECK_EXCEPTION(probe::LayerView<Pre>(cache, 0), ShapeError, named("cache"));
  const auto params = test::random_parameters<Pre>();
  Pre{}.forward(params, Mat<Id>(0, 3), cache);
  BOOST_CHECK_EXCEPTION(probe::LayerView<Pre>(cache, 0), ShapeError, named("cache"));
  Pre{}.forward(params, test::some_tokens(), cache);
  BOOST_CHECK_EXCEPTION(probe::LayerView<Pre>(cache, 2), IndexError, named("layer"));
  BOOST_CHECK_EXCEPTION(probe::LayerView<Pre>(cache, -1), IndexError, named("layer"));
  const std::array<Id, 1> beyond{7};
  BOOST_CHECK_EXCEPTION(probe::token_cosines(probe::LayerView<Pre>(cache, 0), beyond, 7), IndexError, named("group"));
}

BOOST_AUTO_TEST_SUITE_END()
