// SPDX-License-Identifier: MIT
// The main of a study of the shared runs: trains them, concludes one thing.
#pragma once

#include "../common/run.hpp"
#include "studies.hpp"

namespace studies {

inline int study_main(int argc, char** argv, const std::string& name, const std::string& description, Outcome (*conclude)(const AnchorRuns&)) {
  const auto options = parse(argc, argv, name, description);
  return guarded(name, [&] {
    Report report(options, name);
    AnchorRuns runs(RunScale::of(options.preset), options.seed);
    deliver(report, run_parts(name, runs.parts(), options.threads));
    deliver(report, {conclude(runs)});
    return report.finish();
  });
}

}  // namespace studies
