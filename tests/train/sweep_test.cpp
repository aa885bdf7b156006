// SPDX-License-Identifier: MIT
#include <incipit/core/random.hpp>
#include <incipit/train/sweep.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>
#include <set>

using namespace incipit;

namespace {

/// A folder of its own, removed at the end.
struct Folder {
  std::filesystem::path path;
  Folder() {
    static std::atomic<int> number{0};
    path = std::filesystem::temp_directory_path() /
           ("incipit_sweep_test_" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()) + "_" + std::to_string(number++));
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

std::vector<train::SweepJob> jobs(int n, std::atomic<int>& runs) {
  std::vector<train::SweepJob> list;
  for (int i = 0; i < n; ++i)
    list.push_back({"job " + std::to_string(i), [i, &runs] {
                      ++runs;
                      const RandomStream stream(static_cast<std::uint64_t>(i), "sweep");
                      return std::vector<double>{stream.normal(0), 1e-310, -0.0, stream.normal(1) * 1e300};
                    }});
  return list;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(train_sweep)

BOOST_AUTO_TEST_CASE(results_have_the_same_bits_for_any_number_of_threads) {
  std::atomic<int> runs{0};
  const auto one = train::sweep(jobs(20, runs));
  for (const int threads : {2, 3, 8, 64}) BOOST_CHECK(train::sweep(jobs(20, runs), {.threads = threads}) == one);
  BOOST_CHECK_EQUAL(runs, 100);
}

BOOST_AUTO_TEST_CASE(a_killed_sweep_goes_on_where_it_stopped_with_the_same_bits) {
  const Folder folder;
  const auto journal = folder.path / "journal";
  std::atomic<int> runs{0};
  const auto want = train::sweep(jobs(10, runs));
  train::sweep(jobs(4, runs), {.journal = journal, .fingerprint = "f"});
  {
    std::ofstream(journal, std::ios::app) << "job 7\t0x1.8p+1\t0x";  // killed in the middle of a line
  }
  runs = 0;
  std::set<std::string> told;
  const auto got = train::sweep(jobs(10, runs), {.threads = 2, .journal = journal, .fingerprint = "f", .on_done = [&](const train::SweepJob& job) { told.insert(job.key); }});
  BOOST_CHECK_EQUAL(runs, 6);
  BOOST_CHECK_EQUAL(told.size(), 6U);
  BOOST_REQUIRE_EQUAL(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    for (std::size_t k = 0; k < want[i].size(); ++k)
      BOOST_CHECK_EQUAL(std::bit_cast<std::uint64_t>(got[i][k]), std::bit_cast<std::uint64_t>(want[i][k]));
  BOOST_CHECK(train::sweep(jobs(10, runs), {.journal = journal, .fingerprint = "f"}) == want);
  BOOST_CHECK_EQUAL(runs, 6);
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite_come_back_too) {
  const Folder folder;
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<train::SweepJob> list{{"a", [=] { return std::vector<double>{inf, -inf, std::nan(""), 0.1}; }}, {"empty", [] { return std::vector<double>{}; }}};
  train::sweep(list, {.journal = folder.path / "j"});
  const auto again = train::sweep(list, {.journal = folder.path / "j"});
  BOOST_CHECK_EQUAL(again[0][0], inf);
  BOOST_CHECK_EQUAL(again[0][1], -inf);
  BOOST_CHECK(std::isnan(again[0][2]));
  BOOST_CHECK_EQUAL(again[0][3], 0.1);
  BOOST_CHECK(again[1].empty());
}

BOOST_AUTO_TEST_CASE(a_job_that_throws_keeps_what_others_finished) {
  const Folder folder;
  std::atomic<int> runs{0};
  auto list = jobs(6, runs);
  list[3].run = [] () -> std::vector<double> { fail<NonFiniteError>("loss", 1.0, "a finite number"); };
  BOOST_CHECK_THROW(train::sweep(list, {.journal = folder.path / "j"}), NonFiniteError);
  BOOST_CHECK_EQUAL(runs, 3);
  list = jobs(6, runs);
  train::sweep(list, {.journal = folder.path / "j"});
  BOOST_CHECK_EQUAL(runs, 6);
}

BOOST_AUTO_TEST_CASE(journals_of_other_sweeps_and_broken_ones_are_refused_by_name) {
  const Folder folder;
  const auto journal = folder.path / "j";
  std::atomic<int> runs{0};
  train::sweep(jobs(2, runs), {.journal = journal, .fingerprint = "seed 1"});
  BOOST_CHECK_THROW(train::sweep(jobs(2, runs), {.journal = journal, .fingerprint = "seed 2"}), InvalidArgument);
  std::ofstream(journal, std::ios::app) << "job 5\tnot a number\n";
  BOOST_CHECK_THROW(train::sweep(jobs(2, runs), {.journal = journal, .fingerprint = "seed 1"}), InvalidArgument);
  BOOST_CHECK_THROW(train::sweep(jobs(1, runs), {.journal = folder.path / "no" / "such"}), IoError);
  auto twice = jobs(2, runs);
  twice[1].key = twice[0].key;
  BOOST_CHECK_THROW(train::sweep(twice), InvalidArgument);
  twice[1].key = "a\tb";
  BOOST_CHECK_THROW(train::sweep(twice), InvalidArgument);
  BOOST_CHECK_THROW(train::sweep({}, {.threads = 0}), InvalidArgument);
  BOOST_CHECK(train::sweep({}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
