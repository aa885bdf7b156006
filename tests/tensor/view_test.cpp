// SPDX-License-Identifier: MIT
#include <incipit/io/npy.hpp>
#include <incipit/measure/trajectory.hpp>
#include <incipit/tensor/view.hpp>

#include <boost/test/unit_test.hpp>
#include <concepts>
#include <limits>

using namespace incipit;
using tensor::Array;

namespace {

Array<double, 3> counted() {
  Array<double, 3> x(std::array<std::size_t, 3>{2, 3, 4});
  std::iota(x.data(), x.data() + x.size(), 0.0);
  return x;
}

/// As a user would write a helper: the operands die with it, the result does not.
template <class E>
tensor::DynamicArray<double> helper(const E& e) {
  const Array<double, 1> shift{0.5};
  return tensor::log_sum_exp(e + shift - 0.5);
}

template <class A>
concept CanBeViewed = requires(A&& a) {
  tensor::as_matrix(std::forward<A>(a));
};
static_assert(CanBeViewed<Array<double, 3>&> && CanBeViewed<const Array<double, 3>&>);
static_assert(!CanBeViewed<Array<double, 3>>, "a view of a temporary would dangle");

const double infinity = std::numeric_limits<double>::infinity();

}  // namespace

BOOST_AUTO_TEST_SUITE(tensor_view)

BOOST_AUTO_TEST_CASE(matrix_view_flattens_leading_dimensions_and_shares_memory) {
  Array<double, 3> x = counted();
  auto view = tensor::as_matrix(x);
  BOOST_TEST(view.rows() == 6);
  BOOST_TEST(view.cols() == 4);
  BOOST_TEST(view.data() == x.data());
  BOOST_TEST(view(4, 1) == x(1, 1, 1));
  view(5, 3) = -1;
  BOOST_TEST(x(1, 2, 3) == -1);
  const Array<float, 1> v{1, 2, 3};
  BOOST_TEST(tensor::as_matrix(v).rows() == 1);
  BOOST_TEST(tensor::as_matrix(v).cols() == 3);
  const Array<double, 0> number(7.0);
  BOOST_TEST(tensor::as_matrix(number)(0, 0) == 7);
  const Array<double, 3> empty(std::array<std::size_t, 3>{2, 0, 4});
  BOOST_TEST(tensor::as_matrix(empty).rows() == 0);
  BOOST_TEST(tensor::as_matrix(empty).cols() == 4);
}

BOOST_AUTO_TEST_CASE(tensor_view_of_a_matrix_shares_memory_and_checks_its_shape) {
  Mat<double> m(6, 4);
  std::iota(m.data(), m.data() + m.size(), 0.0);
  auto t = tensor::as_tensor(m, std::array<std::size_t, 3>{2, 3, 4});
  BOOST_TEST(t(1, 0, 2) == 14);
  t(1, 0, 2) = -3;
  BOOST_TEST(m(3, 2) == -3);
  const Mat<double>& read_only = m;
  BOOST_TEST(tensor::as_tensor(read_only, std::array<std::size_t, 1>{24}).data() == m.data());
  BOOST_CHECK_THROW(tensor::as_tensor(m, std::array<std::size_t, 2>{5, 4}), ShapeError);
}

BOOST_AUTO_TEST_CASE(functions_of_rows_take_rank_three_and_keep_leading_dimensions) {
  const auto halves = [](const auto& rows) { return Mat<double>(rows.leftCols(2) * 0.5); };
  const Array<double, 3> x = counted(), y = tensor::map_rows(x, halves);
  BOOST_TEST(y.shape()[0] == 2U);
  BOOST_TEST(y.shape()[1] == 3U);
  BOOST_TEST(y.shape()[2] == 2U);
  for (std::size_t a = 0; a < 2; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t c = 0; c < 2; ++c) BOOST_TEST(y(a, b, c) == x(a, b, c) / 2);
  BOOST_CHECK_THROW(tensor::map_rows(x, [](const auto& rows) { return Mat<double>(rows.topRows(2)); }), ShapeError);
}

BOOST_AUTO_TEST_CASE(log_sum_exp_of_containers_temporaries_and_expressions_u61) {
  const Array<double, 1> e{-0.042808, -0.042504, -0.043407, -0.047227};
  const double want = 1.3423097;
  BOOST_TEST(std::abs(tensor::log_sum_exp(e)() - want) < 1e-7);
  BOOST_TEST(std::abs(tensor::log_sum_exp(e + 0.0)() - want) < 1e-7);
  BOOST_TEST(std::abs(tensor::log_sum_exp(Array<double, 1>(e))() - want) < 1e-7);
  const auto kept = helper(e);  // `auto` must hold numbers, not references to what died in the helper
  BOOST_TEST(std::abs(kept() - want) < 1e-7);
  const auto probabilities = tensor::softmax(Array<double, 1>(e) * 1.0);
  BOOST_TEST(std::abs(probabilities(0) - std::exp(-0.042808 - want)) < 1e-7);
  static_assert(std::same_as<std::remove_cv_t<decltype(kept)>, tensor::DynamicArray<double>>);
  static_assert(std::same_as<std::remove_cv_t<decltype(probabilities)>, tensor::DynamicArray<double>>);
}

BOOST_AUTO_TEST_CASE(last_axis_functions_keep_leading_dimensions_and_agree_with_rows_u61) {
  const Array<double, 3> x = counted();
  const auto sums = tensor::log_sum_exp(x);
  const auto p = tensor::softmax(x);
  BOOST_TEST_REQUIRE(sums.dimension() == 2U);
  BOOST_TEST_REQUIRE(p.dimension() == 3U);
  for (std::size_t a = 0; a < 2; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      double sum = 0;
      for (std::size_t c = 0; c < 4; ++c) {
        sum += p(a, b, c);
        BOOST_TEST(std::abs(std::log(p(a, b, c)) - (x(a, b, c) - sums(a, b))) < 1e-14);
      }
      BOOST_TEST(std::abs(sum - 1) < 1e-15);
    }
  const Array<double, 2> masked{{-infinity, -infinity}, {0, -infinity}};
  BOOST_TEST(tensor::log_sum_exp(masked)(0) == -infinity);
  BOOST_TEST(tensor::softmax(masked)(0, 1) == 0);
  BOOST_TEST(tensor::softmax(masked)(1, 0) == 1);
  BOOST_CHECK_THROW(tensor::log_sum_exp(Array<double, 0>(1.0)), ShapeError);
}

BOOST_AUTO_TEST_CASE(trajectory_records_steps_into_one_array) {
  measure::Trajectory<float> trajectory(2, 3);
  BOOST_TEST(trajectory.array().shape()[0] == 0U);
  for (int step = 0; step < 100; ++step) trajectory.record(10 * step, Mat<double>::Constant(2, 3, step));
  const Mat<float> last = trajectory.at(99);
  BOOST_TEST(last(1, 2) == 99.0F);
  const auto array = trajectory.array();
  BOOST_TEST(array.shape()[0] == 100U);
  BOOST_TEST(array.shape()[1] == 2U);
  BOOST_TEST(array.shape()[2] == 3U);
  BOOST_TEST(array(37, 1, 2) == 37.0F);
  BOOST_TEST(trajectory.steps()[37] == 370);
  BOOST_CHECK_THROW(trajectory.record(990, Mat<float>::Zero(2, 3)), InvalidArgument);
  BOOST_CHECK_THROW(trajectory.record(1000, Mat<float>::Zero(3, 2)), ShapeError);
  BOOST_CHECK_THROW(trajectory.at(100), IndexError);
  BOOST_TEST(trajectory.size() == 100);
}

BOOST_AUTO_TEST_CASE(trajectory_goes_to_npy_and_back) {
  const auto path = std::filesystem::temp_directory_path() / "incipit_trajectory.npy";
  measure::Trajectory<double> trajectory(1, 2);
  trajectory.record(0, Row<double, 2>(1, 2));
  trajectory.record(5, Row<double, 2>(3, 4));
  io::save_npy(path, trajectory.array());
  const auto back = io::load_npy<double>(path);
  BOOST_TEST((back.shape == std::vector<std::size_t>{2, 1, 2}));
  BOOST_TEST((back.values == std::vector<double>{1, 2, 3, 4}));
  io::save_npy(path, tensor::softmax(Array<float, 3>(std::array<std::size_t, 3>{1, 2, 2}, 0.0F)));
  BOOST_TEST((io::load_npy<float>(path).values == std::vector<float>(4, 0.5F)));
  std::filesystem::remove(path);
}

BOOST_AUTO_TEST_SUITE_END()
