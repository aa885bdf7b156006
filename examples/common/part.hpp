// SPDX-License-Identifier: MIT
/// @file
/// @brief Parts of an example program: what each predicts, how much work it is, what it brings home.
#pragma once

#include "plot.hpp"
#include "preset.hpp"

#include <incipit/compare/claim.hpp>
#include <incipit/compare/table.hpp>
#include <incipit/io/csv.hpp>
#include <incipit/theory/assumption.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

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

}  // namespace examples
