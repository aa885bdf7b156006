// SPDX-License-Identifier: MIT
/// @file
/// @brief The summary of a run as JSON.
#pragma once

#include <incipit/compare/claim.hpp>
#include <incipit/core/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace incipit::inline INCIPIT_ABI {
namespace compare {

/// @brief A claim as JSON. JSON has no NaN and no infinity: these become null, so a null `measured` or `predicted` is a
/// number that was not finite (it never holds), and a null `bound` means that there is none (what is only reported).
inline Json to_json(const Claim& c) {
  return Json{{"name", c.name},
              {"source", c.source},
              {"kind", to_string(c.kind)},
              {"expect", to_string(c.expect)},
              {"predicted", json_number(c.predicted)},
              {"measured", json_number(c.measured)},
              {"error", json_number(c.error)},
              {"bound", json_number(c.bound)},
              {"holds", c.holds},
              {"pass", c.pass()}};
}

/// @brief What a program found.
struct Summary {
  std::string program;           ///< its name
  std::uint64_t seed = 0;        ///< seed of all random numbers
  Json config = Json::object();  ///< settings, by name
  double wall_s = 0;             ///< wall-clock seconds
  std::vector<Claim> claims;     ///< in the order of the table

  /// True if every claim passes.
  bool pass() const {
    return std::all_of(claims.begin(), claims.end(), [](const Claim& c) { return c.pass(); });
  }
  /// {"program", "version", "seed", "config", "wall_s", "claims"}.
  Json json() const {
    Json list = Json::array();
    for (const Claim& c : claims) list.push_back(to_json(c));
    return Json{{"program", program}, {"version", INCIPIT_VERSION},    {"seed", seed},
                {"config", config},   {"wall_s", json_number(wall_s)}, {"claims", std::move(list)}};
  }
};

}  // namespace compare
}  // namespace incipit::inline INCIPIT_ABI
