#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds one example from nothing and runs it where you stand. Usage: examples/run.sh NAME [ARGUMENTS...]
set -eu
[ $# -ge 1 ] || { echo "usage: $0 NAME [ARGUMENTS...]" >&2; exit 2; }
name=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/release

# A build folder keeps what it was set to build; a new one gets the examples only.
option() {
  value=$(sed -n "s/^$1:BOOL=//p" "$build/CMakeCache.txt" 2> /dev/null || true)
  echo "-D$1=${value:-OFF}"
}

"$root/.ci/setup" examples >&2
mkdir -p "$build"
echo "building $name ..." >&2
(
  cd "$root"
  cmake --preset release "$(option INCIPIT_BUILD_TESTS)" "$(option INCIPIT_BUILD_BENCHMARKS)"
  cmake --build "$build" --target "$name"
) > "$build/example.log" 2>&1 || { cat "$build/example.log" >&2; exit 1; }
exec "$build/examples/$name" "$@"
