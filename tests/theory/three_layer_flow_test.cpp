// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/theory/balanced_mode.hpp>
#include <incipit/theory/three_layer_flow.hpp>
#include <theory/simulation.hpp>

#include <Eigen/QR>

using namespace incipit;
using namespace incipit::theory;

namespace {

constexpr Extent width = 8, hidden_width = 12;

const data::Examples& population() {
  static const data::Examples all =
      test::whole_population(test::small_task(), data::MemoryMap(test::small_task(), RandomStream(1, "mapping")));
  return all;
}
LayerMatrices initial(double gamma, std::uint64_t seed) {
  test::Weights w = test::draw(population().vocab, width, hidden_width, gamma, seed);
  return {w.embedding, w.hidden, w.output};
}
ThreeLayerFlow flow(double gamma, std::uint64_t seed, ActivationFacts facts = {}) {
  return {Proposition1(test::counted_correlation(population()), 3, facts), initial(gamma, seed)};
}
double distance(const LayerMatrices& a, const LayerMatrices& b) {
  return std::sqrt((a.embedding - b.embedding).squaredNorm() + (a.hidden - b.hidden).squaredNorm() +
                   (a.output - b.output).squaredNorm());
}
double size(const LayerMatrices& a) {
  return std::sqrt(a.embedding.squaredNorm() + a.hidden.squaredNorm() + a.output.squaredNorm());
}
double drift(const LayerMatrices& a, const LayerMatrices& b) {
  const auto x = ThreeLayerFlow::invariants(a), y = ThreeLayerFlow::invariants(b);
  return std::hypot((x.embedding_hidden - y.embedding_hidden).norm(), (x.hidden_output - y.hidden_output).norm());
}
void gradient_descent_step(test::Weights& w, double h, test::Curve act) {
  const test::Weights down = test::descend(population(), w, act).down;
  w.embedding += h * down.embedding;
  w.hidden += h * down.hidden;
  w.output += h * down.output;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(theory_three_layer_flow)

BOOST_AUTO_TEST_CASE(flow_starts_at_its_initial_matrices) {
  const ThreeLayerFlow f = flow(1.0, 1);
  BOOST_TEST(distance(f.at_step({2.0}, 0), f.initial()) == 0);
  BOOST_TEST(distance(f.at({0.0}), f.initial()) == 0);
  BOOST_TEST(f.euler({2.0}).lost() == f.lost(f.initial()), boost::test_tools::tolerance(1e-10));
}

BOOST_AUTO_TEST_CASE(restart_equals_one_run) {
  const ThreeLayerFlow f = flow(1.0, 1);
  const ThreeLayerFlow again(f.field(), f.at_step({0.5}, 7));
  BOOST_TEST(distance(again.at_step({0.5}, 11), f.at_step({0.5}, 18)) == 0);
  const ThreeLayerFlow later(f.field(), f.at({6.0}));
  BOOST_TEST(distance(later.at({10.0}), f.at({16.0})) < 1e-6 * size(f.initial()));
}

BOOST_AUTO_TEST_CASE(continuous_flow_conserves_and_euler_drifts_in_proportion_to_its_step) {
  const ThreeLayerFlow f = flow(1.0, 2);
  const double start = size(f.initial());
  BOOST_TEST(drift(f.at({16.0}), f.initial()) < 1e-6 * start * start);
  const double coarse = drift(f.at_step({0.125}, 128), f.initial()),
               fine = drift(f.at_step({0.0625}, 256), f.initial());
  BOOST_TEST(coarse > 1e-6 * start * start);
  BOOST_TEST(std::abs(std::log2(coarse / fine) - 1) < 0.05);
}

BOOST_AUTO_TEST_CASE(euler_recursion_approaches_the_flow_like_its_step) {
  const ThreeLayerFlow f = flow(1.0, 3);
  const LayerMatrices exact = f.at({16.0}, 1e-10);
  const double coarse = distance(f.at_step({0.25}, 64), exact), fine = distance(f.at_step({0.125}, 128), exact);
  BOOST_TEST(std::abs(std::log2(coarse / fine) - 1) < 0.05);
}

BOOST_AUTO_TEST_CASE(rotation_of_the_hidden_bases_changes_nothing_else) {
  const ThreeLayerFlow f = flow(1.0, 4);
  const Mat<double> q =
      Eigen::HouseholderQR<Mat<double>>(test::draw(width, width, width, 0.5, 9).hidden).householderQ();
  LayerMatrices turned = f.initial();
  turned.embedding = f.initial().embedding * q;
  turned.hidden = q.transpose() * f.initial().hidden;
  const LayerMatrices a = f.at_step({0.5}, 20), b = ThreeLayerFlow(f.field(), turned).at_step({0.5}, 20);
  BOOST_TEST((a.embedding * q - b.embedding).norm() < 1e-12 * a.embedding.norm());
  BOOST_TEST((a.output - b.output).norm() < 1e-12 * a.output.norm());
}

BOOST_AUTO_TEST_CASE(balanced_mode_follows_its_closed_form_to_the_blow_up) {
  const Extent D = 6;
  const Col<double> a = Col<double>::LinSpaced(D, -1, 2).normalized(), p = Col<double>::Ones(3).normalized(),
                    q = Col<double>::LinSpaced(4, 1, 2).normalized();
  const Row<double> b = Row<double>::LinSpaced(D, -1, 1).normalized();
  const double s = 0.3, w0 = 0.2;
  const Mat<double> c = s * a * b;
  const ThreeLayerFlow f({c, 1}, {w0 * a * p.transpose(), w0 * p * q.transpose(), w0 * q * b});
  const BalancedMode mode(s, w0);
  BOOST_TEST(mode.blow_up().value == 1 / 0.06, boost::test_tools::tolerance(1e-14));
  for (const double part : {0.0, 0.3, 0.7, 0.9}) {
    const FlowTime t{part * mode.blow_up().value};
    const LayerMatrices w = f.at(t, 1e-11);
    BOOST_TEST(w.embedding.norm() == mode.at(t), boost::test_tools::tolerance(1e-7));
    BOOST_TEST(w.output.norm() == mode.at(t), boost::test_tools::tolerance(1e-7));
    BOOST_TEST(f.field().loss_drop(w) == mode.loss_drop(mode.at(t)), boost::test_tools::tolerance(1e-6));
    BOOST_TEST(mode.time_to(mode.at(t)).value == t.value, boost::test_tools::tolerance(1e-12));
  }
  BOOST_CHECK_THROW(mode.at(mode.blow_up()), InvalidArgument);
  BOOST_CHECK_THROW(f.at({1.1 * mode.blow_up().value}), OdeError);
}

BOOST_AUTO_TEST_CASE(balanced_mode_names_imbalance_and_long_steps) {
  const BalancedMode mode(0.3, 0.2);
  BOOST_TEST(all_hold(mode.assumptions({0.2, 0.21, 0.2}, {0.1})));
  const auto unequal = first_broken(mode.assumptions({0.2, 0.4, 0.3}, {0}));
  BOOST_TEST(unequal.value().value == 1, boost::test_tools::tolerance(1e-14));
  const auto too_long = first_broken(mode.assumptions({0.2, 0.2, 0.2}, {2}));
  BOOST_TEST(too_long.value().value == 0.12, boost::test_tools::tolerance(1e-14));
  BOOST_CHECK_THROW(mode.assumptions({0.2, 0, 0.2}, {0.1}), InvalidArgument);
  BOOST_CHECK_THROW(mode.assumptions({0.2, 0.2, 0.2}, {-1}), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(descent_is_late_by_the_same_number_of_steps_for_every_step_size) {
  const double s = 0.3, w0 = 0.2, goal = 1.0;
  const BalancedMode mode(s, w0);
  for (const double h : {0.4, 0.2, 0.1, 0.05}) {
    double w = w0, steps = 0;
    for (;; steps += 1) {
      const double next = w + h * s * w * w;
      if (next >= goal) {
        steps += (1 / w - 1 / goal) / (1 / w - 1 / next);
        break;
      }
      w = next;
    }
    BOOST_TEST(std::abs(steps - mode.steps_to(goal, {h})) < 0.3 * h);  // what is left is of the order of the step
    BOOST_TEST(std::abs(steps - mode.time_to(goal).value / h - std::log(goal / w0)) < 0.3 * h);
  }
}

BOOST_AUTO_TEST_CASE(first_order_loss_falls_along_the_flow_and_its_rate_is_the_squared_velocity) {
  const ThreeLayerFlow f = flow(1.0, 5);
  const double t = 8, d = 1e-3, rate = (f.lost(f.at({t + d}, 1e-12)) - f.lost(f.at({t - d}, 1e-12))) / (2 * d);
  const LayerMatrices v = f.field().velocity(f.at({t}, 1e-12));
  BOOST_TEST(rate * f.field().plateau() == size(v) * size(v), boost::test_tools::tolerance(1e-5));
  double last = f.lost(f.initial());
  for (ThreeLayerFlow::Euler run = f.euler({0.5}); run.step() < 20;) {
    run.advance();
    BOOST_TEST(run.lost() > last);
    last = run.lost();
  }
}

BOOST_AUTO_TEST_CASE(escape_times_are_the_limit_of_escape_steps) {
  const ThreeLayerFlow f = flow(1.0, 6);
  const std::vector<double> fractions{0.01, 0.002};
  const auto times = f.escape_times({1.0}, fractions, {60.0});
  const auto finer = f.escape_times({0.25}, fractions, {60.0});
  const auto steps = f.escape_steps({0.02}, fractions, 3000);
  for (const std::size_t i : {0u, 1u}) {
    BOOST_REQUIRE(times[i] && finer[i] && steps[i]);
    BOOST_TEST(std::abs(*times[i] - *finer[i]) < 1e-3);
    BOOST_TEST(std::abs(*times[i] - 0.02 * static_cast<double>(*steps[i])) < 0.1);
    BOOST_TEST(f.lost(f.at({*finer[i]})) == fractions[i], boost::test_tools::tolerance(1e-4));
  }
  BOOST_TEST(*times[1] < *times[0]);
  BOOST_TEST(!f.escape_steps({0.5}, {0.01}, 1)[0].has_value());
}

BOOST_AUTO_TEST_CASE(network_leaves_its_plateau_when_the_flow_with_the_same_step_says) {
  const double h = 0.5, plateau = std::log(34.0);
  const std::vector<double> fractions{0.001, 0.002, 0.005};
  const ThreeLayerFlow f = flow(1.2, 1);
  const auto predicted = f.escape_steps({h}, fractions, 1000);
  test::Weights run = test::draw(population().vocab, width, hidden_width, 1.2, 1);
  std::size_t next = 0;
  for (Extent step = 0; next < fractions.size(); ++step) {
    BOOST_REQUIRE(step < 1000);
    const test::Descent now = test::descend(population(), run, test::tanh_curve);
    while (next < fractions.size() && (plateau - now.loss) / plateau >= fractions[next]) {
      BOOST_REQUIRE(predicted[next].has_value());
      BOOST_TEST(std::abs(static_cast<double>(*predicted[next] - step)) <= 0.03 * static_cast<double>(step) + 1);
      if (fractions[next] == 0.002) {
        const LayerMatrices w = f.at_step({h}, step);
        BOOST_TEST((w.embedding - run.embedding).norm() < 0.015 * run.embedding.norm());
      }
      ++next;
    }
    run.embedding += h * now.down.embedding;
    run.hidden += h * now.down.hidden;
    run.output += h * now.down.output;
  }
}

BOOST_AUTO_TEST_CASE(error_of_the_recursion_has_the_order_of_the_remainder) {
  const auto off = [](double gamma) {
    const ThreeLayerFlow f = flow(gamma, 2);
    test::Weights run = test::draw(population().vocab, width, hidden_width, gamma, 2);
    for (int step = 0; step < 5; ++step) gradient_descent_step(run, 0.05, test::tanh_curve);
    const LayerMatrices w = f.at_step({0.05}, 5);
    return (w.embedding - run.embedding).norm() / (w.embedding - f.initial().embedding).norm();
  };
  const double per_gamma = std::log(static_cast<double>(population().vocab * width * hidden_width));
  BOOST_TEST(std::abs(std::log(off(2.0) / off(2.5)) / (0.5 * per_gamma) - 1) < 2e-3);
}

BOOST_AUTO_TEST_CASE(slope_of_the_activation_rescales_the_flow) {
  const double h = 8;
  const ThreeLayerFlow f = flow(2.0, 3, {0, 0.25, 0});
  test::Weights run = test::draw(population().vocab, width, hidden_width, 2.0, 3);
  for (int step = 0; step < 5; ++step) gradient_descent_step(run, h, test::centred_sigmoid);
  const LayerMatrices w = f.at_step({h}, 5);
  BOOST_TEST((w.embedding - run.embedding).norm() < 1e-4 * (w.embedding - f.initial().embedding).norm());
  BOOST_TEST((w.output - run.output).norm() < 1e-4 * (w.output - f.initial().output).norm());
}

BOOST_AUTO_TEST_CASE(breach_names_the_assumption_and_the_step) {
  const auto late = flow(1.2, 1).first_breach({0.5}, 1000);
  BOOST_REQUIRE(late.has_value());
  BOOST_TEST(late->step > 10);
  BOOST_TEST(late->assumption.value > late->assumption.limit);
  BOOST_TEST(!flow(1.2, 1).first_breach({0.5}, late->step - 1).has_value());
  const auto loud = flow(0.1, 1).first_breach({0.01}, 10);
  BOOST_REQUIRE(loud.has_value());
  BOOST_TEST(loud->step == 0);
  const auto sigmoid = flow(1.2, 1, {0.5, 0.25, 0}).first_breach({0.5}, 1000);
  BOOST_REQUIRE(sigmoid.has_value());
  BOOST_TEST(describe(*sigmoid) == "assumption 'act(0) = 0' broke at step 0: 0.5 > 0");
  const auto coarse = flow(1.2, 1).first_breach({16.0}, 10);
  BOOST_REQUIRE(coarse.has_value());
  BOOST_TEST(coarse->assumption.name == "the step resolves the growth: h |C| |W|");
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_refused_by_name) {
  const ThreeLayerFlow f = flow(1.0, 1);
  BOOST_CHECK_THROW(f.euler({0.0}), InvalidArgument);
  BOOST_CHECK_THROW(f.at_step({1.0}, -1), InvalidArgument);
  BOOST_CHECK_THROW(f.at({-1.0}), InvalidArgument);
  BOOST_CHECK_THROW(f.escape_times({0.0}, {0.1}, {1.0}), InvalidArgument);
  BOOST_CHECK_THROW(ThreeLayerFlow(f.field(), {f.initial().embedding, f.initial().output, f.initial().hidden}),
                    ShapeError);
  BOOST_CHECK_THROW(BalancedMode(0, 1), InvalidArgument);
  BOOST_CHECK_THROW(BalancedMode(1, 0), InvalidArgument);
  BOOST_CHECK_THROW(BalancedMode(1, 1).steps_to(2, {0}), InvalidArgument);
  BOOST_CHECK_THROW(BalancedMode(1, 1).time_to(0.5), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
