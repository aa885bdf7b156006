// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/core/numerics.hpp>
#include <incipit/core/random.hpp>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/eigen.hpp>
#include <unsupported/Eigen/AutoDiff>

using namespace incipit;

namespace {
using Big = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>, boost::multiprecision::et_off>;
using Floats = std::tuple<float, double, long double>;
using FloatsAndBig = std::tuple<float, double, long double, Big>;
using Dual = Eigen::AutoDiffScalar<Eigen::Vector3d>;

template <class T>
Mat<T> normals(Extent rows, Extent cols, const char* name, double scale = 1) {
  const RandomStream stream(1, name);
  Mat<T> x(rows, cols);
  for (Extent i = 0; i < x.size(); ++i)
    x.data()[i] = static_cast<T>(scale * stream.normal(static_cast<std::uint64_t>(i)));
  return x;
}
template <class T>
constexpr T inf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();
}  // namespace

BOOST_AUTO_TEST_SUITE(core_numerics)

BOOST_AUTO_TEST_CASE_TEMPLATE(extreme_logits_give_the_exact_loss_and_gradient_u04, T, Floats) {
  const Row<T, 3> x(-431, 279, 427);
  BOOST_TEST(log_sum_exp(x) - x(0) == T(858));
  const Row<T, 3> p = softmax(x);
  BOOST_TEST((p - Row<T, 3>(0, 0, 1)).cwiseAbs().maxCoeff() < T(1e-6));
  const Row<T, 3> far(T(1e4), T(-1e4), 0);
  BOOST_TEST(log_sum_exp(far) - far(1) == T(20000));
  BOOST_TEST(log_softmax(far)(1) == T(-20000));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(infinite_entries_have_the_documented_limits, T, FloatsAndBig) {
  const T infinity = std::numeric_limits<T>::infinity();
  for (const Extent n : {1, 2, 15, 16, 17, 40}) {
    Row<T> masked = Row<T>::Constant(n, T(-infinity));
    BOOST_TEST((log_sum_exp(masked) == T(-infinity)));
    BOOST_TEST((softmax(masked) == Row<T>::Zero(n)));
    BOOST_TEST((log_softmax(masked) == masked));
    masked(n - 1) = T(3);
    BOOST_TEST((log_sum_exp(masked) == T(3)));
    BOOST_TEST((softmax(masked) == Row<T>::Unit(n, n - 1)));
    Row<T> high = Row<T>::Constant(n, T(7));
    high(0) = infinity;
    high(n / 2) = infinity;
    const T share = n / 2 == 0 ? T(1) : T(0.5);
    BOOST_TEST((log_sum_exp(high) == infinity));
    BOOST_TEST((softmax(high)(0) == share));
    BOOST_TEST((softmax(high).sum() == T(1)));
    BOOST_TEST((abs(T(log_softmax(high)(0) - log(share))) < T(1e-6)));
    if (n > 2) BOOST_TEST((log_softmax(high)(n - 1) == T(-infinity)));
  }
  BOOST_TEST((log_sum_exp(Row<T>(0)) == T(-infinity)));
  BOOST_TEST(softmax(Mat<T>(3, 0)).cols() == 0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_nan_makes_its_whole_row_nan_and_no_other, T, Floats) {
  for (const Extent n : {1, 3, 16, 33})
    for (const T other : {T(1), inf<T>, -inf<T>, not_a_number<T>})
      for (const Extent at : {Extent{0}, n / 2, n - 1}) {
        Mat<T> x = Mat<T>::Constant(2, n, other);
        x.row(1).setZero();
        x(0, at) = not_a_number<T>;
        BOOST_TEST(is_nan(log_sum_exp_rows(x)(0)));
        const Mat<T> p = softmax(x), y = log_softmax(x);
        for (Extent j = 0; j < n; ++j) BOOST_REQUIRE((is_nan(p(0, j)) && is_nan(y(0, j))));
        BOOST_TEST(all_finite(p.row(1)));
        BOOST_TEST(all_finite(y.row(1)));
      }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(softmax_agrees_with_fifty_digits_and_ignores_a_common_shift, T, Floats) {
  const T eps = std::numeric_limits<T>::epsilon();
  for (const Extent n : {1, 7, 16, 31, 161, 300}) {
    const Mat<T> x = normals<T>(5, n, "logits", 5);
    const Mat<Big> exact = softmax(x.template cast<Big>()), exact_log = log_softmax(x.template cast<Big>());
    const Mat<T> p = softmax(x), y = log_softmax(x);
    for (Extent i = 0; i < x.size(); ++i) {
      const Big relative = abs(Big(Big(p.data()[i]) / exact.data()[i] - 1));
      BOOST_REQUIRE_LT(static_cast<double>(relative), static_cast<double>(T(16) * eps));
      BOOST_REQUIRE_LT(static_cast<double>(abs(Big(Big(y.data()[i]) - exact_log.data()[i]))),
                       static_cast<double>(64 * eps));
    }
    const Mat<T> shifted = softmax((x.array() + T(1024)).matrix());
    BOOST_TEST((shifted - p).cwiseAbs().maxCoeff() < T(1024) * eps);
  }
}

BOOST_AUTO_TEST_CASE(log_softmax_backward_uses_the_right_jacobian_u06) {
  const Row<double, 2> x(0.1, 0.9), g(1, 1);
  const Row<double, 2> dx = log_softmax_backward(softmax(x), g);
  BOOST_TEST(std::abs(dx(0) - 0.379949) < 1e-6);
  BOOST_TEST(std::abs(dx(1) + 0.379949) < 1e-6);
  const Mat<double> p = softmax(normals<double>(50, 17, "x")), upstream = normals<double>(50, 17, "g");
  BOOST_TEST(log_softmax_backward(p, upstream).rowwise().sum().cwiseAbs().maxCoeff() < 1e-12);
  BOOST_TEST(softmax_backward(p, upstream).rowwise().sum().cwiseAbs().maxCoeff() < 1e-12);
  BOOST_CHECK_THROW(log_softmax_backward(p, normals<double>(50, 16, "g")), ShapeError);
  BOOST_CHECK_THROW(softmax_backward(p, normals<double>(49, 17, "g")), ShapeError);
}

BOOST_AUTO_TEST_CASE(backwards_agree_with_dual_numbers) {
  const Row<double, 3> x(0.3, -1.2, 2.0), g(0.7, -0.4, 1.1);
  Row<Dual, 3> dual;
  for (Extent i = 0; i < 3; ++i) dual(i) = Dual(x(i), 3, static_cast<int>(i));
  const Row<Dual, 3> p = softmax(dual), y = log_softmax(dual);
  Eigen::Vector3d through_p = Eigen::Vector3d::Zero(), through_y = Eigen::Vector3d::Zero();
  for (Extent i = 0; i < 3; ++i) {
    through_p += g(i) * p(i).derivatives();
    through_y += g(i) * y(i).derivatives();
  }
  BOOST_TEST((softmax_backward(softmax(x), g).transpose() - through_p).norm() < 1e-15);
  BOOST_TEST((log_softmax_backward(softmax(x), g).transpose() - through_y).norm() < 1e-15);
  const Dual total = log_sum_exp(dual);
  BOOST_TEST((total.derivatives() - softmax(x).transpose()).norm() < 1e-15);
}

BOOST_AUTO_TEST_CASE(lazy_arguments_are_evaluated_once_and_results_own_their_numbers_u61) {
  const Row<double, 4> x(-0.042808, -0.042504, -0.043407, -0.047227);
  BOOST_TEST(std::abs(log_sum_exp(x) - 1.3423097) < 1e-7);
  BOOST_TEST(std::abs(log_sum_exp((x.array() + 0.0).matrix()) - 1.3423097) < 1e-7);
  static_assert(std::is_same_v<decltype(softmax((x + x).eval() + x)), Row<double, 4>>);
  Mat<double> wide = normals<double>(6, 9, "wide");
  const Mat<double> block = softmax(wide.block(1, 2, 4, 5)), whole = softmax(Mat<double>(wide.block(1, 2, 4, 5)));
  BOOST_TEST((block == whole));
  const Eigen::MatrixXd columns = wide;
  BOOST_TEST((softmax(columns) == softmax(wide)));
}

BOOST_AUTO_TEST_CASE(scalar_functions_hold_on_both_sides_and_for_dual_numbers) {
  BOOST_TEST(scalar::sigmoid(0.0) == 0.5);
  BOOST_TEST(scalar::sigmoid(-1e4) == 0.0);
  BOOST_TEST(scalar::sigmoid(1e4f) == 1.0f);
  BOOST_TEST(scalar::softplus(1e4) == 1e4);
  BOOST_TEST(scalar::softplus(-50.0) == std::exp(-50.0), boost::test_tools::tolerance(1e-15));
  BOOST_TEST(scalar::softplus(0.0) == std::log(2.0), boost::test_tools::tolerance(1e-15));
  BOOST_TEST(scalar::pi<double>() == std::acos(-1.0));
  for (const double at : {-40.0, -3.0, -0.4, 0.0, 0.7, 5.0, 40.0}) {
    const Dual x(at, 3, 1);
    const auto slope = [](const Dual& y) { return y.derivatives()(1); };
    const double s = scalar::sigmoid(at), t = std::tanh(at);
    BOOST_TEST(scalar::erf(x).value() == std::erf(at));
    BOOST_TEST(slope(scalar::erf(x)) == 2 / std::sqrt(scalar::pi<double>()) * std::exp(-at * at),
               boost::test_tools::tolerance(1e-14));
    BOOST_TEST(std::abs(slope(scalar::sigmoid(x)) - s * (1 - s)) < 1e-15);
    BOOST_TEST(std::abs(slope(scalar::softplus(x)) - s) < 1e-15);
    BOOST_TEST(slope(scalar::tanh(x)) == 1 - t * t);
  }
}

BOOST_AUTO_TEST_SUITE_END()
