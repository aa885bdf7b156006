#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: run.sh FILE COMPILER FLAGS...
# FILE must compile as it stands, and must not with -DSPOILED; then the compiler must say what FILE's line
# "// says: REGEX" asks for, so that it fails for the right reason.
set -u
file=$1
shift
says=$(sed -n 's|^// says: ||p' "$file")
[ -n "$says" ] || { echo "$file: no line '// says: REGEX'"; exit 1; }
"$@" -fsyntax-only "$file" || { echo "$file: does not compile even unspoiled"; exit 1; }
if output=$("$@" -fsyntax-only -DSPOILED "$file" 2>&1); then
  echo "$file: compiles, and must not"
  exit 1
fi
echo "$output" | grep -qE "$says" || { echo "$output"; echo "$file: fails, but not with: $says"; exit 1; }
