#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: compile_budget.sh COMPILER. Compile time and memory with -O2 (U47). Memory and what is included are limits;
# times are reported only, since they depend on what else the machine does.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# budget NAME SECONDS MEGABYTES: compiles $work/NAME.cpp.
budget() {
  /usr/bin/time -f '%U %M' -o "$work/cost" "$compiler" -std=c++20 -O2 -I"$root/include" -isystem /usr/include/eigen3 \
    -c "$work/$1.cpp" -o "$work/$1.o" || { failed=1; return; }
  read -r seconds kilobytes < "$work/cost"
  echo "$compiler $1: $seconds s (aim $2), $((kilobytes / 1024)) MB (limit $3)"
  [ $((kilobytes / 1024)) -le "$3" ] || failed=1
}
compiler=$1

cat > "$work/umbrella.cpp" << 'END'
#include <incipit/incipit.hpp>
using Model = incipit::model::EmbMlp<double>;
template struct incipit::model::EmbMlp<double>;
int main() {
  Model::Parameters parameters(161, 64, 128);
  return static_cast<int>(parameters.count() % 2);
}
END
echo '#include <incipit/loss/cross_entropy.hpp>' > "$work/loss.cpp"
budget umbrella 20 1200
budget loss 4 400
if "$compiler" -std=c++20 -I"$root/include" -isystem /usr/include/eigen3 -M "$work/loss.cpp" | grep -E 'Eigen/(SVD|Dense|Eigenvalues|QR)'; then
  echo "the loss header includes solvers"
  failed=1
fi
exit $failed
