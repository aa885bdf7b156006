// SPDX-License-Identifier: MIT
/// @file
/// @brief What an example leaves behind: the table of claims, summary.json, data and plots.
#pragma once

#include "gnuplot.hpp"
#include "options.hpp"
#include "plot.hpp"

#include <incipit/compare/summary.hpp>
#include <incipit/compare/table.hpp>
#include <incipit/io/csv.hpp>
#include <incipit/io/npy.hpp>
#include <incipit/io/text.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace examples {

/// @brief Collects the claims of a run and writes everything into the folder of Options::out.
class Report {
 public:
  /// A report of `program`; the clock starts here. Tables go to `out`, notes to `err`.
  Report(const Options& options, std::string program, std::ostream& out = std::cout, std::ostream& err = std::cerr)
      : options_(options),
        program_(std::move(program)),
        out_(&out),
        err_(&err),
        start_(std::chrono::steady_clock::now()) {
    config("preset", to_string(options.preset));
    config("threads", options.threads);
  }

  /// Records a setting under "config" of summary.json.
  template <class V>
  void config(const std::string& key, const V& value) {
    if constexpr (std::is_floating_point_v<V>)
      config_[key] = incipit::json_number(static_cast<double>(value));
    else
      config_[key] = value;
  }
  /// Records a claim and gives it back.
  incipit::compare::Claim claim(incipit::compare::Claim c) { return claims_.emplace_back(std::move(c)); }
  /// The claims so far.
  const std::vector<incipit::compare::Claim>& claims() const { return claims_; }
  /// Where a file of this run belongs.
  std::filesystem::path path(const std::string& name) const { return options_.out / name; }

  /// Writes STEM.csv. @see incipit::io::CsvTable
  void table(const std::string& stem, const incipit::io::CsvTable& rows) const { rows.save(path(stem + ".csv")); }
  /// Writes STEM.npy. @see incipit::io::save_npy
  template <class Array>
  void array(const std::string& stem, const Array& values) const {
    incipit::io::save_npy(path(stem + ".npy"), values);
  }

  /// @brief Draws a Figure or HeatMaps as STEM.svg and STEM.png; its data and script stay as STEM.dat and STEM.gp.
  /// @details A missing or failing gnuplot is told once on `err` and never fails the run.
  template <class Plot>
  void plot(const std::string& stem, const Plot& figure) {
    const PlotFiles files = plot_files(stem, figure);
    incipit::io::write_file(path(stem + ".dat"), files.data);
    incipit::io::write_file(path(stem + ".gp"), files.script);
    if (!has_gnuplot_) return;
    const GnuplotRun run = run_gnuplot(options_.out, stem + ".gp", gnuplot);
    if (!run.started) {
      has_gnuplot_ = false;
      *err_ << "no gnuplot found: pictures are missing, their scripts and data are in " << options_.out.string()
            << " (install gnuplot, or gnuplot-nox, and run: gnuplot " << stem << ".gp)\n";
    } else if (!run.ok) {
      *err_ << "gnuplot could not draw " << stem << ":\n" << run.messages;
    }
  }

  /// @brief Prints the claims, writes summary.json, and gives the exit status: 0 if every verdict is as expected,
  /// else 1.
  int finish() {
    if (!claims_.empty()) incipit::compare::print_claims(*out_, claims_);
    const auto passed = std::count_if(claims_.begin(), claims_.end(), [](const auto& c) { return c.pass(); });
    *out_ << passed << " of " << claims_.size() << " claims as expected; files in " << options_.out.string() << '\n';
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const incipit::compare::Summary summary{program_, options_.seed, config_, wall, claims_};
    incipit::io::write_file(path("summary.json"), incipit::json_text(summary.json()) + "\n");
    return summary.pass() ? Status::all_pass : Status::some_fail;
  }

  /// The program that draws.
  std::string gnuplot = "gnuplot";

 private:
  Options options_;
  std::string program_;
  std::ostream *out_, *err_;
  std::chrono::steady_clock::time_point start_;
  incipit::Json config_ = incipit::Json::object();
  std::vector<incipit::compare::Claim> claims_;
  bool has_gnuplot_ = true;
};

}  // namespace examples
