// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/core/matrix.hpp>
#include <incipit/core/ode.hpp>

using namespace incipit;

namespace {
/// y1' = y2 cos t, y2' = -y1 cos t from (0, 1): (sin, cos) of sin t.
void turning(double t, const Row<double>& y, Row<double>& dy) {
  dy(0) = y(1) * std::cos(t);
  dy(1) = -y(0) * std::cos(t);
}
Row<double> start() { return Row<double, 2>(0, 1); }
double error_at(double t, const Row<double>& y) {
  return (y - Row<double, 2>(std::sin(std::sin(t)), std::cos(std::sin(t)))).norm();
}
/// Least order seen when steps halve repeatedly.
template <class Integrate>
double order(Integrate integrate, Extent steps) {
  double least = 100;
  for (int k = 0; k < 3; ++k, steps *= 2) least = (std::min)(least, std::log2(integrate(steps) / integrate(2 * steps)));
  return least;
}
}  // namespace

BOOST_AUTO_TEST_SUITE(core_ode)

BOOST_AUTO_TEST_CASE(euler_has_order_1) {
  const double p = order(
      [](Extent steps) {
        Row<double> y = start();
        euler(turning, y, 0.3, 2.3, steps);
        return (y -
                [] {
                  Row<double> fine = start();
                  rk4(turning, fine, 0.3, 2.3, 4000);
                  return fine;
                }())
            .norm();
      },
      100);
  BOOST_TEST(std::abs(p - 1) < 0.05);
}

BOOST_AUTO_TEST_CASE(runge_kutta_has_order_4) {
  const double p = order(
      [](Extent steps) {
        Row<double> y = start();
        rk4(turning, y, 0, 2, steps);
        return error_at(2, y);
      },
      20);
  BOOST_TEST(std::abs(p - 4) < 0.15);
}

BOOST_AUTO_TEST_CASE(dormand_prince_has_order_5) {
  const double p = order(
      [](Extent steps) {
        Row<double> y = start();
        const double h = 2.0 / static_cast<double>(steps);
        const auto report = dormand_prince(turning, y, 0, 2, {.rtol = 0, .atol = 1e6, .first_step = h, .max_step = h});
        BOOST_TEST(report.accepted == steps);
        BOOST_TEST(report.evaluations == 6 * steps + 1);
        return error_at(2, y);
      },
      10);
  BOOST_TEST(std::abs(p - 5) < 0.25);
}

BOOST_AUTO_TEST_CASE(tighter_tolerances_give_smaller_errors_at_all_requested_times) {
  const std::vector<double> times = {0, 0.1, 1, 1.0001, 7, 20};
  double previous = 1;
  for (const double rtol : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
    Row<double> y = start();
    double worst = 0;
    std::vector<double> seen;
    dormand_prince(turning, y, std::span<const double>(times),
                   [&](std::size_t k, double t, const Row<double>& at) {
                     BOOST_TEST(k == seen.size());
                     seen.push_back(t);
                     worst = (std::max)(worst, error_at(t, at));
                   },
                   {.rtol = rtol, .atol = rtol});
    BOOST_TEST((seen == times));
    BOOST_TEST(worst < 40 * rtol);
    BOOST_TEST(worst < previous);
    previous = worst;
  }
}

BOOST_AUTO_TEST_CASE(integration_runs_backwards_and_over_any_eigen_type) {
  Row<double> y = start();
  dormand_prince(turning, y, 0, 3, {.rtol = 1e-10, .atol = 1e-12});
  dormand_prince(turning, y, 3, 0, {.rtol = 1e-10, .atol = 1e-12});
  BOOST_TEST((y - start()).norm() < 1e-8);
  const auto decay = [](double, const Mat<float>& x, Mat<float>& dx) { dx = -x; };
  Mat<float> w = Mat<float>::Constant(2, 3, 2);
  dormand_prince(decay, w, 0, 1, {.rtol = 1e-5, .atol = 1e-6});
  BOOST_TEST((w.array() - 2 * std::exp(-1.0f)).abs().maxCoeff() < 1e-4f);
  Col<double, 1> c(1.0);
  rk4([](double, const Col<double, 1>& x, Col<double, 1>& dx) { dx = x; }, c, 0, 1, 200);
  BOOST_TEST(c(0) == std::exp(1.0), boost::test_tools::tolerance(1e-10));
}

BOOST_AUTO_TEST_CASE(stiffness_uses_up_the_steps_and_says_so) {
  const auto stiff = [](double t, const Row<double>& y, Row<double>& dy) {
    dy = (-1e6 * (y.array() - std::cos(t))).matrix();
  };
  Row<double> y = Row<double>::Zero(1);
  BOOST_CHECK_EXCEPTION(dormand_prince(stiff, y, 0, 10, {.max_steps = 1000}), OdeError,
                        [](const Error& e) { return e.argument() == "steps of dormand_prince"; });
}

BOOST_AUTO_TEST_CASE(a_solution_that_blows_up_or_turns_nan_is_an_error) {
  const auto explosive = [](double, const Row<double>& y, Row<double>& dy) { dy = y.array().square().matrix(); };
  Row<double> y = Row<double>::Ones(1);
  BOOST_CHECK_THROW(dormand_prince(explosive, y, 0, 2), OdeError);
  const auto broken = [](double t, const Row<double>& x, Row<double>& dx) { dx = x * std::sqrt(0.5 - t); };
  Row<double> z = Row<double>::Ones(1);
  BOOST_CHECK_THROW(dormand_prince(broken, z, 0, 1), OdeError);
}

BOOST_AUTO_TEST_CASE(wrong_settings_are_refused_and_an_empty_interval_does_nothing) {
  Row<double> y = start();
  BOOST_CHECK_THROW(euler(turning, y, 0, 1, 0), InvalidArgument);
  BOOST_CHECK_THROW(rk4(turning, y, 0, 1, -1), InvalidArgument);
  BOOST_CHECK_THROW(dormand_prince(turning, y, 0, 1, {.rtol = -1}), InvalidArgument);
  BOOST_CHECK_THROW(dormand_prince(turning, y, 0, 1, {.atol = 0}), InvalidArgument);
  BOOST_CHECK_THROW(dormand_prince(turning, y, 0, 1, {.max_steps = 0}), InvalidArgument);
  const std::vector<double> times = {0, 1, 1};
  BOOST_CHECK_THROW(
      dormand_prince(turning, y, std::span<const double>(times), [](std::size_t, double, const Row<double>&) {}),
      InvalidArgument);
  const auto untouched = dormand_prince(turning, y, 1, 1);
  BOOST_TEST(untouched.evaluations == 0);
  BOOST_TEST((y == start()));
}

BOOST_AUTO_TEST_SUITE_END()
