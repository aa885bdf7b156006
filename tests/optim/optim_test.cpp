// SPDX-License-Identifier: MIT
#include <incipit/optim/adam.hpp>
#include <incipit/optim/clip.hpp>
#include <incipit/optim/gradient_descent.hpp>
#include <incipit/optim/schedule.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

using namespace incipit;

namespace {

Row<double> one(double x) { return Row<double>::Constant(1, x); }

// The update that the docstring states, entry by entry, from all gradients so far.
double adam_by_formula(double theta, const std::vector<double>& gradients, const optim::AdamOptions& o) {
  double m = 0, v = 0;
  for (std::size_t t = 0; t < gradients.size(); ++t) {
    m = o.beta1 * m + (1 - o.beta1) * gradients[t];
    v = o.beta2 * v + (1 - o.beta2) * gradients[t] * gradients[t];
    const double n = static_cast<double>(t + 1);
    const double mhat = m / (1 - std::pow(o.beta1, n)), vhat = v / (1 - std::pow(o.beta2, n));
    theta = theta * (1 - o.step * o.weight_decay) - o.step * mhat / (std::sqrt(vhat) + o.eps);
  }
  return theta;
}

template <class T>
struct Two {
  using Scalar = T;
  Slot<T, 1, dyn> first, second;
  explicit Two(Extent n) : first(nullptr, 1, n), second(nullptr, 1, 1) {}
  template <class F> void for_each_parameter(F&& f) { f("first", first), f("second", second); }
  template <class F> void for_each_parameter(F&& f) const { f("first", first), f("second", second); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(optim_suite)

BOOST_AUTO_TEST_CASE(adam_eps_follows_the_bias_correction_u28) {
  for (const auto& [g, want] : {std::pair{1e-8, 5.0000e-4}, std::pair{1.0, 9.9999999e-4}}) {
    Row<double> theta = one(0);
    optim::Adam<double> adam(1, {});
    adam(theta, one(g));
    BOOST_CHECK_SMALL(-theta(0) - want, 1e-11);
  }
}

BOOST_AUTO_TEST_CASE(adamw_decays_once_u27) {
  Row<double> theta = one(2);
  optim::Adam<double> adam(1, {.step = 0.01, .weight_decay = 0.1});
  adam(theta, one(0));
  BOOST_CHECK_CLOSE_FRACTION(theta(0), 1.998, 1e-15);
}

BOOST_AUTO_TEST_CASE(adam_follows_its_formula_for_many_steps_and_sizes) {
  for (const Extent size : {Extent(1), Extent(7), Extent(1024), Extent(2500)}) {
    const optim::AdamOptions options{.step = 3e-3, .beta1 = 0.8, .beta2 = 0.97, .eps = 1e-6, .weight_decay = 0.02};
    optim::Adam<double> adam(size, options);
    Row<double> theta = Row<double>::LinSpaced(size, -1, 1);
    const Row<double> start = theta;
    std::vector<Row<double>> gradients;
    for (int t = 0; t < 20; ++t) {
      gradients.push_back((Row<double>::LinSpaced(size, 0.3, 2.0).array() * (t + 1)).sin().matrix());
      adam(theta, gradients.back());
    }
    for (const Extent i : {Extent(0), size / 2, size - 1}) {
      std::vector<double> g;
      for (const auto& row : gradients) g.push_back(row(i));
      BOOST_CHECK_SMALL(theta(i) - adam_by_formula(start(i), g, options), 1e-14);
    }
  }
}

BOOST_AUTO_TEST_CASE(adam_step_counter_survives_save_and_restore_u28) {
  optim::Adam<double> straight(3, {}), first(3, {}), second(3, {});
  Row<double> a = Row<double>::Ones(3), b = a;
  const Row<double> g = Row<double>::LinSpaced(3, -1, 2);
  for (int t = 0; t < 5; ++t) straight(a, g);
  for (int t = 0; t < 2; ++t) first(b, g);
  second.restore(first.state());
  for (int t = 0; t < 3; ++t) second(b, g);
  BOOST_CHECK_EQUAL((a - b).cwiseAbs().maxCoeff(), 0.0);
  BOOST_CHECK_EQUAL(second.state().steps, 5);
}

BOOST_AUTO_TEST_CASE(adam_without_eps_leaves_untouched_parameters_alone) {
  Row<double> theta = Row<double>::Ones(2);
  optim::Adam<double> adam(2, {.step = 0.1, .eps = 0.0});
  Row<double> g(2);
  g << 0, 1e-160;
  adam(theta, g);
  BOOST_CHECK_EQUAL(theta(0), 1.0);
  BOOST_CHECK(std::isfinite(theta(1)));
}

BOOST_AUTO_TEST_CASE(adam_in_float_agrees_with_double_to_float_precision) {
  optim::Adam<float> single(100, {.weight_decay = 0.01});
  optim::Adam<double> reference(100, {.weight_decay = 0.01});
  Row<float> a = Row<float>::LinSpaced(100, -1.0F, 1.0F);
  Row<double> b = a.cast<double>();
  for (int t = 1; t <= 50; ++t) {
    const Row<float> g = (Row<float>::LinSpaced(100, 0.1F, 3.0F).array() * static_cast<float>(t)).cos().matrix();
    single(a, g);
    reference(b, g.cast<double>());
  }
  BOOST_CHECK_SMALL((a.cast<double>() - b).cwiseAbs().maxCoeff(), 50 * 1e-3 * 64 * 1.2e-7 + 50 * 6e-8);
}

BOOST_AUTO_TEST_CASE(gradient_descent_and_momentum_follow_their_formulas) {
  Row<double> theta = one(1);
  optim::GradientDescent<double>{StepSize{0.25}}(theta, one(2));
  BOOST_CHECK_EQUAL(theta(0), 0.5);
  optim::Momentum<double> heavy(1, {.step = {0.5}, .momentum = 0.5}), ahead(1, {.step = {0.5}, .momentum = 0.5, .nesterov = true});
  Row<double> a = one(0), b = one(0);
  for (int t = 0; t < 2; ++t) {
    heavy(a, one(1));
    ahead(b, one(1));
  }
  BOOST_CHECK_EQUAL(a(0), -0.5 * (1 + 1.5));
  BOOST_CHECK_EQUAL(b(0), -0.5 * (1.5 + 1.75));
}

BOOST_AUTO_TEST_CASE(settings_and_shapes_outside_their_range_are_refused) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1.0, inf, nan}) {
    BOOST_CHECK_THROW(optim::Adam<double>(1, {.step = bad}), InvalidArgument);
    BOOST_CHECK_THROW(optim::Momentum<double>(1, {.step = {bad}}), InvalidArgument);
    Row<double> theta = one(0);
    BOOST_CHECK_THROW(optim::GradientDescent<double>{StepSize{bad}}(theta, one(1)), InvalidArgument);
  }
  for (const double bad : {1.0, -0.1, nan}) {
    BOOST_CHECK_THROW(optim::Adam<double>(1, {.beta1 = bad}), InvalidArgument);
    BOOST_CHECK_THROW(optim::Adam<double>(1, {.beta2 = bad}), InvalidArgument);
    BOOST_CHECK_THROW(optim::Momentum<double>(1, {.momentum = bad}), InvalidArgument);
  }
  BOOST_CHECK_THROW(optim::Adam<double>(1, {.eps = -1e-8}), InvalidArgument);
  BOOST_CHECK_THROW(optim::Adam<double>(1, {.weight_decay = nan}), InvalidArgument);
  Row<double> theta = Row<double>::Zero(3);
  optim::Adam<double> adam(2, {});
  BOOST_CHECK_THROW(adam(theta, Row<double>::Zero(3)), ShapeError);
  BOOST_CHECK_THROW(adam.restore({Row<double>::Zero(1), Row<double>::Zero(2), 0}), ShapeError);
}

BOOST_AUTO_TEST_CASE(warmup_and_cosine_meet_where_they_should_u30) {
  const optim::WarmupCosine rate({.peak = 1, .floor = 0.1, .warmup = 2, .total = 10});
  const double want[] = {0.5, 1, 1, 0.965746, 0.868198, 0.722208, 0.55, 0.377792, 0.231802, 0.134254, 0.1};
  for (int k = 0; k <= 10; ++k) BOOST_CHECK_SMALL(rate(k) - want[k], 5e-7);
  BOOST_CHECK_EQUAL(rate(1000), 0.1);
  for (const long long warmup : {0LL, 10LL}) {
    const optim::WarmupCosine edge({.peak = 1, .floor = 0.1, .warmup = warmup, .total = 10});
    for (long long k = 0; k < 12; ++k) {
      BOOST_CHECK(std::isfinite(edge(k)) && edge(k) > 0);
      if (k >= warmup) BOOST_CHECK_LE(edge(k + 1), edge(k));
    }
  }
  BOOST_CHECK_THROW(optim::WarmupCosine({.peak = 1, .floor = 2}), InvalidArgument);
  BOOST_CHECK_THROW(optim::WarmupCosine({.warmup = 3, .total = 2}), InvalidArgument);
  BOOST_CHECK_THROW(rate(-1), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(clipping_names_what_is_not_finite_and_does_not_overflow_u34) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const float bad : {inf, -inf, nan}) {
    Owned<Two<float>> g(1);
    g.first(0) = 1;
    g.second(0) = bad;
    try {
      optim::clip_norm(g, 1);
      BOOST_ERROR("accepted " << bad);
    } catch (const NonFiniteError& error) {
      BOOST_CHECK_EQUAL(error.argument(), "second");
    }
    const auto skipped = optim::clip_norm(g, 1, optim::NonFinitePolicy::skip);
    BOOST_CHECK(!skipped.usable() && skipped.non_finite == "second" && g.first(0) == 1);
    BOOST_CHECK(!optim::clip_norm(g, 1, optim::NonFinitePolicy::zero).usable());
    BOOST_CHECK_EQUAL(g.flat().cwiseAbs().maxCoeff(), 0.0F);
  }
  Owned<Two<float>> huge(127);
  huge.first.setConstant(1e19F);
  huge.second.setConstant(1e19F);
  const auto result = optim::clip_norm(huge, 2);
  BOOST_CHECK_CLOSE_FRACTION(result.norm, 1.131371e20, 1e-6);
  BOOST_CHECK_CLOSE_FRACTION(static_cast<double>(huge.flat().norm()), 2.0, 1e-6);
  Owned<Two<double>> small(1);
  small.first(0) = 3;
  small.second(0) = 4;
  BOOST_CHECK(!optim::clip_norm(small, 5).clipped);
  BOOST_CHECK(optim::clip_norm(small, 1).clipped);
  BOOST_CHECK_SMALL(small.first(0) - 0.6, 1e-15);
  BOOST_CHECK_SMALL(small.second(0) - 0.8, 1e-15);
  BOOST_CHECK_THROW(optim::clip_norm(small, 0), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
