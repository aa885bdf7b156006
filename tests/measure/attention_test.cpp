// SPDX-License-Identifier: MIT
#include <incipit/core/random.hpp>
#include <incipit/measure/attention.hpp>

#include <boost/test/unit_test.hpp>
#include <limits>

using namespace incipit;
using measure::AttentionLayout;

namespace {

/// Weights 1/n over the prefix of every query.
Mat<double> averages(Extent sequences, AttentionLayout layout, Extent keys) {
  Mat<double> a = Mat<double>::Zero(sequences * layout.heads * layout.queries, keys);
  for (Extent n = 0; n < a.rows(); ++n) {
    const Extent seen = n % layout.queries + 1 + keys - layout.queries;
    a.row(n).head(seen).setConstant(1 / static_cast<double>(seen));
  }
  return a;
}

/// Random causal weights, each row summing to 1.
Mat<double> random_weights(Extent sequences, AttentionLayout layout, Extent keys) {
  Mat<double> a = averages(sequences, layout, keys);
  const RandomStream stream(5, "weights");
  for (Extent i = 0; i < a.size(); ++i) a.data()[i] *= 0.1 + stream.uniform(static_cast<std::uint64_t>(i));
  for (Extent n = 0; n < a.rows(); ++n) a.row(n) /= a.row(n).sum();
  return a;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(measure_attention)

BOOST_AUTO_TEST_CASE(the_average_of_the_prefix_has_distance_zero_and_entropy_log_n) {
  for (const AttentionLayout layout : {AttentionLayout{2, 5}, AttentionLayout{1, 1}, AttentionLayout{3, 2}}) {
    const Mat<double> a = averages(4, layout, 5);
    const auto distance = measure::prefix_distance(a, layout);
    BOOST_TEST(distance.largest.isZero(0));
    BOOST_TEST(distance.rms.isZero(0));
    const auto entropy = measure::attention_entropy(a, layout);
    for (Extent h = 0; h < layout.heads; ++h)
      for (Extent i = 0; i < layout.queries; ++i) {
        BOOST_TEST(std::abs(entropy.mean(h, i) - std::log(static_cast<double>(i + 6 - layout.queries))) < 1e-15);
        BOOST_TEST(entropy.used(h, i) == 4);
      }
  }
}

BOOST_AUTO_TEST_CASE(a_single_wrong_weight_is_found_at_its_head_and_position) {
  const AttentionLayout layout{2, 3};
  Mat<double> a = averages(2, layout, 3);
  a.row(9 + 2) << 0.5, 0.5, 0;  // sequence 1, head 1, last query
  const auto distance = measure::prefix_distance(a, layout);
  BOOST_TEST(std::abs(distance.largest(1, 2) - 1.0 / 3) < 1e-15);
  const double square = (2.0 / 36 + 1.0 / 9) / 3 / 2;
  BOOST_TEST(std::abs(distance.rms(1, 2) - std::sqrt(square)) < 1e-15);
  BOOST_TEST((distance.largest.array() > 0).count() == 1);
  BOOST_TEST((distance.rms.array() > 0).count() == 1);
}

BOOST_AUTO_TEST_CASE(weight_beyond_the_prefix_counts_as_distance) {
  Mat<double> a = averages(1, {1, 2}, 2);
  a.row(0) << 0.25, 0.75;
  BOOST_TEST(measure::prefix_distance(a, {1, 2}).largest(0, 0) == 0.75);
}

BOOST_AUTO_TEST_CASE(measures_follow_their_definition_for_float_and_double) {
  const AttentionLayout layout{2, 3};
  const Extent sequences = 4, keys = 4;
  const Mat<double> a = random_weights(sequences, layout, keys);
  const auto check = [&](const auto& weights, double tolerance) {
    const auto distance = measure::prefix_distance(weights, layout);
    const auto maps = measure::attention_maps(weights, layout);
    const auto entropy = measure::attention_entropy(weights, layout);
    BOOST_TEST_REQUIRE(maps.size() == 2U);
    for (Extent h = 0; h < 2; ++h)
      for (Extent i = 0; i < 3; ++i) {
        double largest = 0, squares = 0, sum_entropy = 0;
        Row<double> mean = Row<double>::Zero(keys);
        for (Extent b = 0; b < sequences; ++b)
          for (Extent j = 0; j <= i + 1; ++j) {
            const double w = a((b * 2 + h) * 3 + i, j), off = w - 1 / static_cast<double>(i + 2);
            largest = (std::max)(largest, std::abs(off));
            squares += off * off / static_cast<double>(sequences * (i + 2));
            sum_entropy -= w * std::log(w);
            mean(j) += w / static_cast<double>(sequences);
          }
        BOOST_TEST(std::abs(distance.largest(h, i) - largest) < tolerance);
        BOOST_TEST(std::abs(distance.rms(h, i) - std::sqrt(squares)) < tolerance);
        BOOST_TEST(std::abs(entropy.mean(h, i) - sum_entropy / 4) < tolerance);
        BOOST_TEST((maps[static_cast<std::size_t>(h)].row(i) - mean).cwiseAbs().maxCoeff() < tolerance);
      }
  };
  check(a, 1e-14);
  check(Mat<float>(a.cast<float>()), 1e-6);
}

BOOST_AUTO_TEST_CASE(a_query_without_keys_leaves_the_entropy_of_the_others) {
  Mat<double> a = averages(3, {1, 2}, 2);
  a.row(1).setZero();
  const auto entropy = measure::attention_entropy(a, {1, 2});
  BOOST_TEST(entropy.used(0, 1) == 2);
  BOOST_TEST(std::abs(entropy.mean(0, 1) - std::log(2.0)) < 1e-15);
  const auto none = measure::attention_entropy(Mat<double>::Zero(2, 2), {1, 2});
  BOOST_TEST(none.used.isZero(0));
  BOOST_TEST(none.mean.isZero(0));
}

BOOST_AUTO_TEST_CASE(roles_share_the_weight_of_the_last_query) {
  const AttentionLayout layout{2, 3};
  const Mat<double> a = random_weights(2, layout, 3);
  Mat<Id> roles(2, 3);
  roles << 0, 1, 1, 2, 0, 2;
  const auto flow = measure::last_query_by_role(a, layout, roles, 4);
  BOOST_TEST((flow.positions == Row<Extent, 4>(2, 2, 2, 0)));
  for (Extent h = 0; h < 2; ++h) {
    const Row<double> first = a.row(3 * h + 2), second = a.row(6 + 3 * h + 2);
    BOOST_TEST(std::abs(flow.total(h, 0) - (first(0) + second(1)) / 2) < 1e-15);
    BOOST_TEST(std::abs(flow.total(h, 1) - (first(1) + first(2)) / 2) < 1e-15);
    BOOST_TEST(std::abs(flow.total(h, 2) - (second(0) + second(2)) / 2) < 1e-15);
    BOOST_TEST(flow.total(h, 3) == 0);
    BOOST_TEST(flow.each(h, 3) == 0);
    BOOST_TEST(std::abs(flow.total.row(h).sum() - 1) < 1e-15);
    BOOST_TEST(std::abs(flow.each(h, 1) - (first(1) + first(2)) / 2) < 1e-15);
  }
  const auto average = measure::last_query_by_role(averages(2, layout, 3), layout, roles, 3);
  BOOST_TEST((average.each.array() - 1.0 / 3).abs().maxCoeff() < 1e-15);
}

BOOST_AUTO_TEST_CASE(wrong_layouts_roles_and_entries_are_refused_by_name) {
  const auto named = [](std::string_view name) { return [name](const Error& e) { return e.argument() == name; }; };
  Mat<double> a = averages(2, {1, 2}, 2);
  BOOST_CHECK_EXCEPTION(measure::prefix_distance(a, {3, 2}), ShapeError, named("rows of weights"));
  BOOST_CHECK_EXCEPTION(measure::prefix_distance(a, {0, 2}), ShapeError, named("heads"));
  BOOST_CHECK_EXCEPTION(measure::attention_maps(a, {1, 3}), ShapeError, named("queries"));
  BOOST_CHECK_EXCEPTION(measure::attention_maps(Mat<double>(0, 2), {1, 2}), ShapeError, named("rows of weights"));
  BOOST_CHECK_EXCEPTION(measure::last_query_by_role(a, {1, 2}, Mat<Id>::Zero(1, 2), 1), ShapeError,
                        named("rows of roles"));
  BOOST_CHECK_EXCEPTION(measure::last_query_by_role(a, {1, 2}, Mat<Id>::Zero(2, 3), 1), ShapeError,
                        named("columns of roles"));
  BOOST_CHECK_EXCEPTION(measure::last_query_by_role(a, {1, 2}, Mat<Id>::Ones(2, 2), 1), IndexError,
                        named("roles(0,0)"));
  BOOST_CHECK_EXCEPTION(measure::last_query_by_role(a, {1, 2}, Mat<Id>::Zero(2, 2), 0), InvalidArgument,
                        named("kinds"));
  a(3, 1) = -0.5;
  BOOST_CHECK_EXCEPTION(measure::attention_entropy(a, {1, 2}), InvalidArgument, named("weights(3,1)"));
  a(3, 1) = std::numeric_limits<double>::quiet_NaN();
  BOOST_CHECK_EXCEPTION(measure::attention_entropy(a, {1, 2}), NonFiniteError, named("weights(3,1)"));
}

BOOST_AUTO_TEST_SUITE_END()
