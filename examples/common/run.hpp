// SPDX-License-Identifier: MIT
/// @file
/// @brief Runs the parts of an example program on threads and delivers what they bring home.
#pragma once

#include "part.hpp"
#include "report.hpp"

#include <incipit/core/parallel.hpp>
#include <incipit/train/progress.hpp>

#include <atomic>
#include <iostream>
#include <mutex>

namespace examples {

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
