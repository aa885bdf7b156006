// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/core/parallel.hpp>
#include <incipit/core/random.hpp>

#include <atomic>

using namespace incipit;

BOOST_AUTO_TEST_SUITE(core_parallel)

BOOST_AUTO_TEST_CASE(every_item_is_done_once_for_any_number_of_threads) {
  const RandomStream stream(2, "work");
  const auto work = [&](Extent i) { return stream.normal(static_cast<std::uint64_t>(i)); };
  for (const Extent n : {0, 1, 2, 7, 100}) {
    std::vector<double> expected(static_cast<std::size_t>(n));
    for (Extent i = 0; i < n; ++i) expected[static_cast<std::size_t>(i)] = work(i);
    for (const int threads : {1, 2, 3, 8, 200}) {
      std::vector<double> result(expected.size());
      parallel_for(n, threads, [&](Extent i) { result[static_cast<std::size_t>(i)] += work(i); });
      BOOST_TEST((result == expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_first_exception_is_rethrown_after_all_other_blocks_are_done) {
  std::atomic<int> done = 0;
  const auto fragile = [&](Extent i) {
    if (i == 5 || i == 9) throw IndexError("item", std::to_string(i), "another");
    ++done;
  };
  BOOST_CHECK_EXCEPTION(parallel_for(12, 4, fragile), IndexError, [](const Error& e) { return e.value() == "5"; });
  BOOST_TEST(done == 3 + 2 + 0 + 3);
}

BOOST_AUTO_TEST_CASE(wrong_counts_are_refused) {
  BOOST_CHECK_THROW(parallel_for(-1, 1, [](Extent) {}), InvalidArgument);
  BOOST_CHECK_THROW(parallel_for(3, 0, [](Extent) {}), InvalidArgument);
  BOOST_TEST(hardware_threads() >= 1);
}

BOOST_AUTO_TEST_SUITE_END()
