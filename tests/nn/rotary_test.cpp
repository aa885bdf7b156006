// SPDX-License-Identifier: MIT
#include <incipit/check/layer.hpp>
#include <incipit/nn/rotary.hpp>

#include <boost/test/unit_test.hpp>

using namespace incipit;
using nn::RotaryPairs;

namespace {

using Rotary = nn::Rotary<double>;
const Rotary::Params none;

Mat<double> turned(const Rotary& layer, const Mat<double>& x) {
  Rotary::Cache cache;
  return layer.forward(none, x, cache);
}
Mat<double> normal(Extent rows, Extent cols, std::string_view name) {
  return check::random_normal<Mat<double>>(rows, cols, RandomStream(5, name));
}
double largest(const Mat<double>& difference) { return difference.cwiseAbs().maxCoeff(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(nn_rotary)

BOOST_AUTO_TEST_CASE(rope_pairing_conventions_u22) {
  Mat<double> x(1, 4), interleaved(1, 4), half_split(1, 4);
  x << 1, 2, 3, 4;
  interleaved << -1.142640, 1.922076, 2.959851, 4.029800;
  half_split << -1.984111, 1.959901, 2.462378, 4.019800;
  Rotary layer;
  layer.first = 1;
  BOOST_CHECK_SMALL(largest(turned(layer, x) - interleaved), 1e-6);
  layer.pairs = RotaryPairs::half_split;
  BOOST_CHECK_SMALL(largest(turned(layer, x) - half_split), 1e-6);
}

BOOST_AUTO_TEST_CASE(rotary_passes_the_battery) {
  check::LayerOptions options;
  options.rows_independent = false;  // a row's position matters
  for (const RotaryPairs pairs : {RotaryPairs::interleaved, RotaryPairs::half_split}) {
    const auto report = check::check_layer(Rotary{3, 2, pairs}, none, normal(6, 8, "x"), options);
    BOOST_CHECK_MESSAGE(report.passed(), report);
    const auto least = check::check_layer(Rotary{1, 1, pairs}, none, normal(2, 2, "least"), options);
    BOOST_CHECK_MESSAGE(least.passed(), least);
  }
}

BOOST_AUTO_TEST_CASE(norms_stay_and_products_depend_on_the_difference_of_positions) {
  const Extent d = 6;
  const Mat<double> q = normal(1, d, "q"), k = normal(1, d, "k");
  for (const RotaryPairs pairs : {RotaryPairs::interleaved, RotaryPairs::half_split}) {
    const auto at = [&](const Mat<double>& x, Extent p) { return turned(Rotary{1, 1, pairs, 10000, p}, x); };
    for (const Extent p : {Extent{0}, Extent{3}, Extent{1000}}) {
      BOOST_CHECK_SMALL(at(q, p).norm() - q.norm(), 1e-12);
      BOOST_CHECK_SMALL((at(q, p + 4) * at(k, p).transpose() - at(q, 4) * k.transpose())(0, 0), 1e-11);
    }
    BOOST_CHECK_GT(std::abs((at(q, 4) * k.transpose() - q * k.transpose())(0, 0)), 1e-3);
  }
}

BOOST_AUTO_TEST_CASE(sequences_heads_and_text_continued) {
  const Mat<double> x = normal(10, 8, "x");
  const Mat<double> whole = turned(Rotary{5, 2}, x);
  for (Extent n = 0; n < 10; ++n)
    for (Extent h = 0; h < 2; ++h)
      BOOST_CHECK_EQUAL(largest(turned(Rotary{1, 1, RotaryPairs::interleaved, 10000, n % 5}, x.block(n, 4 * h, 1, 4)) - whole.block(n, 4 * h, 1, 4)), 0.0);
  Rotary::Cache cache;  // kept turns must follow the settings
  Rotary layer{5, 2};
  layer.forward(none, x, cache);
  layer.length = 2, layer.first = 3;
  BOOST_CHECK_EQUAL(largest(layer.forward(none, x.middleRows(3, 2), cache) - whole.middleRows(3, 2)), 0.0);
  layer.base = 100;
  BOOST_CHECK_EQUAL(largest(layer.forward(none, x, cache) - turned(layer, x)), 0.0);
}

BOOST_AUTO_TEST_CASE(converted_weights_give_the_same_products) {
  const Mat<double> x = normal(4, 5, "stream"), wq = normal(5, 12, "wq"), wk = normal(5, 12, "wk");
  const auto scores = [&](RotaryPairs pairs, const Mat<double>& query, const Mat<double>& key) {
    const Rotary layer{4, 3, pairs};
    const Mat<double> q = turned(layer, x * query), k = turned(layer, x * key);
    Mat<double> all(4, 12);
    for (Extent h = 0; h < 3; ++h) all.middleCols(4 * h, 4) = q.middleCols(4 * h, 4) * k.middleCols(4 * h, 4).transpose();
    return all;
  };
  const auto over = [](const Mat<double>& w) { return nn::convert_rotary_pairs(w, 3, RotaryPairs::interleaved, RotaryPairs::half_split); };
  const Mat<double> right = scores(RotaryPairs::interleaved, wq, wk);
  BOOST_CHECK_SMALL(largest(scores(RotaryPairs::half_split, over(wq), over(wk)) - right), 1e-12);
  BOOST_CHECK_GT(largest(scores(RotaryPairs::half_split, wq, wk) - right), 0.1);
  BOOST_CHECK_EQUAL(largest(nn::convert_rotary_pairs(over(wq), 3, RotaryPairs::half_split, RotaryPairs::interleaved) - wq), 0.0);
  BOOST_CHECK_EQUAL(largest(nn::convert_rotary_pairs(wq, 3, RotaryPairs::half_split, RotaryPairs::half_split) - wq), 0.0);
}

BOOST_AUTO_TEST_CASE(rotary_refuses_what_does_not_pair) {
  const auto refuses = [](const Rotary& layer, Extent rows, Extent cols) {
    BOOST_CHECK_THROW(turned(layer, Mat<double>::Ones(rows, cols)), ShapeError);
  };
  refuses(Rotary{1, 1}, 1, 3);  // odd width
  refuses(Rotary{1, 2}, 1, 6);  // odd width of a head
  refuses(Rotary{1, 0}, 1, 4);
  refuses(Rotary{1, 1}, 1, 0);
  refuses(Rotary{0, 1}, 1, 4);
  refuses(Rotary{3, 1}, 4, 4);
  BOOST_CHECK_THROW(turned(Rotary{1, 1, RotaryPairs::interleaved, 0}, Mat<double>::Ones(1, 2)), InvalidArgument);
  BOOST_CHECK_THROW(turned(Rotary{1, 1, RotaryPairs::interleaved, 10000, -1}, Mat<double>::Ones(1, 2)), InvalidArgument);
  BOOST_CHECK_THROW(nn::convert_rotary_pairs(Mat<double>::Ones(2, 5), 1, RotaryPairs::interleaved, RotaryPairs::half_split), ShapeError);
}

BOOST_AUTO_TEST_SUITE_END()
