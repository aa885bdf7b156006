// SPDX-License-Identifier: MIT
/// @file
/// @brief A claim: what was predicted, what was measured, and the verdict.
#pragma once

#include <incipit/core/finite.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace incipit::inline INCIPIT_ABI {
namespace compare {

/// Whose statement a claim is.
enum class Kind {
  ours,         ///< derived for this library
  published,    ///< a formula of a paper, as printed there
  observation,  ///< seen in training, with a bound but without a closed form
};

/// What the verdict is expected to be.
enum class Expect {
  holds,   ///< error <= bound
  fails,   ///< a form known to be off here: error > bound
  report,  ///< only reported
};

/// How the error of a claim was formed.
enum class Relation {
  relative,  ///< |measured - predicted| / |predicted|
  absolute,  ///< |measured - predicted|
  at_most,   ///< predicted is a limit from above; error = max(0, measured - predicted), bound 0
  at_least,  ///< predicted is a limit from below; error = max(0, predicted - measured), bound 0
};

/// @brief One claim with its verdict. Build it by claim_relative, claim_absolute, claim_at_most, claim_at_least or
/// report_only.
struct Claim {
  std::string name;                        ///< what is claimed
  std::string source;                      ///< equation of a paper, or "ours"
  Kind kind = Kind::ours;                  ///< whose statement
  Expect expect = Expect::holds;           ///< the verdict expected
  Relation relation = Relation::relative;  ///< how `error` was formed
  double predicted = 0;                    ///< predicted value, or the limit
  double measured = 0;                     ///< measured value
  double error = 0;                        ///< by `relation`
  double bound = 0;                        ///< largest error at which the claim holds
  bool holds = false;                      ///< raw verdict: error <= bound, all of them numbers

  /// @brief True if the verdict is as expected. What is only reported always passes.
  /// @details A NaN or an infinity in the measurement never holds, and is no proof of failure either: it does not pass.
  bool pass() const {
    if (expect == Expect::report) return true;
    if (!is_finite(measured) || !is_finite(predicted) || is_nan(bound)) return false;
    return holds == (expect == Expect::holds);
  }
};

namespace detail {
inline Claim claim(std::string name, std::string source, Kind kind, Expect expect, Relation relation, double predicted,
                   double measured, double error, double bound) {
  // NaN compares false, so it never holds; an infinite error must not pass an infinite bound.
  const bool holds = is_finite(error) && is_finite(predicted) && is_finite(measured) && error <= bound;
  return {std::move(name), std::move(source), kind, expect, relation, predicted, measured, error, bound, holds};
}
}  // namespace detail

/// @brief |measured - predicted| / |predicted|; 0 when both are zero, infinite when only the prediction is.
inline double relative_error(double predicted, double measured) {
  const double difference = std::abs(measured - predicted);
  return difference == 0 ? 0 : difference / std::abs(predicted);
}

/// Claims |measured - predicted| <= bound |predicted|.
inline Claim claim_relative(std::string name, std::string source, Kind kind, Expect expect, double predicted,
                            double measured, double bound) {
  return detail::claim(std::move(name), std::move(source), kind, expect, Relation::relative, predicted, measured,
                       relative_error(predicted, measured), bound);
}

/// Claims |measured - predicted| <= bound.
inline Claim claim_absolute(std::string name, std::string source, Kind kind, Expect expect, double predicted,
                            double measured, double bound) {
  return detail::claim(std::move(name), std::move(source), kind, expect, Relation::absolute, predicted, measured,
                       std::abs(measured - predicted), bound);
}

/// Claims measured <= limit.
inline Claim claim_at_most(std::string name, std::string source, Kind kind, Expect expect, double limit,
                           double measured) {
  const double error = measured <= limit ? 0 : measured - limit;
  return detail::claim(std::move(name), std::move(source), kind, expect, Relation::at_most, limit, measured, error, 0);
}

/// Claims measured >= limit.
inline Claim claim_at_least(std::string name, std::string source, Kind kind, Expect expect, double limit,
                            double measured) {
  const double error = measured >= limit ? 0 : limit - measured;
  return detail::claim(std::move(name), std::move(source), kind, expect, Relation::at_least, limit, measured, error, 0);
}

/// @brief A pair of numbers that is only shown; its bound is infinite, its error relative.
inline Claim report_only(std::string name, std::string source, Kind kind, double predicted, double measured) {
  return claim_relative(std::move(name), std::move(source), kind, Expect::report, predicted, measured,
                        (std::numeric_limits<double>::infinity)());
}

/// "ours", "published" or "observation".
constexpr const char* to_string(Kind kind) {
  return kind == Kind::ours ? "ours" : kind == Kind::published ? "published" : "observation";
}
/// "holds", "fails" or "report".
constexpr const char* to_string(Expect expect) {
  return expect == Expect::holds ? "holds" : expect == Expect::fails ? "fails" : "report";
}

/// @brief The verdict in words: "holds", "FAILS", "fails as expected", "HOLDS, expected to fail", "NOT A NUMBER" or
/// "reported", with "holds" or "does not hold" behind it where there is a finite bound.
inline std::string verdict(const Claim& claim) {
  if (claim.expect == Expect::report) {
    if (!is_finite(claim.bound)) return "reported";
    return claim.holds ? "reported: holds" : "reported: does not hold";
  }
  if (!is_finite(claim.measured) || !is_finite(claim.predicted)) return "NOT A NUMBER";
  if (claim.expect == Expect::fails) return claim.holds ? "HOLDS, expected to fail" : "fails as expected";
  return claim.holds ? "holds" : "FAILS";
}

}  // namespace compare
}  // namespace incipit::inline INCIPIT_ABI
