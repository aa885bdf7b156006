// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/check/law.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace {
using namespace incipit;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Decay x' = -x, exactly.
Row<double> decay(const Row<double>& x, double t) { return x * std::exp(-t); }
bool holds(const check::Laws& laws) { return laws.passed(); }
}  // namespace

BOOST_AUTO_TEST_SUITE(check_law)

BOOST_AUTO_TEST_CASE(laws_of_a_right_flow_hold) {
  Row<double> x(3);
  x << 1, -2, 3;
  std::vector<double> sizes, conserved;
  for (int i = 0; i < 10; ++i) {
    sizes.push_back(decay(x, 0.1 * i).norm());
    conserved.push_back(decay(x, 0.1 * i)(0) / decay(x, 0.1 * i)(1));
  }
  check::Laws laws;
  laws.identity_at_zero("t = 0", decay, x)
      .restart("restart", decay, x, 0.3, 0.7, 1e-15)
      .conserved("ratio", conserved, 1e-15)
      .monotone("size falls", sizes, check::Direction::falling)
      .symmetric("x x^T", Mat<double>(x.transpose() * x), 0)
      .invariant(
          "norm under reversal", [](const Row<double>& v) { return v.squaredNorm(); },
          [](const Row<double>& v) -> Row<double> { return v.reverse(); }, x, 1e-15)
      .equal("same", x, x, 0)
      .equal_within("half", 0.5, 0.5 + 1e-12, 1e-11);
  BOOST_CHECK_MESSAGE(laws.passed(), laws);
  BOOST_TEST(laws.report().rows.size() == 8U);
}

BOOST_AUTO_TEST_CASE(each_broken_law_fails) {
  const auto shifted = [](const Row<double>& x, double t) -> Row<double> { return x.array() * std::exp(-t) + 1e-3; };
  const auto quadratic = [](const Row<double>& x, double t) -> Row<double> { return x * std::exp(-t * t); };
  const Row<double> x = Row<double>::Ones(3);
  Mat<double> skew = Mat<double>::Identity(2, 2);
  skew(0, 1) = 1e-3;
  BOOST_TEST(!holds(check::Laws().identity_at_zero("t = 0", shifted, x)));
  BOOST_TEST(holds(check::Laws().identity_at_zero("t = 0", quadratic, x)));
  BOOST_TEST(!holds(check::Laws().restart("restart", quadratic, x, 0.3, 0.7, 1e-3)));
  BOOST_TEST(!holds(check::Laws().conserved("drift", std::vector<double>{1, 1, 1.01}, 1e-3)));
  BOOST_TEST(!holds(check::Laws().symmetric("skew", skew, 1e-4)));
  BOOST_TEST(!holds(check::Laws().monotone("falls", {3, 2, 2.1, 1}, check::Direction::falling)));
  BOOST_TEST(holds(check::Laws().monotone("falls", {3, 2, 2.1, 1}, check::Direction::falling, 0.11)));
  BOOST_TEST(!holds(check::Laws().monotone("rises", {1, 2, 1.5}, check::Direction::rising)));
  BOOST_TEST(!holds(check::Laws().equal("relative", 1e-9, 2e-9, 0.4)));
  BOOST_TEST(!holds(check::Laws().equal("shape", Mat<double>(x), Mat<double>(x.transpose()), 1)));
}

BOOST_AUTO_TEST_CASE(nan_fails_every_law_and_no_law_is_no_evidence) {
  const auto broken = [](double, double) { return not_a_number; };
  BOOST_TEST(!holds(check::Laws().equal("a", not_a_number, not_a_number, 1e9)));
  BOOST_TEST(!holds(check::Laws().conserved("b", std::vector<double>{1, not_a_number, 1}, 1e9)));
  BOOST_TEST(!holds(check::Laws().monotone("c", {1, not_a_number, 0.5}, check::Direction::falling, 1e9)));
  BOOST_TEST(!holds(check::Laws().identity_at_zero("d", broken, 1.0, 1e9)));
  BOOST_TEST(!holds(check::Laws().symmetric("e", Mat<double>(Mat<double>::Constant(2, 2, not_a_number)), 1e9)));
  BOOST_TEST(!holds(check::Laws()));
}

BOOST_AUTO_TEST_CASE(one_failing_law_fails_the_report) {
  check::Laws laws;
  laws.equal("right", 1.0, 1.0, 0).equal("wrong", 1.0, 2.0, 0.1).equal("right again", 1.0, 1.0, 0);
  BOOST_TEST(!laws.passed());
  BOOST_TEST(laws.report().at("wrong").value == 0.5);
  BOOST_TEST(laws.report().count(check::Verdict::pass) == 2U);
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_refused) {
  BOOST_CHECK_THROW(check::Laws().conserved("one point", std::vector<double>{1}, 0), InvalidArgument);
  BOOST_CHECK_THROW(check::Laws().symmetric("oblong", Mat<double>(Mat<double>::Zero(2, 3)), 0), ShapeError);
  BOOST_CHECK_THROW(check::Laws().restart("t < 0", decay, Row<double>(Row<double>::Ones(2)), -1, 1, 0),
                    InvalidArgument);
  BOOST_CHECK_THROW(check::Laws().add("bound", 0, -1), InvalidArgument);
  BOOST_CHECK_THROW(check::Laws().add("bound", 0, not_a_number), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
