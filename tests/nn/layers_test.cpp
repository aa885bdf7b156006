// SPDX-License-Identifier: MIT
// The battery that every layer passes, and what is particular to one.
#include <incipit/check/layer.hpp>
#include <incipit/loss/cross_entropy.hpp>
#include <incipit/model/emb_mlp.hpp>
#include <incipit/nn/activation.hpp>
#include <incipit/nn/embedding.hpp>
#include <incipit/nn/linear.hpp>

#include <boost/test/unit_test.hpp>

#include <tuple>

using namespace incipit;

namespace {

using Activations = std::tuple<nn::Identity, nn::Tanh, nn::Relu, nn::Sigmoid, nn::CentredSigmoid, nn::Silu, nn::ScaledSilu,
                               nn::ScaledErf, nn::GeluErf, nn::GeluTanh>;

Mat<Id> some_ids() {
  Mat<Id> ids(4, 3);
  ids << 2, 2, 0, 2, 5, 6, 1, 1, 1, 3, 0, 6;
  return ids;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nn_layers)

BOOST_AUTO_TEST_CASE_TEMPLATE(activations_pass_the_battery, A, Activations) {
  const nn::Activation<double, A> layer;
  const typename nn::Activation<double, A>::Params params;
  for (const auto& [rows, cols] : {std::pair{4, 5}, std::pair{1, 1}, std::pair{3, 1}}) {
    const auto x = check::random_input<Mat<double>>(rows, cols, RandomStream(1, "activation"));
    const auto report = check::check_layer(layer, params, x, {.smooth = A::smooth});
    BOOST_CHECK_MESSAGE(report.passed(), A::name << '\n' << report);
  }
}

BOOST_AUTO_TEST_CASE(linear_passes_the_battery_with_and_without_bias_static_and_dynamic) {
  const auto run = [](const auto& layer, auto params, Extent rows, Extent in) {
    check::fill_parameters(params, RandomStream(2, "linear"));
    const auto x = check::random_input<Mat<double>>(rows, in, RandomStream(2, "x"));
    const auto report = check::check_layer(layer, params, x);
    BOOST_CHECK_MESSAGE(report.passed(), report);
  };
  using Dynamic = nn::Linear<double>;
  using Plain = nn::Linear<double, dyn, dyn, false>;
  run(Dynamic{}, Owned<Dynamic::Params>(5, 7), 4, 5);
  run(Dynamic{}, Owned<Dynamic::Params>(6, 6), 3, 6);  // dx may be dy
  run(Dynamic{}, Owned<Dynamic::Params>(1, 1), 1, 1);
  run(Plain{}, Owned<Plain::Params>(5, 7), 4, 5);
}

BOOST_AUTO_TEST_CASE(linear_with_static_sizes_gives_the_same_bits) {
  using Fixed = nn::Linear<double, 5, 3>;
  using Dynamic = nn::Linear<double>;
  Owned<Fixed::Params> fixed(5, 3);
  Owned<Dynamic::Params> dynamic(5, 3);
  check::fill_parameters(fixed, RandomStream(3, "linear"));
  check::fill_parameters(dynamic, RandomStream(3, "linear"));
  const auto x = check::random_input<Mat<double>>(4, 5, RandomStream(3, "x"));
  Fixed::Cache a;
  Dynamic::Cache b;
  BOOST_CHECK_EQUAL((Fixed{}.forward(fixed, x, a) - Dynamic{}.forward(dynamic, x, b)).cwiseAbs().maxCoeff(), 0.0);
}

BOOST_AUTO_TEST_CASE(embedding_and_its_sums_pass_the_battery) {
  using Layer = nn::Embedding<double>;
  Owned<Layer::Params> params(7, 4);
  check::fill_parameters(params, RandomStream(4, "embedding"));
  for (const Extent length : {Extent(1), Extent(2), Extent(3)}) {
    const auto report = check::check_layer(Layer{}, params, Mat<Id>(some_ids().leftCols(length)));
    BOOST_CHECK_MESSAGE(report.passed(), report);
  }
}

BOOST_AUTO_TEST_CASE(emb_mlp_passes_the_battery) {
  using Layer = model::EmbMlp<double, model::EmbMlpSizes{}, nn::ScaledSilu>;
  Owned<Layer::Params> params(7, 4, 5);
  check::fill_parameters(params, RandomStream(5, "model"), 0.5);
  const auto report = check::check_layer(Layer{}, params, some_ids());
  BOOST_CHECK_MESSAGE(report.passed(), report);
}

BOOST_AUTO_TEST_CASE(embedding_repeated_ids_u24) {
  Mat<Id> ids(4, 1);
  ids << 2, 2, 0, 2;
  Mat<double> dy(4, 2), want = Mat<double>::Zero(3, 2);
  dy << 1, 0, 0, 1, 5, 5, 1, 1;
  want.row(2) << 2, 2;
  want.row(0) << 5, 5;
  for (const int threads : {1, 2, 8}) {
    Mat<double> table = Mat<double>::Zero(3, 2);
    nn::scatter_add<double>(ids, dy, table, threads);
    BOOST_CHECK_EQUAL((table - want).cwiseAbs().maxCoeff(), 0.0);
  }
}

BOOST_AUTO_TEST_CASE(scatter_add_has_the_same_bits_for_any_number_of_threads_u24) {
  const RandomStream stream(6, "scatter");
  Mat<Id> ids(500, 3);
  for (Extent i = 0; i < ids.size(); ++i) ids.data()[i] = static_cast<Id>(stream.integer(static_cast<std::uint64_t>(i), 11));
  const auto dy = check::random_input<Mat<float>>(500, 37, stream.child("dy"));
  Mat<float> one = Mat<float>::Zero(11, 37);
  nn::scatter_add<float>(ids, dy, one, 1);
  for (const int threads : {2, 3, 8, 64}) {
    Mat<float> many = Mat<float>::Zero(11, 37);
    nn::scatter_add<float>(ids, dy, many, threads);
    BOOST_CHECK_EQUAL((many - one).cwiseAbs().maxCoeff(), 0.0F);
  }
}

BOOST_AUTO_TEST_CASE(embedding_id_out_of_range_u25) {
  using Layer = nn::Embedding<float>;
  Owned<Layer::Params> params(10, 2);
  Layer::Cache cache;
  Mat<Id> ids(1, 2);
  for (const Id good : {0, 9}) {
    ids << 3, good;
    BOOST_CHECK_NO_THROW(Layer{}.forward(params, ids, cache));
  }
  for (const Id bad : {-1, 10}) {
    ids << 3, bad;
    try {
      Layer{}.forward(params, ids, cache);
      BOOST_ERROR("accepted " << bad);
    } catch (const IndexError& error) {
      BOOST_CHECK_EQUAL(error.argument(), "tokens(0, 1)");
      BOOST_CHECK_EQUAL(error.value(), std::to_string(bad));
      BOOST_CHECK(error.allowed().find("10") != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(backward_into_the_upstream_storage_u11) {
  using Layer = nn::Linear<double>;
  Owned<Layer::Params> params(5, 5), apart(5, 5), shared(5, 5);
  check::fill_parameters(params, RandomStream(7, "alias"));
  const auto x = check::random_input<Mat<double>>(3, 5, RandomStream(7, "x"));
  Mat<double> dy = check::random_input<Mat<double>>(3, 5, RandomStream(7, "dy")), dx(3, 5);
  Layer::Cache cache;
  Layer{}.forward(params, x, cache);
  Layer{}.backward(params, cache, dy, dx, apart);
  Mat<double> wide = Mat<double>::Constant(5, 9, 4.0);
  wide.block(1, 2, 3, 5) = dy;
  Layer{}.backward(params, cache, wide.block(1, 2, 3, 5), wide.block(1, 2, 3, 5), shared);
  BOOST_CHECK_EQUAL((wide.block(1, 2, 3, 5) - dx).cwiseAbs().maxCoeff(), 0.0);
  BOOST_CHECK_EQUAL((shared.flat() - apart.flat()).cwiseAbs().maxCoeff(), 0.0);
  BOOST_CHECK_EQUAL(wide(0, 0) + wide(4, 8) + wide(1, 1) + wide(1, 7), 16.0);
}

BOOST_AUTO_TEST_CASE(per_sample_gradients_sum_to_n_times_the_mean_gradient_u40) {
  using Model = model::EmbMlp<double>;
  Model::Parameters params(11, 4, 6), whole(11, 4, 6), sum(11, 4, 6), one(11, 4, 6);
  check::fill_parameters(params, RandomStream(8, "u40"), 0.4);
  const RandomStream stream(8, "tokens");
  Mat<Id> tokens(20, 3);
  std::vector<Id> labels(20);
  for (Extent i = 0; i < tokens.size(); ++i) tokens.data()[i] = static_cast<Id>(stream.integer(static_cast<std::uint64_t>(i), 11));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<Id>(stream.integer(100 + i, 11));
  Model::Workspace ws;
  Model{}.loss_and_gradient(params, tokens, loss::LabelRows<double>(labels), ws, whole);
  Row<double> squares = Row<double>::Zero(whole.flat().size());
  for (Extent n = 0; n < 20; ++n) {
    one.set_zero();
    Model{}.loss_and_gradient(params, tokens.middleRows(n, 1),
                              loss::LabelRows<double>(std::span<const Id>(labels).subspan(static_cast<std::size_t>(n), 1)), ws, one);
    sum.flat() += one.flat();
    squares += one.flat().cwiseAbs2();
  }
  BOOST_CHECK_SMALL((sum.flat() - 20 * whole.flat()).cwiseAbs().maxCoeff(), 1e-12);
  BOOST_CHECK_GT((squares / 20 - (sum.flat() / 20).cwiseAbs2()).maxCoeff(), 1e-6);  // per-sample gradients do differ
}

BOOST_AUTO_TEST_CASE(shapes_that_do_not_fit_are_refused) {
  using Layer = nn::Linear<double>;
  Owned<Layer::Params> params(5, 3);
  Layer::Cache cache;
  BOOST_CHECK_THROW(Layer{}.forward(params, Mat<double>::Zero(2, 4), cache), ShapeError);
  Layer{}.forward(params, Mat<double>::Zero(2, 5), cache);
  Mat<double> dx(2, 5);
  BOOST_CHECK_THROW(Layer{}.backward(params, cache, Mat<double>::Zero(2, 4), dx, params), ShapeError);
  BOOST_CHECK_THROW(Layer{}.backward(params, cache, Mat<double>::Zero(1, 3), dx, params), ShapeError);
  Mat<double> narrow(2, 4);
  BOOST_CHECK_THROW(Layer{}.backward(params, cache, Mat<double>::Zero(2, 3), narrow, params), ShapeError);
}

BOOST_AUTO_TEST_SUITE_END()
