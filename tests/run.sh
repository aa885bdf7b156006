#!/bin/bash
# SPDX-License-Identifier: MIT
# All tests, from nothing: installs what is missing, builds with g++, runs the tests; again with clang's address and
# undefined-behaviour sanitizers; then some seconds of every fuzzer. The last line is "N passed, N failed".
#
# Narrowed by the environment:
#   INCIPIT_PRESETS="release sanitizers"   presets to build and test
#   INCIPIT_TESTS=REGEX                    only the CTest tests whose name matches
#   INCIPIT_FUZZ_SECONDS=10                for each fuzzer, 0: none (the fuzzers need the preset sanitizers)
#   INCIPIT_BENCHMARKS=ON                  compile the benchmarks too
#   INCIPIT_EVERYTHING=1                   verify with --all in its test: minutes more
#   INCIPIT_JOBS=N                         compilers and tests at a time
#   INCIPIT_REQUIRE_SHARED=1               missing shared data is a failure, not a skipped case
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
presets=${INCIPIT_PRESETS-release sanitizers}
jobs=${INCIPIT_JOBS:-$(nproc)}
fuzz_seconds=${INCIPIT_FUZZ_SECONDS:-10}
passed=0 failed=0 skipped=0

finish() {
  local line="$passed passed, $failed failed"
  [ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
  echo "$line"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
  exit
}
say() { printf '\n== %s\n' "$*"; }
broken() { failed=$((failed + 1)); echo "FAILED: $*"; }

# count FILE NAME STATUS: adds one CTest test. A program of ours left its cases in FILE; anything else is one case.
count() {
  local p f s
  if [ -s "$1" ]; then
    read -r p f s < <(awk '{ p += $1; f += $2; s += $3 } END { print p, f, s }' "$1")
    [ "$3" = run ] || [ "$f" -gt 0 ] || f=1 # it ended badly after its last case: a leak, for instance
  else
    case $3 in
      run) p=1 f=0 s=0 ;;
      disabled) p=0 f=0 s=1 ;;
      *) p=0 f=1 s=0 ;; # failed, crashed, or could not be built
    esac
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

test_preset() {
  local build=build/$1 report=build/$1/junit.xml name status
  say "$1: build"
  mkdir -p "$build"
  cmake --preset "$1" "-DINCIPIT_BUILD_BENCHMARKS=${INCIPIT_BENCHMARKS:-OFF}" > "$build/configure.log" 2>&1 || { cat "$build/configure.log"; broken "$1: configure"; return; }
  cmake --build "$build" -j "$jobs" -- -k 0 || broken "$1: build"
  say "$1: test"
  rm -rf "$build/tally" "$report"
  mkdir -p "$build/tally"
  ctest --test-dir "$build" -j "$jobs" --output-on-failure --output-junit junit.xml ${INCIPIT_TESTS:+-R "$INCIPIT_TESTS"}
  [ -s "$report" ] || { broken "$1: no test ran"; return; }
  while read -r name status; do
    count "$build/tally/$name" "$name" "$status"
  done < <(sed -n 's/.*<testcase name="\([^"]*\)".* status="\([a-z]*\)".*/\1 \2/p' "$report")
}

fuzz() {
  local program name
  for program in build/sanitizers/tests/fuzz/*_fuzz; do
    [ -x "$program" ] || continue
    name=$(basename "$program")
    say "$name: $fuzz_seconds s"
    mkdir -p "build/fuzz/$name"
    local seeds=()
    [ ! -d "tests/fuzz/corpus/$name" ] || seeds=("tests/fuzz/corpus/$name")
    if "$program" -max_total_time="$fuzz_seconds" -verbosity=0 -print_final_stats=1 -rss_limit_mb=2048 \
      -artifact_prefix="build/fuzz/$name-" "build/fuzz/$name" "${seeds[@]}" > "build/fuzz/$name.log" 2>&1; then
      grep number_of_executed "build/fuzz/$name.log"
      passed=$((passed + 1))
    else
      tail -n 40 "build/fuzz/$name.log"
      broken "$name"
    fi
  done
}

.ci/setup examples tests || { broken "packages"; finish; }
for preset in $presets; do test_preset "$preset"; done
if [ "$fuzz_seconds" -gt 0 ] && [[ " $presets " == *" sanitizers "* ]]; then fuzz; fi
say "sum over: $presets"
finish
