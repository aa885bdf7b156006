// SPDX-License-Identifier: MIT
/// @file
/// @brief Typed errors and the always-on contracts of public functions.
#pragma once

#include <incipit/core/config.hpp>

#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace incipit::inline INCIPIT_ABI {

/// @brief Base of every error that the library throws: which argument, what it was, what was allowed.
class Error : public std::runtime_error {
 public:
  /// Builds the message "argument: got value, allowed: allowed".
  Error(std::string argument, std::string value, std::string allowed)
      : std::runtime_error(argument + ": got " + value + ", allowed: " + allowed),
        argument_(std::move(argument)),
        value_(std::move(value)),
        allowed_(std::move(allowed)) {}
  /// Name of the offending argument, as the caller knows it.
  const std::string& argument() const noexcept { return argument_; }
  /// The value that was passed, printed.
  const std::string& value() const noexcept { return value_; }
  /// What would have been accepted.
  const std::string& allowed() const noexcept { return allowed_; }

 private:
  std::string argument_, value_, allowed_;
};

/// A setting or argument outside its domain.
class InvalidArgument : public Error { using Error::Error; };
/// Sizes that do not fit together.
class ShapeError : public Error { using Error::Error; };
/// An index (token id, label, position, row) outside its range.
class IndexError : public Error { using Error::Error; };
/// A NaN or an infinity where only finite numbers make sense.
class NonFiniteError : public Error { using Error::Error; };
/// A file that cannot be read, written or understood.
class IoError : public Error { using Error::Error; };

namespace detail {
template <class V>
std::string printed(const V& value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  return std::move(out).str();
}
}  // namespace detail

/// Throws `E` naming the argument, its value and what was allowed: for messages too costly to build before they are needed.
template <class E, class V>
[[noreturn, gnu::cold, gnu::noinline]] void fail(std::string_view argument, const V& value, std::string_view allowed) {
  throw E(std::string(argument), detail::printed(value), std::string(allowed));
}

/// @brief Always-on contract: throws `E` naming the argument, its value and what was allowed.
/// @par Cost one branch when it holds; the message is only built when it does not.
template <class E = InvalidArgument, class V>
void require(bool holds, std::string_view argument, const V& value, std::string_view allowed) {
  if (!holds) [[unlikely]]
    fail<E>(argument, value, allowed);
}

/// @brief Contract on a size: throws ShapeError unless `got == want`.
template <class Got, class Want>
void require_size(std::string_view argument, Got got, Want want) {
  if (static_cast<long long>(got) != static_cast<long long>(want)) [[unlikely]]
    fail<ShapeError>(argument, got, "exactly " + detail::printed(want));
}

/// Contract on a setting: throws InvalidArgument unless `value` is positive and finite.
inline void require_positive(std::string_view argument, double value) {
  require(value > 0 && value <= (std::numeric_limits<double>::max)(), argument, value, "a positive finite number");
}

/// Contract on a setting: throws InvalidArgument unless `value` is finite and not negative.
inline void require_non_negative(std::string_view argument, double value) {
  require(value >= 0 && value <= (std::numeric_limits<double>::max)(), argument, value, "a finite number >= 0");
}

}  // namespace incipit::inline INCIPIT_ABI
