// SPDX-License-Identifier: MIT
#include <incipit/probe/ablation.hpp>
#include <incipit/probe/value_flow.hpp>

#include <array>
#include <boost/test/unit_test.hpp>

#include "small_decoders.hpp"

using namespace incipit;
using test::Bare, test::Post, test::Pre, test::named;

BOOST_AUTO_TEST_SUITE(probe_value_flow)

BOOST_AUTO_TEST_CASE(the_heads_of_a_value_path_add_up_to_the_whole) {
  const auto params = test::random_parameters<Pre>();
  const auto whole = probe::value_path<Pre>(params, 1);
  const auto& attention = params.blocks[1].attention;
  BOOST_TEST((whole.product - attention.value.weight * attention.output.weight).cwiseAbs().maxCoeff() < 1e-14);
  const auto first = probe::value_path<Pre>(params, 1, 0), second = probe::value_path<Pre>(params, 1, 1);
  BOOST_TEST((first.value - attention.value.weight.leftCols(3)).isZero(0));
  BOOST_TEST((second.output - attention.output.weight.bottomRows(3)).isZero(0));
  BOOST_TEST((first.product + second.product - whole.product).cwiseAbs().maxCoeff() < 1e-14);
}

BOOST_AUTO_TEST_CASE(without_a_projection_values_leave_as_they_are) {
  constexpr auto config = probe::without_projection(test::bare_config);
  using M = model::Decoder<double, config, nn::Tanh>;
  const auto params = test::random_parameters<M>();
  const auto& value = params.blocks[0].attention.value.weight;
  BOOST_TEST((probe::value_path<M>(params, 0).product - value).isZero(0));
  const auto second = probe::value_path<M>(params, 0, 1);
  BOOST_TEST((second.product.rightCols(3) - value.rightCols(3)).isZero(0));
  BOOST_TEST(second.product.leftCols(3).isZero(0));
}

BOOST_AUTO_TEST_CASE(first_inputs_are_what_the_first_attention_reads) {
  const auto check = [](auto model) {
    using M = decltype(model);
    const auto params = test::random_parameters<M>();
    const Mat<Id> tokens = test::some_tokens();
    typename M::Cache cache;
    model.forward(params, tokens, cache);
    const probe::LayerView<M> layer(cache, 0);
    for (Extent t = 0; t < 4; ++t) {
      const Mat<double> rows = probe::first_inputs<M>(params, t);
      for (Extent b = 0; b < 5; ++b)
        BOOST_TEST((layer.read().row(4 * b + t) - rows.row(tokens(b, t))).cwiseAbs().maxCoeff() < 1e-14);
    }
  };
  check(Pre{});
  check(Post{});
  check(Bare{});
  const auto params = test::random_parameters<Post>();
  BOOST_TEST((probe::first_inputs<Post>(params) - params.embedding.weight).isZero(0));
}

BOOST_AUTO_TEST_CASE(a_planted_direction_arrives_at_every_later_position_and_at_no_earlier_one) {
  auto sizes = test::small_sizes;
  sizes.heads = 1;
  Bare::Parameters params(sizes);
  // Token 1 alone points where W_V looks; W_O sends it to a direction of its own.
  params.embedding.weight.col(1).setOnes();
  params.embedding.weight.row(1) << 2, 0, 0, 0, 0, 0;
  auto& attention = params.blocks[0].attention;
  attention.value.weight(0, 1) = 3;
  attention.output.weight(1, 4) = 0.5;
  Mat<Id> tokens(2, 4);
  tokens << 0, 1, 2, 3, 1, 0, 4, 5;
  const std::array<Extent, 2> sources{1, 0};
  Bare::Cache cache;
  Bare{}.forward(params, tokens, cache);
  const auto flow =
      probe::propagation(probe::LayerView<Bare>(cache, 0), probe::value_path<Bare>(params, 0, 0), sources);
  BOOST_TEST((flow.input - Row<double, 6>(1, 0, 0, 0, 0, 0)).norm() < 1e-15);
  BOOST_TEST((flow.output - Row<double, 6>(0, 0, 0, 0, 1, 0)).norm() < 1e-15);
  BOOST_TEST(std::abs(flow.gain - 1.5) < 1e-15);
  BOOST_TEST(flow.captured == 2);
  BOOST_TEST_REQUIRE(flow.arrivals.size() == 5U);
  for (const auto& at : flow.arrivals) {
    BOOST_TEST(at.count == (at.offset == -1 || at.offset == 3 ? 1 : 2));
    BOOST_TEST((at.offset < 0) == (at.branch == 0));
    BOOST_TEST((at.offset < 0) == (at.stream == 0));
    BOOST_TEST(std::abs(at.branch - at.from_source) < 1e-15);  // nobody else sends anything
  }
  BOOST_TEST(std::abs(flow.arrivals[1].from_source - (3.0 / 2 + 3) / 2) < 1e-15);
  BOOST_TEST(std::abs(flow.arrivals[3].from_source - (3.0 / 4 + 3.0 / 3) / 2) < 1e-15);
  BOOST_TEST(std::abs(flow.arrivals[4].from_source - 3.0 / 4) < 1e-15);
  const double share = 0.75 / std::sqrt(1 + 0.75 * 0.75);  // the row itself has length 1
  BOOST_TEST(std::abs(flow.arrivals[4].stream - share) < 1e-15);
}

BOOST_AUTO_TEST_CASE(propagation_follows_its_definition_with_one_and_with_all_queries) {
  const auto check = [](auto model, Extent l, Extent head) {
    using M = decltype(model);
    const auto params = test::random_parameters<M>();
    typename M::Cache cache;
    model.forward(params, test::some_tokens(), cache);
    const probe::LayerView<M> layer(cache, l);
    const auto path = probe::value_path<M>(params, l, head);
    const std::vector<Extent> sources{0, 2, 3, 1, 2};
    const auto flow = probe::propagation(layer, path, sources, head);
    const auto mode = measure::leading_mode(path.value);
    const Row<double> sent = mode.input * path.product, u = sent / sent.norm();
    BOOST_TEST((flow.output - u).norm() < 1e-14);
    const Extent queries = layer.queries(), skipped = 4 - queries;
    double captured = 0;
    for (Extent b = 0; b < 5; ++b)
      captured += std::abs(layer.read().row(4 * b + sources[static_cast<std::size_t>(b)]).dot(mode.input)) / 5;
    BOOST_TEST(std::abs(flow.captured - captured) < 1e-14);
    Extent rows = 0;
    for (const auto& at : flow.arrivals) {
      double from_source = 0, branch = 0, stream = 0;
      Extent count = 0;
      for (Extent b = 0; b < 5; ++b) {
        const Extent j = sources[static_cast<std::size_t>(b)], i = j + at.offset - skipped;
        if (i < 0 || i >= queries) continue;
        ++count;
        from_source += layer.weights()((b * 2 + head) * queries + i, j) *
                       std::abs(layer.read().row(4 * b + j).dot(mode.input)) * sent.norm();
        branch += std::abs((layer.mixed().row(b * queries + i).segment(3 * head, 3) * path.output).dot(u));
        const Row<double> h = layer.after().row(b * queries + i);
        stream += std::abs(h.dot(u)) / h.norm();
      }
      const auto n = static_cast<double>(count);
      BOOST_TEST(at.count == count);
      BOOST_TEST(std::abs(at.from_source - from_source / n) < 1e-13);
      BOOST_TEST(std::abs(at.branch - branch / n) < 1e-13);
      BOOST_TEST(std::abs(at.stream - stream / n) < 1e-13);
      rows += count;
    }
    BOOST_TEST(rows == 5 * queries);
  };
  check(Post{}, 1, 0);
  check(Pre{}, 0, 1);
  check(Pre{}, 1, 1);
}

BOOST_AUTO_TEST_CASE(wrong_layers_heads_sources_and_dead_paths_are_refused_by_name) {
  const auto params = test::random_parameters<Bare>();
  Bare::Cache cache;
  Bare{}.forward(params, test::some_tokens(), cache);
  const probe::LayerView<Bare> layer(cache, 0);
  const auto path = probe::value_path<Bare>(params, 0, 0);
  const std::vector<Extent> sources(5, 1), few(4, 1), beyond(5, 4);
  BOOST_CHECK_EXCEPTION(probe::value_path<Bare>(params, 2), IndexError, named("layer"));
  BOOST_CHECK_EXCEPTION(probe::value_path<Bare>(params, 0, 2), IndexError, named("head"));
  BOOST_CHECK_EXCEPTION(probe::first_inputs<Bare>(params, 4), IndexError, named("position"));
  BOOST_CHECK_EXCEPTION(probe::propagation(layer, path, sources, 2), IndexError, named("head"));
  BOOST_CHECK_EXCEPTION(probe::propagation(layer, path, few), ShapeError, named("sources"));
  BOOST_CHECK_EXCEPTION(probe::propagation(layer, path, beyond), IndexError, named("sources"));
  BOOST_CHECK_EXCEPTION(probe::propagation(layer, probe::value_path<Bare>(params, 0), sources), ShapeError,
                        named("columns of path.value"));
  auto dead = path;
  dead.product.setZero();
  BOOST_CHECK_EXCEPTION(probe::propagation(layer, dead, sources), InvalidArgument, named("path"));
}

BOOST_AUTO_TEST_SUITE_END()
