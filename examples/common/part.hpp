// SPDX-License-Identifier: MIT
/// @file
/// @brief Parts of an example program: what each predicts, how it is run, what it brings home.
#pragma once

#include "report.hpp"

#include <incipit/compare/claim.hpp>
#include <incipit/core/parallel.hpp>
#include <incipit/theory/assumption.hpp>
#include <incipit/train/progress.hpp>

#include <atomic>
#include <functional>
#include <mutex>
#include <variant>

namespace examples {

using namespace incipit;
using compare::Claim;
using compare::Expect;
using compare::Kind;

/// A table, array or picture of the report, written when all parts are done.
struct File {
  std::string stem;                                                  ///< name without ending
  std::variant<io::CsvTable, Mat<double>, Figure, HeatMaps> content;  ///< STEM.csv, STEM.npy or a plot
};

/// What a part brings home.
struct Outcome {
  std::vector<Claim> claims;       ///< lines of the table
  std::vector<std::string> notes;  ///< printed before the table
  std::vector<File> files;         ///< data and plots
};

/// A line of the table printed before anything is trained.
struct Prediction {
  std::string what, value;  ///< quantity and number
};

/// Counts units of work done, from any thread.
using Ticker = std::function<void()>;

/// One part: what it predicts, known before `run` trains anything, and how much work it is.
struct Part {
  std::vector<Prediction> predictions;         ///< made before the run
  std::int64_t units = 1;                      ///< times that `run` ticks
  std::function<Outcome(const Ticker&)> run;   ///< called once, on any thread
};

/// Lists what the part's last prediction rests on.
inline void add_assumptions(Part& part, const std::vector<theory::Assumption>& assumptions) {
  for (const auto& a : assumptions)
    part.predictions.push_back({"  it assumes: " + a.name + " <= " + compare::short_number(a.limit),
                                compare::short_number(a.value) + (a.holds() ? "" : "  (does not hold)")});
}

/// "0.8", "1.5": a gamma in a name.
inline std::string text(double x) { return compare::short_number(x); }

/// A claim about an error that theory says is zero up to `bound`.
inline Claim error_claim(std::string name, std::string source, Kind kind, Expect expect, double error, double bound) {
  return compare::claim_absolute(std::move(name), std::move(source), kind, expect, 0.0, error, bound);
}

/// Prints the table of predictions, if there are any.
inline void print_predictions(const std::vector<Part>& parts) {
  compare::TextTable table({{"quantity", compare::Align::left, 90}, {"prediction", compare::Align::left, 40}});
  bool any = false;
  for (const auto& part : parts)
    for (const auto& p : part.predictions) table.add({p.what, p.value}), any = true;
  if (!any) return;
  std::cout << "Predicted before any training:\n";
  table.print(std::cout);
  std::cout << std::endl;
}

/// Runs all parts on a number of threads, the last first, since the longest stand last; outcomes in the order of parts.
inline std::vector<Outcome> run_parts(const std::string& program, const std::vector<Part>& parts, int threads) {
  std::int64_t total = 0;
  for (const auto& part : parts) total += part.units;
  train::Progress progress(program, total);
  std::mutex lock;
  const Ticker tick = [&] {
    const std::lock_guard guard(lock);
    progress.step();
  };
  std::vector<Outcome> outcomes(parts.size());
  std::atomic<std::size_t> next{0};
  parallel_for(threads, threads, [&](Extent) {
    for (std::size_t i = next++; i < parts.size(); i = next++) {
      const std::size_t at = parts.size() - 1 - i;
      outcomes[at] = parts[at].run(tick);
    }
  });
  progress.finish();
  return outcomes;
}

/// Claims into the report, notes to standard output, files into the folder.
inline void deliver(Report& report, const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) {
    for (const auto& claim : outcome.claims) report.claim(claim);
    for (const auto& note : outcome.notes) std::cout << note << '\n';
    for (const File& file : outcome.files)
      std::visit(
          [&](const auto& content) {
            using Content = std::decay_t<decltype(content)>;
            if constexpr (std::is_same_v<Content, io::CsvTable>)
              report.table(file.stem, content);
            else if constexpr (std::is_same_v<Content, Mat<double>>)
              report.array(file.stem, content);
            else
              report.plot(file.stem, content);
          },
          file.content);
  }
}

}  // namespace examples
