// SPDX-License-Identifier: MIT
// The main of every test program. At the end it appends "passed failed skipped" to the file that INCIPIT_TALLY names.
#define BOOST_TEST_MODULE incipit
#include <boost/test/results_collector.hpp>
#include <boost/test/tree/observer.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <fstream>
#include <support/shared_data.hpp>

namespace {

struct Tally : boost::unit_test::test_observer {
  void test_finish() override {
    const char* file = std::getenv("INCIPIT_TALLY");
    if (file == nullptr) return;
    const auto suite = boost::unit_test::framework::master_test_suite().p_id;
    const auto& result = boost::unit_test::results_collector.results(suite);
    // A case that found its data missing returned early: Boost calls that passed, we call it skipped.
    const auto skipped = incipit::test::skipped_cases().size();
    std::ofstream(file, std::ios::app) << result.p_test_cases_passed + result.p_test_cases_warned - skipped << ' '
                                       << result.p_test_cases_failed << ' '
                                       << result.p_test_cases_skipped + skipped << '\n';
  }
  int priority() override { return 1000; }  // after Boost's own collector
};

struct Counting {
  Counting() { boost::unit_test::framework::register_observer(tally); }
  ~Counting() { boost::unit_test::framework::deregister_observer(tally); }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
  Tally tally;
};
BOOST_TEST_GLOBAL_CONFIGURATION(Counting);

}  // namespace
