// SPDX-License-Identifier: MIT
// Where tests find data that is not part of the repository, and what they do when it is not there.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

namespace incipit::test {

/// The folder of shared data: INCIPIT_SHARED, else the one that the build system names.
inline std::filesystem::path shared_folder() {
  if (const char* folder = std::getenv("INCIPIT_SHARED")) return folder;
#ifdef INCIPIT_SHARED_DEFAULT
  return INCIPIT_SHARED_DEFAULT;
#else
  return "../shared/data";
#endif
}

/// The file (or folder) `relative` of the shared data, if it is there.
inline std::optional<std::filesystem::path> shared_file(const std::string& relative) {
  const std::filesystem::path file = shared_folder() / relative;
  if (!std::filesystem::exists(file)) return std::nullopt;
  return file;
}

/// The test cases that found their data missing.
inline std::set<boost::unit_test::test_unit_id>& skipped_cases() {
  static std::set<boost::unit_test::test_unit_id> cases;
  return cases;
}

/// True, after counting the running case as skipped, if shared data `relative` is missing: `if (skip_without(x)) return;`.
/// With INCIPIT_REQUIRE_SHARED=1 missing data fails the case.
inline bool skip_without(const std::string& relative) {
  if (shared_file(relative)) return false;
  const char* required = std::getenv("INCIPIT_REQUIRE_SHARED");
  if (required != nullptr && std::string(required) == "1") BOOST_FAIL("shared data missing: " << relative);
  BOOST_TEST_MESSAGE("skipped, shared data missing: " << relative);
  skipped_cases().insert(boost::unit_test::framework::current_test_case_id());
  return true;
}

}  // namespace incipit::test
