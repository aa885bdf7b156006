// SPDX-License-Identifier: MIT
// The program phase_map as a user meets it where no training is needed: help, hostile options, a journal of another sweep.
#include <incipit/io/text.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace incipit;

namespace {
struct Ran {
  int status;
  std::string out, err;
};
Ran run(const std::string& arguments, const std::filesystem::path& folder) {
  const auto out = folder / "stdout", err = folder / "stderr";
  const std::string command = "'" INCIPIT_PHASE_MAP "' " + arguments + " > '" + out.string() + "' 2> '" + err.string() + "' < /dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, io::read_file(out), io::read_file(err)};
}
}  // namespace

BOOST_AUTO_TEST_SUITE(examples_phase_map)

BOOST_AUTO_TEST_CASE(bad_options_and_foreign_journals_are_refused_by_name) {
  const auto folder = std::filesystem::temp_directory_path() / ("incipit_phase_map_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  BOOST_CHECK_EQUAL(run("--help", folder).status, 0);
  const auto refused = [&](const std::string& arguments, const std::string& word) {
    const Ran ran = run("--fast --out '" + folder.string() + "' " + arguments, folder);
    BOOST_CHECK_EQUAL(ran.status, 2);
    BOOST_CHECK_MESSAGE(ran.err.find(word) != std::string::npos, arguments << ": " << ran.err);
  };
  refused("--weight-memory -1", "--weight-memory");
  refused("--require-reasoning 1.5", "--require-reasoning");
  io::write_file(folder / "phase_map_fast_7.journal", "incipit sweep 1\tsomething else\n");
  refused("--seed 7", "journal");
  std::filesystem::remove_all(folder);
}

BOOST_AUTO_TEST_SUITE_END()
