// SPDX-License-Identifier: MIT
#include <incipit/train/progress.hpp>

#include <boost/test/unit_test.hpp>
#include <limits>
#include <string>
#include <vector>

using namespace incipit;
using train::Progress;

namespace {

/// A bar on a clock that the test winds, with everything shown so far.
struct Bench {
  double now = 100;
  std::vector<std::string> shown;
  Progress bar(std::int64_t total) {
    return Progress(
        "run", total, [this] { return now; }, [this](std::string_view s) { shown.emplace_back(s); });
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(train_progress)

BOOST_AUTO_TEST_CASE(time_left_is_the_time_so_far_scaled_by_the_work_left) {
  Bench bench;
  {
    Progress bar = bench.bar(100);
    bench.now += 30;
    bar.update(25);
    BOOST_TEST_REQUIRE(bench.shown.size() == 1U);
    BOOST_TEST(bench.shown[0] == "\rrun [#######.......................]  25 %  1 min 30 s left\x1b[K");
    bench.now += 30;
    bar.label("second half");
    bar.update(50);
    BOOST_TEST(bench.shown[1].find("second half") != std::string::npos);
    BOOST_TEST(bench.shown[1].find("50 %  1 min 00 s left") != std::string::npos);
  }
  BOOST_TEST(bench.shown.back() == "\r\x1b[K");
  BOOST_TEST(bench.shown.size() == 3U);
}

BOOST_AUTO_TEST_CASE(drawing_is_limited_to_ten_times_a_second) {
  Bench bench;
  Progress bar = bench.bar(1000);
  for (int i = 0; i < 1000; ++i) {
    bench.now += 0.001;
    bar.step();
  }
  BOOST_TEST(bench.shown.size() >= 8U);
  BOOST_TEST(bench.shown.size() <= 11U);
}

BOOST_AUTO_TEST_CASE(first_line_promises_no_time_and_overshoot_stays_full) {
  Bench bench;
  Progress bar = bench.bar(10);
  bar.update(0);
  BOOST_TEST(bench.shown[0].find("left") == std::string::npos);
  bench.now += 5;
  bar.update(50);
  BOOST_TEST(bench.shown[1].find("[##############################] 100 %  0.0 s left") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(nothing_is_shown_without_a_terminal_and_the_bar_is_erased_once) {
  {
    Progress silent(
        "run", 2, [] { return 0.0; }, Progress::Sink());
    silent.update(1);
  }
  Bench bench;
  {
    Progress bar = bench.bar(1);
    bar.finish();
    BOOST_TEST(bench.shown.empty());
    bar.update(1);
    bar.finish();
    bar.finish();
  }
  BOOST_TEST(bench.shown.size() == 2U);
  for (const std::int64_t bad : {0, -3}) BOOST_CHECK_THROW(Progress("x", bad), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(bar_is_erased_when_an_exception_passes) {
  Bench bench;
  try {
    Progress bar = bench.bar(10);
    bar.update(1);
    throw std::runtime_error("spoiled");
  } catch (const std::runtime_error&) {
  }
  BOOST_TEST(bench.shown.back() == "\r\x1b[K");
}

BOOST_AUTO_TEST_CASE(durations_are_short) {
  BOOST_TEST(train::short_duration(0.44) == "0.4 s");
  BOOST_TEST(train::short_duration(9.96) == "10 s");
  BOOST_TEST(train::short_duration(59.4) == "59 s");
  BOOST_TEST(train::short_duration(59.6) == "1 min 00 s");
  BOOST_TEST(train::short_duration(3599.7) == "1 h 00 min");
  BOOST_TEST(train::short_duration(7800) == "2 h 10 min");
  BOOST_TEST(train::short_duration(-1) == "?");
  BOOST_TEST(train::short_duration(std::numeric_limits<double>::quiet_NaN()) == "?");
  BOOST_TEST(train::short_duration(1e300) == "?");
}

BOOST_AUTO_TEST_SUITE_END()
