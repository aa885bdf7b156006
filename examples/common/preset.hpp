// SPDX-License-Identifier: MIT
/// @file
/// @brief The sizes at which an example runs.
#pragma once

namespace examples {

/// How much is run.
enum class Preset {
  standard,  ///< moderate widths
  fast,      ///< small and quick
  paper,     ///< the sizes of the paper
};

/// "standard", "fast" or "paper".
constexpr const char* to_string(Preset preset) {
  return preset == Preset::fast ? "fast" : preset == Preset::paper ? "paper" : "standard";
}

}  // namespace examples
