// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include "toy_layers.hpp"

#include <incipit/check/layer.hpp>

#include <string>
#include <tuple>

namespace {
using namespace incipit;
using test::Mistake;
using Scalars = std::tuple<float, double, long double>;

template <class T>
check::LayerReport layer_norm(Mistake mistake, std::uint64_t seed = 1, Extent width = 6) {
  Owned<test::GainBias<T>> params(width);
  const RandomStream stream(seed, "layer norm");
  check::fill_parameters(params, stream);
  const Mat<T> x = check::random_input<Mat<T>>(4, width, stream.child("x"));
  return check::check_layer(test::ToyLayerNorm<T>{mistake}, params, x, {.seed = seed});
}
template <class T>
check::LawReport contract(Mistake mistake, std::uint64_t seed = 1) {
  Owned<test::GainBias<T>> params(6);
  const RandomStream stream(seed, "layer norm");
  check::fill_parameters(params, stream);
  const Mat<T> x = check::random_input<Mat<T>>(4, 6, stream.child("x"));
  return check::check_contract(test::ToyLayerNorm<T>{mistake}, params, x, {.seed = seed});
}
bool fails(const check::LawReport& report, const std::string& law) {
  return report.at(law).verdict == check::Verdict::fail;
}
}  // namespace

BOOST_AUTO_TEST_SUITE(check_layer)

BOOST_AUTO_TEST_CASE_TEMPLATE(right_layers_pass_the_battery, T, Scalars) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto norm = layer_norm<T>(Mistake::none, seed);
    BOOST_CHECK_MESSAGE(norm.passed(), norm);
    const Mat<T> x = check::random_input<Mat<T>>(3, 5, RandomStream(seed, "x"));
    const auto softmax = check::check_layer(test::ToySoftmax<T>{}, check::NoParameters<T>(), x, {.seed = seed});
    BOOST_CHECK_MESSAGE(softmax.passed(), softmax);
    Owned<test::Table<T>> table(5, 4);
    check::fill_parameters(table, RandomStream(seed, "table"));
    const auto relu = check::check_layer(test::ToyReluLinear<T>{}, table, x, {.seed = seed, .smooth = false});
    BOOST_CHECK_MESSAGE(relu.passed(), relu);
    Mat<Id> ids(4, 2);
    ids << 0, 3, 3, 3, 1, 0, 4, 3;
    const auto embedding = check::check_layer(test::ToyEmbedding<T>{}, table, ids, {.seed = seed});
    BOOST_CHECK_MESSAGE(embedding.passed(), embedding);
    BOOST_TEST(check::check_layer(check::PassThrough<T>{}, check::NoParameters<T>(), x).passed());
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(width_one_and_length_one_pass, T, Scalars) {
  const Mat<T> one = check::random_input<Mat<T>>(1, 1, RandomStream(3, "x"));
  const Mat<T> column = check::random_input<Mat<T>>(4, 1, RandomStream(4, "x"));
  Owned<test::Table<T>> table(1, 1);
  table.weight(0, 0) = T(0.75);
  for (const auto& x : {one, column}) {
    const auto report = check::check_layer(test::ToyReluLinear<T>{}, table, x, {.smooth = false});
    BOOST_CHECK_MESSAGE(report.degenerate.count(check::Verdict::fail) == 0, report);
    BOOST_TEST(check::check_layer(check::PassThrough<T>{}, check::NoParameters<T>(), x).passed());
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(spoiled_backwards_fail_the_battery_u41, T, Scalars) {
  for (const Mistake mistake : {Mistake::no_mean_term, Mistake::no_x_hat_term, Mistake::gain_last_row,
                                Mistake::one_percent, Mistake::zero_dx, Mistake::nan_dx, Mistake::zero_gain})
    BOOST_TEST(!layer_norm<T>(mistake).passed());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(each_broken_promise_is_named, T, Scalars) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto right = contract<T>(Mistake::none, seed);
    BOOST_CHECK_MESSAGE(right.passed(), right);
    BOOST_TEST(fails(contract<T>(Mistake::adds_to_dx, seed), "dx is written, not added to"));
    BOOST_TEST(fails(contract<T>(Mistake::overwrites_gradient, seed), "gradients accumulate"));
    BOOST_TEST(fails(contract<T>(Mistake::clips_dy, seed), "linear in dy"));
    BOOST_TEST(fails(contract<T>(Mistake::counts_calls, seed), "repeated forward"));
    BOOST_TEST(fails(contract<T>(Mistake::mixes_rows, seed), "batch = loop over rows"));
    BOOST_TEST(fails(contract<T>(Mistake::ignores_stride, seed), "strided blocks"));
    BOOST_TEST(fails(contract<T>(Mistake::zero_gain, seed), "reached: gain"));
    BOOST_TEST(fails(contract<T>(Mistake::nan_dx, seed), "finite"));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(silent_corruption_by_aliasing_is_the_only_wrong_answer_u11, T, Scalars) {
  BOOST_TEST(fails(contract<T>(Mistake::corrupts_alias), "dx may alias dy"));
  BOOST_TEST(!fails(contract<T>(Mistake::none), "dx may alias dy"));
  const auto refused = contract<T>(Mistake::refuses_alias);
  BOOST_TEST(refused.passed());
  BOOST_TEST(refused.at("dx may alias dy").reason.find("refused: dx") == 0U);
}

BOOST_AUTO_TEST_CASE(backward_must_not_look_at_the_callers_input_u43) {
  BOOST_TEST(fails(contract<double>(Mistake::forgets_input), "input may change after forward"));
}

BOOST_AUTO_TEST_CASE(rank_three_and_strided_inputs_are_their_rows_u15) {
  const auto report = contract<double>(Mistake::none);
  BOOST_TEST(report.at("rank 3 = flattened rows").value == 0.0);
  BOOST_TEST(report.at("strided blocks").bound < 1e-13);
  BOOST_TEST(!fails(report, "reached: gain"));
  BOOST_TEST(!fails(report, "reached: bias"));
}

BOOST_AUTO_TEST_CASE(layer_without_dx_is_not_a_layer_u15) {
  struct Forgetful {
    using Params = check::NoParameters<double>;
    using Cache = check::PassThrough<double>::Cache;
    const Mat<double>& forward(const Params&, In<Mat<double>> x, Cache& cache) const { return cache.y = x; }
    void backward(const Params&, const Cache&, In<Mat<double>>, Params&) const {}
  };
  BOOST_TEST((!check::CheckableLayer<Forgetful, Mat<double>>));
  BOOST_TEST((check::CheckableLayer<check::PassThrough<double>, Mat<double>>));
}

BOOST_AUTO_TEST_CASE(degenerate_inputs_that_break_a_layer_fail_or_are_refused) {
  struct Divide {  // y = x / |row|: NaN at the zero row
    using Params = check::NoParameters<double>;
    struct Cache {
      Mat<double> x, y;
    };
    bool refuse = false;
    const Mat<double>& forward(const Params&, In<Mat<double>> x, Cache& cache) const {
      if (refuse && x.isZero(0)) throw InvalidArgument("x", "a zero row", "a row with a direction");
      cache.x = x;
      return cache.y = x.array().colwise() / x.rowwise().norm().array();
    }
    void backward(const Params&, const Cache& cache, In<Mat<double>> dy, Out<Mat<double>> dx, Params&) const {
      for (Extent n = 0; n < dy.rows(); ++n) {
        const Row<double> y = cache.y.row(n), d = dy.row(n);
        dx.row(n) = (d - d.dot(y) * y) / cache.x.row(n).norm();
      }
    }
  };
  const Mat<double> x = check::random_input<Mat<double>>(3, 4, RandomStream(1, "x"));
  const auto bare = check::check_layer(Divide{}, check::NoParameters<double>(), x);
  BOOST_TEST(bare.gradients.passed());
  BOOST_TEST(fails(bare.contracts, "finite: zero"));
  BOOST_TEST(!bare.passed());
  const auto careful = check::check_layer(Divide{true}, check::NoParameters<double>(), x);
  BOOST_CHECK_MESSAGE(careful.passed(), careful);
  BOOST_TEST(careful.contracts.at("refused: zero").reason == "x: got a zero row, allowed: a row with a direction");
}

BOOST_AUTO_TEST_CASE(lambdas_make_a_layer) {
  using Params = test::Table<double>;
  using Cache = Mat<double>;
  const auto spoiled = [](double factor) {
    return check::make_layer<Params, Cache>(
        [](const Params& p, const auto& x, Cache& cache) -> Mat<double> {
          cache = x;
          return x * p.weight;
        },
        [factor](const Params& p, const Cache& cache, const auto& dy, auto& dx, Params& grad) {
          const Mat<double> copy = dy;
          dx = copy * p.weight.transpose();
          grad.weight += factor * cache.transpose() * copy;
        });
  };
  Owned<Params> params(3, 3);
  check::fill_parameters(params, RandomStream(1, "weight"));
  const Mat<double> x = check::random_input<Mat<double>>(4, 3, RandomStream(2, "x"));
  const auto right = check::check_layer(spoiled(1), params, x);
  BOOST_CHECK_MESSAGE(right.passed(), right);
  const auto wrong = check::check_layer(spoiled(1.01), params, x);
  BOOST_TEST((wrong.gradients.at("weight").verdict == check::Verdict::fail));
  BOOST_TEST((wrong.gradients.at("x").verdict == check::Verdict::pass));
  const auto row = check::make_layer<check::NoParameters<double>, Cache>(
      [](const auto&, const auto& x_in, Cache& cache) -> Mat<double> {
        cache = x_in;
        return x_in.array().tanh();
      },
      [](const auto&, const Cache& cache, const auto& dy, auto& dx, auto&) {
        dx = (dy.array() * (1 - cache.array().tanh().square())).matrix();
      });
  const auto tanh = check::check_layer(row, check::NoParameters<double>(), x);
  BOOST_CHECK_MESSAGE(tanh.passed(), tanh);
}

BOOST_AUTO_TEST_SUITE_END()
