// SPDX-License-Identifier: MIT
#include <incipit/core/random.hpp>
#include <incipit/loss/cross_entropy.hpp>
#include <incipit/loss/label_rows.hpp>
#include <incipit/loss/mse.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

using namespace incipit;
using loss::CrossEntropy;
using loss::Reduction;

namespace {

const double inf = std::numeric_limits<double>::infinity();

Mat<double> random_matrix(Extent rows, Extent cols, const char* name) {
  const RandomStream stream(7, name);
  Mat<double> x(rows, cols);
  for (Extent i = 0; i < x.size(); ++i) x.data()[i] = 3 * stream.normal(static_cast<std::uint64_t>(i));
  return x;
}

template <class T>
struct Evaluated {
  loss::LossValue<T> value;
  Mat<T> gradient;
};

template <class T>
Evaluated<T> evaluate(const Mat<T>& logits, std::vector<Id> targets, CrossEntropy<T> loss = {}) {
  Evaluated<T> e{{}, Mat<T>::Constant(logits.rows(), logits.cols(), T(99))};
  e.value = loss(logits, std::span<const Id>(targets), e.gradient);
  return e;
}

// Captures what is written to std::clog while it lives.
struct Listening {
  std::ostringstream heard;
  std::streambuf* before = std::clog.rdbuf(heard.rdbuf());
  ~Listening() { std::clog.rdbuf(before); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(loss_cross_entropy)

BOOST_AUTO_TEST_CASE(all_targets_ignored_u01) {
  const Mat<double> logits = random_matrix(2, 3, "u01");
  for (const auto reduction : {Reduction::mean, Reduction::sum}) {
    const auto none = evaluate<double>(logits, {-100, -100}, {reduction, -100});
    BOOST_CHECK_EQUAL(none.value.loss, 0.0);
    BOOST_CHECK_EQUAL(none.value.count, 0);
    BOOST_CHECK_EQUAL(none.gradient.cwiseAbs().maxCoeff(), 0.0);
    const auto one = evaluate<double>(logits, {-100, 2}, {reduction, -100});
    const auto alone = evaluate<double>(Mat<double>(logits.row(1)), {2}, {reduction, -100});
    BOOST_CHECK_EQUAL(one.value.loss, alone.value.loss);
    BOOST_CHECK_EQUAL(one.value.count, 1);
    BOOST_CHECK_EQUAL(one.gradient.row(0).cwiseAbs().maxCoeff(), 0.0);
    BOOST_CHECK_EQUAL((one.gradient.row(1) - alone.gradient).cwiseAbs().maxCoeff(), 0.0);
  }
}

BOOST_AUTO_TEST_CASE(stray_targets_are_refused_u02) {
  const Mat<double> logits = Mat<double>::Zero(3, 5);
  for (const auto reduction : {Reduction::mean, Reduction::sum}) {
    for (const Id stray : {-4, 5, 255, -2147483647}) {
      try {
        evaluate<double>(logits, {1, 2, stray}, {reduction, -1});
        BOOST_ERROR("accepted " << stray);
      } catch (const IndexError& error) {
        BOOST_CHECK_EQUAL(error.argument(), "targets[2]");
        BOOST_CHECK_EQUAL(error.value(), std::to_string(stray));
      }
    }
    BOOST_CHECK_EQUAL(evaluate<double>(logits, {1, -1, 4}, {reduction, -1}).value.count, 2);
    BOOST_CHECK_THROW(evaluate<double>(logits, {1, -1, 4}, {reduction, std::nullopt}), IndexError);
  }
  BOOST_CHECK_EQUAL(evaluate<double>(logits, {1, 255, 4}, {Reduction::sum, 255}).value.count, 2);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(extreme_logits_u04, T, decltype(std::tuple<float, double>{})) {
  Mat<T> logits(1, 3);
  logits << T(-431), T(279), T(427);
  const auto e = evaluate<T>(logits, {0});
  BOOST_CHECK_SMALL(double(e.value.loss) - 858, 1e-6);
  Mat<T> want(1, 3);
  want << T(-1), T(0), T(1);
  BOOST_CHECK_SMALL(double((e.gradient - want).cwiseAbs().maxCoeff()), 1e-6);
  logits << T(1e4), T(-1e4), T(0);
  BOOST_CHECK_EQUAL(double(evaluate<T>(logits, {1}).value.loss), 20000.0);
}

BOOST_AUTO_TEST_CASE(underflowed_probability_keeps_its_loss_and_gradient_u05) {
  Mat<float> logits(1, 2);
  logits << 0.0F, -200.0F;
  const auto e = evaluate<float>(logits, {1});
  BOOST_CHECK_EQUAL(e.value.loss, 200.0F);
  BOOST_CHECK_EQUAL(e.gradient(0, 0), 1.0F);
  BOOST_CHECK_EQUAL(e.gradient(0, 1), -1.0F);
}

BOOST_AUTO_TEST_CASE(uniform_logits_cost_the_log_of_the_classes_u55) {
  for (const Extent rows : {Extent(1), Extent(9), Extent(50)}) {
    const Mat<double> logits = Mat<double>::Constant(rows, 117, -2.5);
    const auto e = evaluate<double>(logits, std::vector<Id>(static_cast<std::size_t>(rows), 3));
    BOOST_CHECK_SMALL(e.value.loss - 4.762174, 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(probabilities_instead_of_logits_are_noticed_once_u55) {
  const Mat<double> p = Mat<double>::Constant(4, 8, 0.125);
  BOOST_CHECK(loss::looks_like_probabilities<double>(p));
  BOOST_CHECK(!loss::looks_like_probabilities<double>(random_matrix(4, 8, "u55")));
  BOOST_CHECK(!loss::looks_like_probabilities<double>(Mat<double>::Zero(4, 8)));
  Listening clog;
  for (int i = 0; i < 3; ++i) evaluate<double>(p, {0, 1, 2, 3}, {.warn_about_probabilities = true});
  const std::string heard = clog.heard.str();
  BOOST_CHECK(heard.find("probabilities") != std::string::npos);
  BOOST_CHECK_EQUAL(heard.find("incipit"), heard.rfind("incipit"));
}

BOOST_AUTO_TEST_CASE(gradient_is_the_derivative_and_its_rows_sum_to_zero) {
  Mat<double> logits = random_matrix(5, 17, "gradient");
  const std::vector<Id> targets{0, 16, 3, 3, 9};
  const auto e = evaluate<double>(logits, targets);
  BOOST_CHECK_SMALL(e.gradient.rowwise().sum().cwiseAbs().maxCoeff(), 1e-15);
  const double h = 1e-5;
  for (Extent i = 0; i < logits.size(); ++i) {
    const double z = logits.data()[i];
    logits.data()[i] = z + h;
    const double up = evaluate<double>(logits, targets).value.loss;
    logits.data()[i] = z - h;
    const double down = evaluate<double>(logits, targets).value.loss;
    logits.data()[i] = z;
    BOOST_CHECK_SMALL((up - down) / (2 * h) - e.gradient.data()[i], 1e-9);
  }
}

BOOST_AUTO_TEST_CASE(soft_labels_generalise_one_hot_and_mix_linearly) {
  const Mat<double> logits = random_matrix(3, 6, "soft");
  Mat<double> labels = Mat<double>::Zero(3, 6), gradient(3, 6);
  labels(0, 2) = labels(1, 0) = labels(2, 5) = 1;
  const auto hard = evaluate<double>(logits, {2, 0, 5});
  const auto soft = CrossEntropy<double>{}(logits, labels, gradient);
  BOOST_CHECK_SMALL(soft.loss - hard.value.loss, 1e-15);
  BOOST_CHECK_SMALL((gradient - hard.gradient).cwiseAbs().maxCoeff(), 1e-16);
  labels = (random_matrix(3, 6, "labels").array().abs() * 0.1).matrix();  // masses that do not sum to 1
  const auto mixed = CrossEntropy<double>{Reduction::sum}(logits, labels, gradient);
  double want = 0;
  for (Extent n = 0; n < 3; ++n)
    for (Extent k = 0; k < 6; ++k)
      want += labels(n, k) * (std::log(logits.row(n).array().exp().sum()) - logits(n, k));
  BOOST_CHECK_CLOSE_FRACTION(mixed.loss, want, 1e-14);
  BOOST_CHECK_SMALL(gradient.rowwise().sum().cwiseAbs().maxCoeff(), 1e-14);
  labels(1, 1) = -0.1;
  BOOST_CHECK_THROW(CrossEntropy<double>{}(logits, labels, gradient), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(masked_classes_may_be_minus_infinity_but_not_the_target) {
  Mat<double> logits(1, 3);
  logits << -inf, 0, 0;
  const auto e = evaluate<double>(logits, {1});
  BOOST_CHECK_CLOSE_FRACTION(e.value.loss, std::log(2.0), 1e-15);
  BOOST_CHECK_EQUAL(e.gradient(0, 0), 0.0);
  BOOST_CHECK_THROW(evaluate<double>(logits, {0}), NonFiniteError);
  logits << inf, 0, 0;
  BOOST_CHECK_THROW(evaluate<double>(logits, {1}), NonFiniteError);
  logits << std::numeric_limits<double>::quiet_NaN(), 0, 0;
  BOOST_CHECK_THROW(evaluate<double>(logits, {1}), NonFiniteError);
  Mat<double> soft(1, 3), gradient(1, 3);
  soft << 0, 0.5, 0.5;
  logits << -inf, 0, 0;
  BOOST_CHECK_CLOSE_FRACTION(CrossEntropy<double>{}(logits, soft, gradient).loss, std::log(2.0), 1e-15);
}

BOOST_AUTO_TEST_CASE(gradient_may_overwrite_the_logits_u43) {
  Mat<double> logits = random_matrix(4, 9, "alias");
  const auto apart = evaluate<double>(logits, {0, 8, 4, 4});
  const std::vector<Id> targets{0, 8, 4, 4};
  const auto value = CrossEntropy<double>{}(logits, std::span<const Id>(targets), logits);
  BOOST_CHECK_EQUAL(value.loss, apart.value.loss);
  BOOST_CHECK_EQUAL((logits - apart.gradient).cwiseAbs().maxCoeff(), 0.0);
}

BOOST_AUTO_TEST_CASE(shapes_that_do_not_fit_are_refused) {
  Mat<double> logits = Mat<double>::Zero(2, 3), gradient(2, 3), narrow(2, 2);
  const std::vector<Id> two{0, 1}, three{0, 1, 2};
  const CrossEntropy<double> ce;
  BOOST_CHECK_THROW(ce(logits, std::span<const Id>(three), gradient), ShapeError);
  BOOST_CHECK_THROW(ce(logits, std::span<const Id>(two), narrow), ShapeError);
  Mat<double> empty(2, 0);
  BOOST_CHECK_THROW(ce(empty, std::span<const Id>(two), empty), ShapeError);
  Mat<double> nothing(0, 3);
  BOOST_CHECK_EQUAL(ce(nothing, std::span<const Id>(), nothing).loss, 0.0);
}

BOOST_AUTO_TEST_CASE(label_rows_check_their_offsets_and_labels) {
  const std::vector<Id> labels{0, 1, 4};
  const std::vector<double> masses{0.5, 0.25, 0.25};
  const std::vector<std::size_t> good{0, 2, 3}, falling{0, 3, 2}, open{0, 2};
  const loss::LabelRows<double> rows(good, labels, masses);
  BOOST_CHECK_EQUAL(rows.rows(), 2);
  BOOST_CHECK_NO_THROW(rows.require_labels(5));
  BOOST_CHECK_THROW(rows.require_labels(4), IndexError);
  BOOST_CHECK_THROW(loss::LabelRows<double>(falling, labels, masses), ShapeError);
  BOOST_CHECK_THROW(loss::LabelRows<double>(open, labels, masses), ShapeError);
  const loss::LabelRows<double> mean{std::span<const Id>(labels)};
  BOOST_CHECK_CLOSE_FRACTION(mean.mass(2), 1.0 / 3, 1e-15);
}

BOOST_AUTO_TEST_CASE(squared_error_value_gradient_and_refusals) {
  Mat<double> y(1, 2), target(1, 2), dy(1, 2);
  y << 1, 3;
  target << 0, 1;
  BOOST_CHECK_EQUAL(loss::SquaredError<double>{}(y, target, dy).loss, 2.5);
  BOOST_CHECK_EQUAL(dy(0, 1), 2.0);
  BOOST_CHECK_EQUAL(loss::SquaredError<double>{Reduction::sum}(y, target, y).loss, 5.0);
  BOOST_CHECK_EQUAL(y(0, 1), 4.0);
  Mat<double> other(2, 2);
  BOOST_CHECK_THROW(loss::SquaredError<double>{}(other, target, other), ShapeError);
}

BOOST_AUTO_TEST_SUITE_END()
