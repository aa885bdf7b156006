// SPDX-License-Identifier: MIT
/// @file
/// @brief A progress bar with the time left, shown only on a terminal.
#pragma once

#include <incipit/core/error.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace incipit::inline INCIPIT_ABI {
namespace train {

/// @brief True if standard error is a terminal: only there does a progress bar belong.
inline bool stderr_is_terminal() {
#if __has_include(<unistd.h>)
  return ::isatty(2) == 1;
#else
  return false;
#endif
}

/// @brief A duration in at most eight characters: "0.4 s", "17 s", "3 min 05 s", "2 h 10 min"; "?" when not a number.
inline std::string short_duration(double seconds) {
  if (!(seconds >= 0) || seconds > 3.6e8) return "?";
  std::array<char, 48> text{};
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (seconds < 9.95)
    std::snprintf(text.data(), text.size(), "%.1f s", seconds);
  else if (whole < 60)
    std::snprintf(text.data(), text.size(), "%lld s", whole);
  else if (whole < 3600)
    std::snprintf(text.data(), text.size(), "%lld min %02lld s", whole / 60, whole % 60);
  else
    std::snprintf(text.data(), text.size(), "%lld h %02lld min", whole / 3600, whole % 3600 / 60);
  return text.data();
}

/// @brief Progress of a loop of known length: "label [#####.....] 50 %  12 s left".
/// @details Draws at most ten times a second, and nothing at all when standard error is no terminal. The time left is
/// the time so far scaled by the work left; nothing is said before a tenth of a second has passed. The line is erased
/// at the end, also on an exception.
class Progress {
 public:
  using Clock = std::function<double()>;               ///< seconds since some moment
  using Sink = std::function<void(std::string_view)>;  ///< takes what is to be shown

  /// @brief A bar for `total` units of work on standard error.
  /// @throws InvalidArgument unless total >= 1.
  Progress(std::string label, std::int64_t total)
      : Progress(std::move(label), total, steady_seconds,
                 stderr_is_terminal() ? Sink([](std::string_view s) { std::fwrite(s.data(), 1, s.size(), stderr); })
                                      : Sink()) {}
  /// A bar with its own clock and sink; an empty sink shows nothing.
  Progress(std::string label, std::int64_t total, Clock clock, Sink sink)
      : label_(std::move(label)), total_(total), clock_(std::move(clock)), sink_(std::move(sink)), start_(clock_()) {
    require(total >= 1, "total", total, ">= 1");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { finish(); }

  /// @brief `done` units are done now (0 .. total; more counts as total). Costs two comparisons when nothing is to be
  /// drawn.
  void update(std::int64_t done) {
    done_ = done;
    if (!sink_) return;
    const double now = clock_();
    if (now - drawn_at_ < 0.1) return;
    drawn_at_ = now;
    shown_ = true;
    sink_("\r" + line(now - start_) + "\x1b[K");
  }
  /// One more unit is done.
  void step() { update(done_ + 1); }
  /// Changes the label, e.g. to the name of the present phase.
  void label(std::string text) { label_ = std::move(text); }
  /// Erases the bar; repeated calls do nothing.
  void finish() noexcept {
    if (!std::exchange(shown_, false)) return;
    try {
      sink_("\r\x1b[K");
    } catch (...) {  // a lost terminal is no reason to end the run
    }
  }

 private:
  static double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  std::string line(double elapsed) const {
    const double share = std::clamp(static_cast<double>(done_) / static_cast<double>(total_), 0.0, 1.0);
    const auto filled = static_cast<std::size_t>(share * 30);
    std::array<char, 16> percent{};
    std::snprintf(percent.data(), percent.size(), "%3d %%", static_cast<int>(share * 100));
    std::string text = label_ + " [" + std::string(filled, '#') + std::string(30 - filled, '.') + "] " + percent.data();
    if (share > 0 && elapsed >= 0.1) text += "  " + short_duration(elapsed * (1 - share) / share) + " left";
    return text;
  }

  std::string label_;
  std::int64_t total_, done_ = 0;
  Clock clock_;
  Sink sink_;
  double start_, drawn_at_ = -1e300;
  bool shown_ = false;
};

}  // namespace train
}  // namespace incipit::inline INCIPIT_ABI
