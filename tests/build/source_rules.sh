#!/bin/sh
# SPDX-License-Identifier: MIT
# Rules that a search can check. Usage: source_rules.sh FOLDER   (the root of the repository)
set -u
cd "$1" && [ -d include ] || { echo "no folder include in: $1" >&2; exit 2; }
LC_ALL=C
export LC_ALL
broken=0

# forbid WHY PATTERN: no header may contain the pattern outside comments.
forbid() {
  found=$(grep -rnE "$2" include --include='*.hpp' | grep -vE '^[^:]*:[0-9]*:[[:space:]]*//')
  if [ -n "$found" ]; then
    printf '%s:\n%s\n' "$1" "$found"
    broken=1
  fi
}

forbid 'the standard library draws different numbers on every platform; use core/random.hpp' \
  'std::[a-z_]*_distribution|std::(ranges::)?(shuffle|sample)\b|std::random_shuffle|std::random_device|std::mt19937|std::default_random_engine'
forbid 'Eigen draws from rand(); use core/random.hpp' '::Random\(|setRandom\(|\brand\('
forbid 'min and max may be macros; write (std::min)(a, b)' 'std::(min|max)[[:space:]]*(<[^>]*>)?\(|::(min|max)\(\)'
forbid 'macros carry our prefix' '^[[:space:]]*#[[:space:]]*define[[:space:]]+([^I]|I[^N]|IN[^C])'
forbid 'a public function with a deduced return type can return a lazy expression; name the type, or hand on a type unchanged with decltype(auto)' \
  '^[[:space:]]*(template.*>[[:space:]]*)?(inline |constexpr |static )*auto&?&? [a-z_]+\([^)]*\)[^>]*\{'
forbid 'a using-directive at namespace scope reaches the user' '^using namespace'

for header in $(find include -name '*.hpp'); do
  lines=$(wc -l < "$header")
  [ "$lines" -le 400 ] || { echo "$header: $lines lines, at most 400"; broken=1; }
  head -n 1 "$header" | grep -q '^// SPDX-License-Identifier: MIT$' || { echo "$header: no SPDX line"; broken=1; }
  grep -q '^#pragma once$' "$header" || { echo "$header: no #pragma once"; broken=1; }
done
exit $broken
