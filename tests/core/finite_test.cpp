// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/core/denormals.hpp>
#include <incipit/core/finite.hpp>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include <thread>

using namespace incipit;

namespace {
using Big = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>, boost::multiprecision::et_off>;
using All = std::tuple<float, double, long double, Big>;

/// Half of the smallest normal float, computed at run time: 0 while flushing.
float half_of_smallest() {
  volatile float smallest = (std::numeric_limits<float>::min)();
  volatile float half = smallest / 2;
  return half;
}
}  // namespace

BOOST_AUTO_TEST_SUITE(core_finite)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_kind_of_number_is_told_apart, T, All) {
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity(), nan = Limits::quiet_NaN();
  for (const T& x : {T(0), T(-0.0), T(1), T((Limits::max)()), T(-(Limits::max)()), T((Limits::min)())}) {
    BOOST_TEST(is_finite(x));
    BOOST_TEST(!is_infinite(x));
    BOOST_TEST(!is_nan(x));
  }
  for (const T& x : {inf, T(-inf)}) BOOST_TEST((is_infinite(x) && !is_finite(x) && !is_nan(x)));
  BOOST_TEST((is_nan(nan) && !is_finite(nan) && !is_infinite(nan)));
}

BOOST_AUTO_TEST_CASE(the_first_bad_entry_is_named) {
  Mat<float> x = Mat<float>::Ones(3, 4);
  BOOST_TEST(all_finite(x));
  require_finite("logits", x);
  x(2, 1) = std::numeric_limits<float>::infinity();
  BOOST_TEST(!all_finite(x));
  BOOST_CHECK_EXCEPTION(require_finite("logits", x), NonFiniteError, [](const Error& e) {
    return e.argument() == "logits at row 2, column 1" && e.value() == "an infinity";
  });
  x(1, 3) = std::numeric_limits<float>::quiet_NaN();
  BOOST_CHECK_EXCEPTION(require_finite("logits", x), NonFiniteError, [](const Error& e) {
    return e.argument() == "logits at row 1, column 3" && e.value() == "NaN";
  });
  require_finite("nothing", Mat<double>(0, 5));
}

BOOST_AUTO_TEST_CASE(denormals_are_counted_also_while_flushing_u63) {
  Mat<float> x = Mat<float>::Constant(512, 512, 1e-40f);
  BOOST_TEST(count_denormals(x) == 262144);
  {
    const FlushDenormals guard;
    BOOST_TEST(count_denormals(x) == 262144);
  }
  x.setConstant(1e-3f);
  BOOST_TEST(count_denormals(x) == 0);
  x(3, 4) = -1e-39f;
  x(0, 0) = 0;
  x(1, 0) = (std::numeric_limits<float>::min)();
  BOOST_TEST(count_denormals(x) == 1);
  BOOST_TEST(count_denormals(Row<double, 3>(1e-310, 0, -1e-310)) == 2);
}

BOOST_AUTO_TEST_CASE(the_guard_flushes_in_its_scope_and_thread_and_restores_the_mode_u63) {
  BOOST_TEST_REQUIRE(!FlushDenormals::active());
  BOOST_TEST(half_of_smallest() != 0);
  {
    const FlushDenormals outer;
    BOOST_TEST(FlushDenormals::active() == FlushDenormals::supported);
    BOOST_TEST((half_of_smallest() == 0) == FlushDenormals::supported);
    { const FlushDenormals inner; }
    BOOST_TEST(FlushDenormals::active() == FlushDenormals::supported);
  }
  BOOST_TEST(!FlushDenormals::active());
  BOOST_TEST(half_of_smallest() != 0);
  BOOST_CHECK_THROW(
      [] {
        const FlushDenormals guard;
        throw std::runtime_error("stop");
      }(),
      std::runtime_error);
  BOOST_TEST(!FlushDenormals::active());
  bool there = false;
  std::thread([&] {
    const FlushDenormals guard;
    there = FlushDenormals::active();
  }).join();
  BOOST_TEST(there == FlushDenormals::supported);
  BOOST_TEST(!FlushDenormals::active());
}

BOOST_AUTO_TEST_SUITE_END()
