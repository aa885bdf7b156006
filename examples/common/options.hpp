// SPDX-License-Identifier: MIT
/// @file
/// @brief The command line that all example programs share.
#pragma once

#include "preset.hpp"

#include <incipit/core/config.hpp>
#include <incipit/core/error.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

/// What the example programs share: command line, report, plots.
namespace examples {

/// Exit statuses of every example.
enum Status : int {
  all_pass = 0,   ///< every verdict is as expected
  some_fail = 1,  ///< at least one is not
  bad_usage = 2,  ///< bad usage or input
};

/// @brief What every example is told on its command line.
struct Options {
  std::uint64_t seed = 1;            ///< --seed: every random number follows from it
  std::filesystem::path out;         ///< --out: folder of all files written, created when missing; default PROGRAM-out
  int threads = 1;                   ///< --threads, 1 .. 1024; default: the processor's
  Preset preset = Preset::standard;  ///< --fast, --paper
};

/// Adds options of a program's own to the parser.
using Extra = std::function<void(CLI::App&)>;

/// @brief Validator of decimal whole numbers in [low, high], for options of unsigned and signed integers.
/// @details The parser alone would wrap -1 to 2^64 - 1, clamp what is too large and read 010 as eight.
inline CLI::Validator whole_number(std::uint64_t low, std::uint64_t high) {
  const std::string range = std::to_string(low) + " .. " + std::to_string(high);
  return CLI::Validator(
      [low, high, range](std::string& text) -> std::string {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool plain =
            error == std::errc() && end == text.data() + text.size() && (text.size() == 1 || text[0] != '0');
        return plain && value >= low && value <= high ? "" : "got " + text + ", allowed: a whole number in " + range;
      },
      range);
}

namespace detail {
/// Creates the folder and tries to write in it; the reason when that fails.
inline std::optional<std::string> cannot_write(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return error.message();
  if (!std::filesystem::is_directory(folder, error)) return "not a folder";
  const auto probe = folder / ".writable";
  const bool writable = std::ofstream(probe).put('\n').good();
  std::filesystem::remove(probe, error);
  if (!writable) return "not writable";
  return std::nullopt;
}
}  // namespace detail

/// @brief Reads the command line into `options`; nothing to return means go on, a number means exit with this status.
/// @details --help and --version print to `out` and give 0; unknown options, values out of range, --fast together with
/// --paper and a folder that cannot be written give 2 and one message on `err`.
inline std::optional<int> try_parse(int argc, const char* const* argv, const std::string& program,
                                    const std::string& description, Options& options, std::ostream& out,
                                    std::ostream& err, const Extra& extra = {}) {
  CLI::App app(description, program);
  app.set_version_flag("--version", std::string(INCIPIT_VERSION));
  options.out = program + "-out";
  options.threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 1024U));
  app.add_option("--seed", options.seed, "Seed of all random numbers")
      ->check(whole_number(0, (std::numeric_limits<std::uint64_t>::max)()))
      ->capture_default_str();
  app.add_option("--out", options.out, "Folder for summary.json, data and plots")->capture_default_str();
  app.add_option("--threads", options.threads, "Threads; the results do not depend on it")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  bool fast = false, paper = false;
  auto* fast_flag = app.add_flag("--fast", fast, "Small sizes: a quick look");
  app.add_flag("--paper", paper, "The sizes of the paper: slow")->excludes(fast_flag);
  if (extra) extra(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e, out, err) == 0 ? Status::all_pass : Status::bad_usage;
  }
  options.preset = fast ? Preset::fast : paper ? Preset::paper : Preset::standard;
  if (const auto reason = detail::cannot_write(options.out)) {
    err << "--out: cannot write to " << options.out.string() << ": " << *reason << '\n';
    return Status::bad_usage;
  }
  return std::nullopt;
}

/// @brief The command line of a program as Options; exits the process on --help, --version and bad usage.
/// @param extra adds the program's own options to the parser.
inline Options parse(int argc, const char* const* argv, const std::string& program, const std::string& description,
                     const Extra& extra = {}) {
  Options options;
  if (const auto status = try_parse(argc, argv, program, description, options, std::cout, std::cerr, extra))
    std::exit(*status);
  return options;
}

/// @brief Runs `body() -> int` and turns an exception into a message and exit status 2.
template <class Body>
int guarded(const std::string& program, Body&& body) {
  try {
    const int status = body();
    if (!std::cout.flush()) throw std::runtime_error("standard output: cannot be written");
    return status;
  } catch (const std::exception& e) {
    std::cerr << program << ": " << e.what() << '\n';
    return Status::bad_usage;
  }
}

}  // namespace examples
