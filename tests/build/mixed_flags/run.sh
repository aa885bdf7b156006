#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: run.sh WORK_DIR COMPILER FLAGS...
# Two files that pass a model between them: compiled alike they link and run; compiled for different instruction sets
# they must not link, and the linker must name what is missing.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$1
shift
mkdir -p "$work" && cd "$work" || exit 1
failed=0

build() { # NAME FLAGS: main and sum for one instruction set
  name=$1
  flags=$2
  shift 2
  # shellcheck disable=SC2086
  "$@" $flags -c "$here/main.cpp" -o "main_$name.o" && "$@" $flags -c "$here/sum.cpp" -o "sum_$name.o" || exit 1
}
build plain "" "$@"
build avx2 "-mavx2 -mfma" "$@"
build avx512 "-mavx512f -mfma" "$@"

for left in plain avx2 avx512; do
  for right in plain avx2 avx512; do
    if "$1" main_$left.o sum_$right.o -o program 2> link.log; then linked=yes; else linked=no; fi
    if [ $left = $right ]; then want=yes; else want=no; fi
    if [ $linked != $want ]; then
      echo "main.cpp for $left and sum.cpp for $right: linked: $linked, wanted: $want"
      cat link.log
      failed=1
    elif [ $linked = no ] && ! grep -q 'sum(incipit::' link.log; then
      echo "the linker does not name the function:"
      cat link.log
      failed=1
    fi
    # This machine may lack the wider instruction sets: those programs are only linked.
    [ $left$right != plainplain ] || ./program || { echo "the program fails"; failed=1; }
  done
done
exit $failed
