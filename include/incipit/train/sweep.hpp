// SPDX-License-Identifier: MIT
/// @file
/// @brief Many independent small runs, one a thread, that survive being killed.
#pragma once

#include <incipit/core/parallel.hpp>
#include <incipit/io/text.hpp>

#include <atomic>
#include <charconv>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace incipit::inline INCIPIT_ABI::train {

/// @brief One run of a sweep: a key that names it, and what it computes.
struct SweepJob {
  std::string key;                           ///< unique in its sweep; no tab and no line break
  std::function<std::vector<double>()> run;  ///< called on any thread; must not depend on other jobs
};

/// How a sweep is run.
struct SweepOptions {
  int threads = 1;                  ///< jobs at a time, at least 1
  std::filesystem::path journal{};  ///< file of finished jobs, read when it exists; empty: none
  std::string fingerprint{};        ///< what the numbers depend on besides the keys; another one in the journal is refused
  std::function<void(const SweepJob&)> on_done{};  ///< called for every job that ran, under a lock
};

namespace detail {

/// Results as text that gives the same bits back.
inline std::string journal_line(const std::string& key, const std::vector<double>& values) {
  std::string line = key;
  for (const double v : values) {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, v, std::chars_format::hex).ptr;
    line += '\t';
    line.append(digits, end);
  }
  return line + '\n';
}

inline std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> out(1);
  for (const char c : line) {
    if (c == '\t')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

/// The finished jobs of a journal; a last line without a line break was being written when the run was killed.
class Journal {
 public:
  Journal(const std::filesystem::path& path, const std::string& fingerprint) : path_(path) {
    if (path_.empty()) return;
    const std::string head = "incipit sweep 1\t" + fingerprint;
    if (std::filesystem::exists(path_)) read(head);
    std::string whole = head + '\n';  // written anew, as a whole: without a broken last line
    for (const auto& [key, values] : done_) whole += journal_line(key, values);
    io::write_file(path_, whole);
    out_.open(path_, std::ios::app | std::ios::binary);
    require<IoError>(out_.good(), "journal", path_.string(), "a file that can be written");
  }
  std::optional<std::vector<double>> find(const std::string& key) const {
    const auto it = done_.find(key);
    return it == done_.end() ? std::nullopt : std::optional(it->second);
  }
  void add(const std::string& key, const std::vector<double>& values) {
    if (path_.empty()) return;
    out_ << journal_line(key, values) << std::flush;
    require<IoError>(out_.good(), "journal", path_.string(), "a file that can be written");
  }

 private:
  void read(const std::string& head) {
    const std::string text = io::read_file(path_);
    std::size_t at = 0, number = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; at = end + 1, end = text.find('\n', at)) {
      const std::string line = text.substr(at, end - at);
      if (number++ == 0) {
        require(line == head, "journal " + path_.string(), line, "the journal of this sweep, \"" + head + "\"");
        continue;
      }
      const auto parts = fields(line);
      std::vector<double> values;
      for (std::size_t i = 1; i < parts.size(); ++i) {
        double v = 0;
        const auto [stop, error] = std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), v, std::chars_format::hex);
        require(error == std::errc() && stop == parts[i].data() + parts[i].size() && !parts[i].empty(),
                "journal " + path_.string() + ", line " + std::to_string(number), parts[i], "a hexadecimal number");
        values.push_back(v);
      }
      done_[parts[0]] = std::move(values);
    }
  }
  std::filesystem::path path_;
  std::map<std::string, std::vector<double>> done_;
  std::ofstream out_;
};

}  // namespace detail

/// @brief Runs all jobs and returns their results in the order of the jobs, whatever the number of threads.
/// @details With a journal, each result is appended when its job ends, and a sweep that was killed goes on where it
/// stopped: jobs found there are not run again, and give the same bits. If a job throws, no new ones are started, those
/// that run are finished and kept, and the exception of the first job in order is rethrown.
/// @throws InvalidArgument for a key that is used twice or holds a tab or line break, for a journal of another sweep or
/// with a broken line; IoError if the journal cannot be read or written.
/// @par Checked tests/train/sweep_test.cpp
inline std::vector<std::vector<double>> sweep(const std::vector<SweepJob>& jobs, const SweepOptions& options = {}) {
  require(options.threads >= 1, "threads", options.threads, "at least 1");
  require(options.fingerprint.find_first_of("\t\n\r") == std::string::npos, "fingerprint", options.fingerprint,
          "text without tabs and line breaks");
  std::map<std::string, int> used;
  for (const auto& job : jobs) {
    require(job.key.find_first_of("\t\n\r") == std::string::npos && !job.key.empty(), "key", job.key,
            "text without tabs and line breaks, not empty");
    require(++used[job.key] == 1, "key", job.key, "a key of one job only");
  }
  detail::Journal journal(options.journal, options.fingerprint);
  std::vector<std::vector<double>> results(jobs.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (auto known = journal.find(jobs[i].key))
      results[i] = std::move(*known);
    else
      open.push_back(i);
  }
  std::vector<std::exception_ptr> failures(jobs.size());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex lock;
  parallel_for(options.threads, options.threads, [&](Extent) {
    for (std::size_t k = next++; k < open.size() && !failed; k = next++) {
      const std::size_t i = open[k];
      try {
        results[i] = jobs[i].run();
        const std::lock_guard guard(lock);
        journal.add(jobs[i].key, results[i]);
        if (options.on_done) options.on_done(jobs[i]);
      } catch (...) {
        failures[i] = std::current_exception();
        failed = true;
      }
    }
  });
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return results;
}

}  // namespace incipit::inline INCIPIT_ABI::train
