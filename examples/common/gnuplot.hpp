// SPDX-License-Identifier: MIT
/// @file
/// @brief Runs gnuplot, when there is one.
#pragma once

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace examples {

/// How a run of gnuplot ended.
struct GnuplotRun {
  bool started = false;  ///< false when there is no such program
  bool ok = false;       ///< started and ended without an error
  std::string messages;  ///< what it said
};

/// @brief Runs `program script` inside `folder`, without a shell, so that no file name needs quoting.
/// @param script name relative to `folder`, e.g. "loss.gp"; must not begin with '-'.
inline GnuplotRun run_gnuplot(const std::filesystem::path& folder, const std::string& script,
                              const std::string& program = "gnuplot") {
  GnuplotRun run;
  const std::string where = folder.string();
  std::array<int, 2> output{}, failure{};
  if (::pipe(output.data()) != 0) return run;
  if (::pipe(failure.data()) != 0) {
    ::close(output[0]);
    ::close(output[1]);
    return run;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    // Only async-signal-safe calls between fork and exec: other threads may hold locks.
    ::fcntl(failure[1], F_SETFD, FD_CLOEXEC);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (::chdir(where.c_str()) == 0 && nothing >= 0 && ::dup2(nothing, 0) >= 0 && ::dup2(output[1], 1) >= 0 &&
        ::dup2(output[1], 2) >= 0) {
      ::close(output[0]);
      ::close(failure[0]);
      ::execlp(program.c_str(), program.c_str(), script.c_str(), static_cast<char*>(nullptr));
    }
    const char sign = 'x';
    if (::write(failure[1], &sign, 1) != 1) ::_exit(126);
    ::_exit(127);
  }
  ::close(output[1]);
  ::close(failure[1]);
  if (child > 0) {
    std::array<char, 4096> buffer{};
    const auto read_some = [&buffer](int from) {
      ssize_t n;
      while ((n = ::read(from, buffer.data(), buffer.size())) < 0 && errno == EINTR) {
      }
      return n > 0 ? static_cast<std::size_t>(n) : 0U;
    };
    run.started = read_some(failure[0]) == 0;  // the pipe closes at a successful exec
    while (const std::size_t n = read_some(output[0])) run.messages.append(buffer.data(), n);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    run.ok = run.started && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  ::close(output[0]);
  ::close(failure[0]);
  return run;
}

}  // namespace examples
