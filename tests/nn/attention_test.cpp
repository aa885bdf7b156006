// SPDX-License-Identifier: MIT
#include <incipit/check/layer.hpp>
#include <incipit/nn/block.hpp>
#include <incipit/nn/positions.hpp>

#include <boost/test/unit_test.hpp>

#include <tuple>

using namespace incipit;

namespace {

/// Attention as a layer of one input: columns q, k, v side by side, so that the checkers see all three gradients.
struct Fused {
  nn::AttentionShape shape;
  Extent key, value;
  nn::Mask mask = nn::Mask::causal();
  using Params = check::NoParameters<double>;
  struct Cache {
    Mat<double> q, k, v, o;
    mutable Mat<double> dq, dk, dv;
    Buffer<double> weights;
    mutable Buffer<double> row;
    Extent blind = 0;
  };
  Mat<double> forward(const Params&, In<Mat<double>> x, Cache& c) const {
    const Extent hk = shape.heads * key, hv = shape.heads * value;
    c.q = x.leftCols(hk), c.k = x.middleCols(hk, hk), c.v = x.rightCols(hv);
    c.o.resize(c.q.rows(), hv);
    c.blind = nn::attend<double>(shape, mask, c.q, c.k, c.v, c.weights, c.o);
    return c.o;
  }
  void backward(const Params&, const Cache& c, In<Mat<double>> dy, Out<Mat<double>> dx, Params&) const {
    c.dq.resize(c.q.rows(), c.q.cols()), c.dk.resize(c.k.rows(), c.k.cols()), c.dv.resize(c.v.rows(), c.v.cols());
    const Mat<double> upstream = dy;
    nn::attend_backward<double>(shape, mask, c.q, c.k, c.v, c.weights, upstream, c.dq, c.dk, c.dv, c.row);
    dx << c.dq, c.dk, c.dv;
  }
};

nn::Mask::Table table(std::initializer_list<std::initializer_list<int>> rows) {
  nn::Mask::Table t(static_cast<Extent>(rows.size()), static_cast<Extent>(rows.begin()->size()));
  Extent i = 0;
  for (const auto& row : rows) {
    Extent j = 0;
    for (const int v : row) t(i, j++) = static_cast<std::uint8_t>(v);
    ++i;
  }
  return t;
}

/// Visible pairs of Tq queries and Tk keys, read off the attention weights of equal scores.
nn::Mask::Table seen(const nn::Mask& mask, Extent queries, Extent keys) {
  Buffer<double> weights;
  Mat<double> o(queries, 1);
  nn::attend<double>({1, queries, keys, 1}, mask, Mat<double>::Zero(queries, 1), Mat<double>::Zero(keys, 1),
                     Mat<double>::Ones(keys, 1), weights, o);
  nn::Mask::Table t(queries, keys);
  for (Extent i = 0; i < queries; ++i)
    for (Extent j = 0; j < keys; ++j) t(i, j) = weights(i, j) > 0;
  return t;
}

template <class Layer, class B>
void battery(const Layer& layer, B params, Extent rows, Extent cols, double scale = 0.5, check::LayerOptions options = {}) {
  options.rows_independent = false;
  check::fill_parameters(params, RandomStream(1, "parameters"), scale);
  const auto x = check::random_input<Mat<double>>(rows, cols, RandomStream(1, "x"));
  const auto report = check::check_layer(layer, params, x, options);
  BOOST_CHECK_MESSAGE(report.passed(), report);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nn_attention)

BOOST_AUTO_TEST_CASE(attention_passes_the_battery_under_every_mask) {
  const check::NoParameters<double> none;
  battery(Fused{{2, 3, 3, 2}, 2, 3, nn::Mask::causal()}, none, 6, 14);
  battery(Fused{{2, 3, 3, 2}, 2, 3, nn::Mask::none()}, none, 6, 14);
  battery(Fused{{1, 4, 4, 1}, 3, 1, nn::Mask::of(table({{1, 0, 1, 0}, {0, 1, 1, 1}, {0, 0, 0, 0}, {1, 1, 1, 1}}))}, none, 4, 7);
  battery(Fused{{3, 1, 1, 1}, 2, 2, nn::Mask::causal()}, none, 3, 6);  // T = 1
}

BOOST_AUTO_TEST_CASE(attention_follows_its_definition) {
  const Extent T = 4, key = 3, value = 2;
  const RandomStream stream(2, "attention");
  const auto q = check::random_normal<Mat<double>>(T, key, stream.child("q"));
  const auto k = check::random_normal<Mat<double>>(T, key, stream.child("k"));
  const auto v = check::random_normal<Mat<double>>(T, value, stream.child("v"));
  Buffer<double> weights;
  Mat<double> o(T, value);
  BOOST_CHECK_EQUAL(nn::attend<double>({1, T, T, 1}, nn::Mask::causal(), q, k, v, weights, o), 0);
  for (Extent i = 0; i < T; ++i) {
    Row<double> e = Row<double>::Zero(T);
    for (Extent j = 0; j <= i; ++j) e[j] = std::exp(q.row(i).dot(k.row(j)) / std::sqrt(3.0));
    e /= e.sum();
    BOOST_CHECK_SMALL((weights.row(i) - e).cwiseAbs().maxCoeff(), 1e-14);
    BOOST_CHECK_SMALL((o.row(i) - e * v).cwiseAbs().maxCoeff(), 1e-14);
  }
}

BOOST_AUTO_TEST_CASE(fully_masked_query_row_u19) {
  using Layer = nn::SelfAttention<double>;
  Owned<Layer::Params> params(nn::AttentionSizes{5, 2, 3, 2}), masked(nn::AttentionSizes{5, 2, 3, 2}), legal(masked);
  check::fill_parameters(params, RandomStream(3, "u19"));
  const auto x = check::random_normal<Mat<double>>(4, 5, RandomStream(3, "x"));
  auto dy = check::random_normal<Mat<double>>(4, 5, RandomStream(3, "dy"));
  const auto rows = [](int seen_in_row_2) {
    return nn::Mask::of(table({{1, 0, 0, 0}, {1, 1, 0, 0}, {seen_in_row_2, seen_in_row_2, 0, 0}, {1, 1, 1, 1}}));
  };
  Layer::Cache blind, sighted;
  const Mat<double> y = Layer{4, false, rows(0)}.forward(params, x, blind);
  const Mat<double> z = Layer{4, false, rows(1)}.forward(params, x, sighted);
  BOOST_CHECK_EQUAL(blind.blind, 1);
  BOOST_CHECK_EQUAL(sighted.blind, 0);
  BOOST_CHECK_EQUAL((y.row(2) - params.output.bias).cwiseAbs().maxCoeff(), 0.0);  // nothing but the bias of W_O
  BOOST_CHECK_EQUAL(blind.mixed.row(2).cwiseAbs().maxCoeff(), 0.0);
  for (const Extent i : {0, 1, 3}) BOOST_CHECK_EQUAL((y.row(i) - z.row(i)).cwiseAbs().maxCoeff(), 0.0);
  Mat<double> dx(4, 5), dz(4, 5);
  dy.row(2).setZero();
  Layer{4, false, rows(1)}.backward(params, sighted, dy, dz, legal);
  Layer{4, false, rows(0)}.backward(params, blind, dy, dx, masked);
  BOOST_CHECK_EQUAL((dx - dz).cwiseAbs().maxCoeff(), 0.0);
  BOOST_CHECK_EQUAL((masked.flat() - legal.flat()).cwiseAbs().maxCoeff(), 0.0);
  dy.row(2).setOnes();  // its gradient reaches nothing but the bias of W_O
  masked.set_zero();
  Layer{4, false, rows(0)}.backward(params, blind, dy, dx, masked);
  BOOST_CHECK_EQUAL(blind.dq.row(2).cwiseAbs().maxCoeff(), 0.0);
  BOOST_CHECK_EQUAL((dx - dz).cwiseAbs().maxCoeff(), 0.0);
  masked.output.bias = legal.output.bias;
  BOOST_CHECK_EQUAL((masked.flat() - legal.flat()).cwiseAbs().maxCoeff(), 0.0);
}

BOOST_AUTO_TEST_CASE(poisoned_masked_entries_are_not_read_u19) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const RandomStream stream(4, "poison");
  const auto q = check::random_normal<Mat<double>>(3, 2, stream.child("q"));
  Mat<double> k = check::random_normal<Mat<double>>(4, 2, stream.child("k")), v = check::random_normal<Mat<double>>(4, 2, stream.child("v"));
  const auto mask = nn::Mask::of(table({{1, 0, 1, 0}, {1, 0, 0, 0}, {1, 0, 1, 0}}));
  const auto run = [&](const Mat<double>& keys, const Mat<double>& values) {
    Buffer<double> weights, row;
    Mat<double> o(3, 2), dq(3, 2), dk(4, 2), dv(4, 2), all(14, 2);
    nn::attend<double>({1, 3, 4, 1}, mask, q, keys, values, weights, o);
    nn::attend_backward<double>({1, 3, 4, 1}, mask, q, keys, values, weights, Mat<double>::Ones(3, 2), dq, dk, dv, row);
    all << o, dq, dk, dv;
    return all;
  };
  const Mat<double> clean = run(k, v);
  k.row(1).setConstant(nan), v.row(1).setConstant(inf), k.row(3).setConstant(-inf), v.row(3).setConstant(nan);
  const Mat<double> poisoned = run(k, v);
  BOOST_CHECK_EQUAL((poisoned - clean).cwiseAbs().maxCoeff(), 0.0);
  BOOST_CHECK(poisoned.allFinite());
}

BOOST_AUTO_TEST_CASE(causal_alignment_when_lengths_differ_u21) {
  using nn::CausalAlign;
  const auto bottom = nn::Mask::causal(CausalAlign::bottom_right), top = nn::Mask::causal(CausalAlign::top_left);
  BOOST_CHECK(seen(bottom, 2, 5) == table({{1, 1, 1, 1, 0}, {1, 1, 1, 1, 1}}));
  BOOST_CHECK(seen(top, 2, 5) == table({{1, 0, 0, 0, 0}, {1, 1, 0, 0, 0}}));
  BOOST_CHECK(seen(bottom, 5, 2) == table({{0, 0}, {0, 0}, {0, 0}, {1, 0}, {1, 1}}));
  BOOST_CHECK(seen(top, 5, 2) == table({{1, 0}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}));
  Buffer<double> weights;
  Mat<double> o(5, 2);
  BOOST_CHECK_EQUAL(nn::attend<double>({1, 5, 2, 1}, bottom, Mat<double>::Ones(5, 3), Mat<double>::Ones(2, 3), Mat<double>::Ones(2, 2), weights, o), 3);
  BOOST_CHECK_EQUAL(o.topRows(3).cwiseAbs().maxCoeff(), 0.0);
  BOOST_CHECK_EQUAL((o.bottomRows(2).array() - 1).abs().maxCoeff(), 0.0);
}

BOOST_AUTO_TEST_CASE(huge_scores_of_either_sign_stay_finite) {
  Buffer<float> weights;
  Mat<float> q(1, 1), k(3, 1), v(3, 1), o(1, 1);
  q << 1e18F;
  k << 1e18F, -1e18F, 1e18F;
  v << 1, 2, 3;
  nn::attend<float>({1, 1, 3, 1}, nn::Mask::none(), q, k, v, weights, o);
  BOOST_CHECK_EQUAL(o(0, 0), 2.0F);
}

BOOST_AUTO_TEST_CASE(self_attention_passes_the_battery) {
  using Full = nn::SelfAttention<double>;
  using Plain = nn::SelfAttention<double, false>;
  using Bare = nn::SelfAttention<double, false, false>;
  const nn::AttentionSizes sizes{5, 2, 3, 4};  // d_k free of width / heads
  const check::LayerOptions idle{.idle = {"key.bias"}};
  battery(Full{3, false}, Owned<Full::Params>(sizes), 6, 5, 0.5, idle);
  battery(Full{3, true}, Owned<Full::Params>(sizes), 6, 5, 0.5, idle);
  battery(Plain{2, false, nn::Mask::none()}, Owned<Plain::Params>(sizes), 4, 5);
  battery(Bare{3, false}, Owned<Bare::Params>(nn::AttentionSizes{4, 2, 3, 2}), 6, 4);
  battery(Bare{3, true}, Owned<Bare::Params>(nn::AttentionSizes{4, 2, 3, 2}), 6, 4);
  // Of a single row q and k have no effect: the softmax of one score is 1.
  check::GradientOptions options;
  Owned<Full::Params> params(sizes);
  check::fill_parameters(params, RandomStream(5, "one"), 0.5);
  const auto report = check::check_gradient(Full{1, false}, params, check::random_input<Mat<double>>(2, 5, RandomStream(5, "x")), options);
  BOOST_CHECK_MESSAGE(report.count(check::Verdict::fail) == 0, report);
}

BOOST_AUTO_TEST_CASE(last_position_alone_is_the_last_row_of_the_full_output) {
  using Layer = nn::SelfAttention<double>;
  Owned<Layer::Params> params(nn::AttentionSizes{6, 3, 2, 5});
  check::fill_parameters(params, RandomStream(6, "last"));
  const auto x = check::random_normal<Mat<double>>(8, 6, RandomStream(6, "x"));
  for (const auto& mask : {nn::Mask::causal(), nn::Mask::causal(nn::CausalAlign::top_left), nn::Mask::none(),
                           nn::Mask::of(table({{1, 1, 1, 1}, {1, 0, 0, 0}, {1, 1, 1, 1}, {0, 1, 0, 1}}))}) {
    Layer::Cache full, last;
    const Mat<double> all = Layer{4, false, mask}.forward(params, x, full);
    const Mat<double> one = Layer{4, true, mask}.forward(params, x, last);
    BOOST_CHECK_SMALL((one.row(0) - all.row(3)).cwiseAbs().maxCoeff(), 1e-14);
    BOOST_CHECK_SMALL((one.row(1) - all.row(7)).cwiseAbs().maxCoeff(), 1e-14);
  }
}

BOOST_AUTO_TEST_CASE(feed_forward_and_positions_pass_the_battery) {
  using Hidden = nn::FeedForward<double>;
  using Plain = nn::FeedForward<double, nn::Tanh, false>;
  using Silu = nn::FeedForward<double, nn::Silu>;
  check::LayerOptions options;
  const auto rows = [&](const auto& layer, auto params, Extent n, Extent c) {
    check::fill_parameters(params, RandomStream(7, "hidden"), 0.5);
    const auto report = check::check_layer(layer, params, check::random_input<Mat<double>>(n, c, RandomStream(7, "x")), options);
    BOOST_CHECK_MESSAGE(report.passed(), report);
  };
  rows(Hidden{}, Owned<Hidden::Params>(4, 7), 3, 4);
  rows(Plain{}, Owned<Plain::Params>(4, 7), 3, 4);
  rows(Silu{}, Owned<Silu::Params>(1, 1), 1, 1);
  using Positions = nn::LearnedPositions<double>;
  battery(Positions{3}, Owned<Positions::Params>(3, 4), 6, 4);
}

BOOST_AUTO_TEST_CASE(sinusoidal_positions_follow_their_formula) {
  const Mat<double> table = nn::sinusoidal_positions(5, 7);
  for (Extent p = 0; p < 5; ++p)
    for (Extent i = 0; 2 * i < 7; ++i) {
      const double angle = static_cast<double>(p) * std::exp(-static_cast<double>(2 * i) / 7 * std::log(10000.0));
      BOOST_CHECK_SMALL(table(p, 2 * i) - std::sin(angle), 1e-14);
      if (2 * i + 1 < 7) BOOST_CHECK_SMALL(table(p, 2 * i + 1) - std::cos(angle), 1e-14);
    }
  BOOST_CHECK_THROW(nn::sinusoidal_positions(0, 4), ShapeError);
  BOOST_CHECK_THROW(nn::sinusoidal_positions(3, 4, 0), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(blocks_pass_the_battery_with_norms_before_after_and_nowhere) {
  const nn::BlockSizes sizes{{4, 2, 3, 2}, 5};
  const auto run = [&](auto style) {
    using Layer = nn::Block<double, style(), nn::Tanh>;
    for (const bool last : {false, true}) battery(Layer{.length = 3, .last_only = last, .eps = 0.1}, Owned<typename Layer::Params>(sizes), 6, 4, 0.5, {.idle = {"attention.key.bias"}});
  };
  using nn::BlockStyle, nn::NormKind, nn::NormPlace;
  run([] { return BlockStyle{}; });
  run([] { return BlockStyle{NormPlace::post, NormKind::layer, false, true}; });
  run([] { return BlockStyle{NormPlace::pre, NormKind::rms, false, false}; });
  run([] { return BlockStyle{NormPlace::none, NormKind::layer, true, true}; });
}

BOOST_AUTO_TEST_CASE(residual_gradient_does_not_pass_the_norm_u13) {
  // Stream (3, 4), RMSNorm with eps 0 and gain 1; the branch is the norm itself.
  using Norm = nn::RmsNorm<double>;
  Owned<Norm::Params> params(2), grad(2);
  Norm::reset(params);
  Norm::Cache cache;
  Mat<double> x(1, 2), branch(1, 2), dx(1, 2);
  x << 3, 4;
  branch << 1, 0;
  const Norm norm{.eps = 0};
  norm.forward(params, x, cache);
  norm.backward(params, cache, branch, dx, grad);
  BOOST_CHECK_SMALL(dx(0, 0) + 1 - 1.181019, 1e-6);
  BOOST_CHECK_SMALL(dx(0, 1) + 1 - 0.864235, 1e-6);
  // A pre-norm block whose branches have no weights is the identity, forward and backward, whatever the norm does.
  using Layer = nn::Block<double, nn::BlockStyle{.norm = nn::NormKind::rms, .bias = false}, nn::Tanh>;
  Owned<Layer::Params> block(nn::BlockSizes{{2, 1, 2, 2}, 3}), gradient(block);
  Layer::reset_norms(block);
  Layer::Cache kept;
  const Mat<double> two = check::random_normal<Mat<double>>(4, 2, RandomStream(8, "x"));
  const Mat<double> dy = check::random_normal<Mat<double>>(4, 2, RandomStream(8, "dy"));
  Mat<double> back(4, 2);
  BOOST_CHECK_EQUAL((Layer{.length = 2}.forward(block, two, kept) - two).cwiseAbs().maxCoeff(), 0.0);
  Layer{.length = 2}.backward(block, kept, dy, back, gradient);
  BOOST_CHECK_EQUAL((back - dy).cwiseAbs().maxCoeff(), 0.0);
}

BOOST_AUTO_TEST_CASE(wrong_shapes_are_refused_by_name) {
  using Layer = nn::SelfAttention<double>;
  Owned<Layer::Params> params(nn::AttentionSizes{4, 2, 3, 2});
  Layer::Cache cache;
  BOOST_CHECK_THROW((Layer{.length = 3}.forward(params, Mat<double>::Ones(5, 4), cache)), ShapeError);
  BOOST_CHECK_THROW((Layer{.length = 0}.forward(params, Mat<double>::Ones(5, 4), cache)), ShapeError);
  BOOST_CHECK_THROW((Layer{.length = 5}.forward(params, Mat<double>::Ones(5, 3), cache)), ShapeError);
  BOOST_CHECK_THROW((Layer{.length = 5, .mask = nn::Mask::of(table({{1, 1}}))}.forward(params, Mat<double>::Ones(5, 4), cache)), ShapeError);
  BOOST_CHECK_THROW(Layer::Params(nn::AttentionSizes{4, 0, 3, 2}), ShapeError);
  BOOST_CHECK_THROW((nn::SelfAttention<double, true, false>::Params(nn::AttentionSizes{4, 2, 3, 3})), ShapeError);
  BOOST_CHECK_THROW(nn::LearnedPositions<double>{4}.forward(Owned<nn::LearnedPositions<double>::Params>(3, 2), Mat<double>::Ones(4, 2),
                                                            *std::make_unique<nn::LearnedPositions<double>::Cache>()),
                    ShapeError);
  const nn::Block<double>::Cache empty;
  Owned<nn::Block<double>::Params> block(nn::BlockSizes{{4, 1, 4, 4}, 8}), grad(block);
  Mat<double> dx(3, 4);
  BOOST_CHECK_THROW((nn::Block<double>{.length = 3}.backward(block, empty, Mat<double>::Ones(3, 4), dx, grad)), ShapeError);
}

BOOST_AUTO_TEST_SUITE_END()
