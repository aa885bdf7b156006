// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/theory/arcsine_law.hpp>
#include <incipit/theory/label_law.hpp>
#include <theory/simulation.hpp>

using namespace incipit;
using namespace incipit::theory;

namespace {

const data::Examples& population() {
  static const data::Examples all =
      test::whole_population(test::small_task(), data::MemoryMap(test::small_task(), RandomStream(1, "mapping")));
  return all;
}
// Rows of C of the eight anchors.
Mat<double> anchor_rows() { return test::counted_correlation(population()).middleRows(1, 8); }

double rms_off_diagonal(const Mat<double>& a) {
  double sum = 0;
  for (Extent s = 0; s < a.rows(); ++s)
    for (Extent t = 0; t < a.cols(); ++t)
      if (s != t) sum += a(s, t) * a(s, t);
  return std::sqrt(sum / static_cast<double>(a.rows() * (a.rows() - 1)));
}

// Cosines of the anchors' displacements after a few steps of Adam, written out.
Mat<double> adam_cosines(test::Weights w, double eps, int steps) {
  const double rate = 1e-6, b1 = 0.9, b2 = 0.999;
  const Mat<double> start = w.embedding;
  Mat<double>* matrices[] = {&w.embedding, &w.hidden, &w.output};
  Mat<double> first[3], second[3];
  for (int k = 0; k < 3; ++k) first[k] = second[k] = Mat<double>::Zero(matrices[k]->rows(), matrices[k]->cols());
  for (int step = 1; step <= steps; ++step) {
    const test::Weights down = test::descend(population(), w, test::tanh_curve).down;
    const Mat<double>* downs[] = {&down.embedding, &down.hidden, &down.output};
    for (int k = 0; k < 3; ++k)
      for (Extent i = 0; i < matrices[k]->size(); ++i) {
        double &m = first[k].data()[i], &v = second[k].data()[i];
        const double g = downs[k]->data()[i];
        m = b1 * m + (1 - b1) * g;
        v = b2 * v + (1 - b2) * g * g;
        matrices[k]->data()[i] +=
            rate * (m / (1 - std::pow(b1, step))) / (std::sqrt(v / (1 - std::pow(b2, step))) + eps);
      }
  }
  Mat<double> moved = (w.embedding - start).middleRows(1, 8);
  moved.rowwise().normalize();
  return moved * moved.transpose();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(theory_arcsine_law)

BOOST_AUTO_TEST_CASE(first_steps_of_adam_follow_the_arcsine_and_not_the_plain_cosine) {
  const Extent m = 100, f = 160;
  double arcsine = 0, plain = 0;
  const int draws = 4;
  for (int draw = 1; draw <= draws; ++draw) {
    const test::Weights w = test::draw(population().vocab, m, f, 1.0, static_cast<std::uint64_t>(draw));
    const ArcsineLaw law(anchor_rows(), w.hidden, w.output);
    BOOST_TEST(all_hold(law.assumptions(1e-30)));
    const Mat<double> moved = adam_cosines(w, 1e-30, 3);
    BOOST_TEST(rms_off_diagonal(moved - law.cosines()) < law.bound());
    BOOST_TEST(rms_off_diagonal(moved - law.wide_cosines()) < law.bound());
    BOOST_TEST(rms_off_diagonal(moved - law.sign_cosines()) < 0.02);  // given both matrices the law is exact
    arcsine += std::pow(rms_off_diagonal(moved - law.cosines()), 2) / draws;
    plain += std::pow(rms_off_diagonal(moved - law.plain_cosines()), 2) / draws;
  }
  BOOST_TEST(2 * std::sqrt(arcsine) < std::sqrt(plain));
}

BOOST_AUTO_TEST_CASE(sign_cosines_scatter_around_the_law_as_stated) {
  const Extent m = 60, f = 20;
  const test::Weights fixed = test::draw(population().vocab, m, f, 0.5, 1);
  Mat<double> sum = Mat<double>::Zero(8, 8), squares = sum, law, deviation;
  const int draws = 400;
  for (int draw = 0; draw < draws; ++draw) {
    const ArcsineLaw one(anchor_rows(),
                         test::draw(population().vocab, m, f, 0.5, static_cast<std::uint64_t>(draw + 10)).hidden,
                         fixed.output);
    sum += one.sign_cosines();
    squares += one.sign_cosines().cwiseAbs2();
    law = one.cosines();
    deviation = one.deviation();
  }
  const Mat<double> mean = sum / draws;
  for (Extent s = 0; s < 8; ++s)
    for (Extent t = 0; t < s; ++t) {
      BOOST_TEST(std::abs(mean(s, t) - law(s, t)) < 4.5 * deviation(s, t) / std::sqrt(double{draws}));
      const double spread = std::sqrt(squares(s, t) / draws - mean(s, t) * mean(s, t));
      BOOST_TEST(std::abs(spread / deviation(s, t) - 1) < 0.2);
    }
}

BOOST_AUTO_TEST_CASE(rms_error_falls_like_the_square_root_of_the_widths) {
  const auto error = [](Extent m, Extent f) {
    double sum = 0, expected = 0;
    for (std::uint64_t draw = 1; draw <= 20; ++draw) {
      const test::Weights w = test::draw(population().vocab, m, f, 0.5, draw);
      const ArcsineLaw law(anchor_rows(), w.hidden, w.output);
      sum += std::pow(rms_off_diagonal(law.sign_cosines() - law.wide_cosines()), 2);
      expected += std::pow(rms_off_diagonal(law.wide_deviation()), 2);
    }
    return std::pair{std::sqrt(sum / 20), std::sqrt(expected / 20)};
  };
  const auto [narrow, narrow_law] = error(40, 40);
  const auto [wide, wide_law] = error(640, 640);
  BOOST_TEST(std::abs(narrow / narrow_law - 1) < 0.2);
  BOOST_TEST(std::abs(wide / wide_law - 1) < 0.2);
  BOOST_TEST(std::abs(std::log(narrow / wide) / std::log(4.0) - 1) < 0.15);
}

BOOST_AUTO_TEST_CASE(law_is_symmetric_one_with_itself_and_tends_to_the_data_law_for_wide_f) {
  const test::Weights w = test::draw(population().vocab, 4, 4000, 0.5, 1);
  const ArcsineLaw law(anchor_rows(), w.hidden, w.output);
  BOOST_TEST((law.cosines() - law.cosines().transpose()).norm() < 1e-12);
  BOOST_TEST((law.cosines().diagonal().array() - 1).abs().maxCoeff() < 1e-7);  // arcsine is steep at 1
  BOOST_TEST(rms_off_diagonal(law.cosines() - law.wide_cosines()) < 3 / std::sqrt(4000.0));
  const Mat<double> data = label_cosines(reasoning_label_law(test::small_task()));
  BOOST_TEST((law.wide_plain_cosines().bottomRightCorner(4, 4) - data).cwiseAbs().maxCoeff() < 1e-12);
  BOOST_TEST(law.bound() == 2 * std::sqrt(0.25 + 1 / 4000.0));
}

BOOST_AUTO_TEST_CASE(eps_that_is_not_far_below_the_gradients_is_reported_and_does_break_the_law) {
  const test::Weights w = test::draw(population().vocab, 100, 160, 2.0, 1);
  const ArcsineLaw law(anchor_rows(), w.hidden, w.output);
  const auto broken = first_broken(law.assumptions(1e-8));
  BOOST_REQUIRE(broken.has_value());
  BOOST_TEST(broken->value > 0.01);
  const Mat<double> moved = adam_cosines(w, 1e-3, 1);  // eps rules: Adam becomes gradient descent
  BOOST_TEST(rms_off_diagonal(moved - law.cosines()) > rms_off_diagonal(moved - law.plain_cosines()));
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_refused_by_name) {
  const test::Weights w = test::draw(population().vocab, 5, 6, 1.0, 1);
  BOOST_CHECK_THROW(ArcsineLaw(anchor_rows(), w.output, w.hidden), ShapeError);
  Mat<double> rows = anchor_rows();
  rows.row(2).setZero();
  BOOST_CHECK_THROW(ArcsineLaw(rows, w.hidden, w.output), InvalidArgument);
  BOOST_CHECK_THROW(ArcsineLaw(anchor_rows(), w.hidden, w.output).assumptions(-1), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
