#!/bin/sh
# SPDX-License-Identifier: MIT
# Who may include whom, checked. Usage: include_rules.sh [--write] [FOLDER]   (FOLDER holds incipit/, default: include)
#
# A room may include itself, the rooms named in its line below, and whatever those may include. Rooms use <angle>
# includes. Third-party headers have one home each. The umbrella headers hold every header exactly once:
# incipit/incipit.hpp what needs only the core of Eigen, incipit/spectra.hpp what needs its decompositions, which compile as
# long as all the others together, incipit/all.hpp the rest. --write rewrites the umbrellas.
set -eu
write=0
if [ "${1-}" = --write ]; then write=1; shift; fi
cd "${1:-include}"
LC_ALL=C
export LC_ALL

find incipit -name '*.hpp' | sort | xargs awk -v write="$write" '
BEGIN {
  split("core:"                                        \
        "|tensor:core|linalg:core|init:core|nn:core|loss:core|optim:core|data:core|check:core" \
        "|model:nn loss init"                          \
        "|theory:core linalg init data"                \
        "|measure:core tensor linalg"                  \
        "|probe:measure nn model optim"                \
        "|compare:measure theory"                      \
        "|io:core tensor data"                         \
        "|train:core tensor linalg init nn loss model optim data measure probe check io", lines, "|")
  for (i in lines) { split(lines[i], part, ":"); room[part[1]] = 1; direct[part[1]] = part[2] }
  for (r in room) reach(r, r)
}
function reach(from, to,    next_rooms, n, i) {
  if ((from, to) in may) return
  may[from, to] = 1
  n = split(direct[to], next_rooms, " ")
  for (i = 1; i <= n; ++i) reach(from, next_rooms[i])
}
function bad(what) { print file ":" FNR ": " what; ++errors }

FNR == 1 {
  file = FILENAME
  files[++count] = file
  n = split(file, path, "/")
  mine = n == 2 ? "umbrella" : path[2]
  if (mine != "umbrella" && !(mine in room)) bad("no such room: " mine)
}
/^[ \t]*#[ \t]*include/ {
  if ($0 !~ /<[^>]*>/) { bad("include with <...>, so that installed headers find each other: " $0); next }
  name = $0
  sub(/^[^<]*</, "", name)
  sub(/>.*/, "", name)
  if (name ~ /^incipit\//) {
    includes[file] = includes[file] " " name
    if (mine == "umbrella") { listed[file, name]++; next }
    n = split(name, path, "/")
    if (n < 3) bad("a room never includes an umbrella: " name)
    else if (!((mine, path[2]) in may)) bad(mine " must not include " path[2] ": " name)
  }
  else if (mine == "umbrella") bad("an umbrella includes only our headers: " name)
  else if (name ~ /^Eigen\/(SVD|Eigenvalues|QR|LU|Cholesky|Dense)$/) { if (mine != "linalg") bad("decompositions live in linalg: " name); solver[file] = 1 }
  else if (name ~ /^(unsupported\/)?Eigen\//) ;
  else if (name ~ /^[a-z_0-9]+$/) ;                                            # standard library
  else if (name ~ /^[a-z0-9]*intrin\.h$/) { if (mine != "core") bad("intrinsics live in core: " name) }
  else if (name ~ /^(xtensor|xtensor-blas|xtl)\//) { if (mine != "tensor") bad("xtensor lives in tensor: " name); heavy[file] = 1 }
  else if (name ~ /^nlohmann\//) { if (file != "incipit/core/json.hpp") bad("JSON lives in core/json.hpp: " name); heavy[file] = 1 }
  else if (name == "cblas.h") { if (mine != "core") bad("CBLAS lives in core: " name) }
  else if (name == "unistd.h") { if (mine != "train") bad("POSIX terminals live in train: " name) }
  else bad("unknown third-party header: " name)
}
END {
  # A header is heavy, or needs a decomposition, if anything that it includes is or does.
  for (again = 1; again;) {
    again = 0
    for (i = 1; i <= count; ++i) {
      if (files[i] ~ /^incipit\/[a-z_]+\.hpp$/) continue
      n = split(includes[files[i]], names, " ")
      for (j = 1; j <= n; ++j) {
        if ((names[j] in heavy) && !(files[i] in heavy)) { heavy[files[i]] = 1; again = 1 }
        if ((names[j] in solver) && !(files[i] in solver)) { solver[files[i]] = 1; again = 1 }
      }
    }
  }
  light = "incipit/incipit.hpp"
  spectra = "incipit/spectra.hpp"
  all = "incipit/all.hpp"
  split(light " " spectra " " all, umbrellas, " ")
  for (i = 1; i <= count; ++i) {
    f = files[i]
    if (f == light || f == spectra || f == all) continue
    home = (f in heavy) ? all : (f in solver) ? spectra : light
    body[home] = body[home] "#include <" f ">\n"
    if (write) continue
    for (u in umbrellas) {
      times = listed[umbrellas[u], f] + 0
      if (umbrellas[u] == home && times != 1) { print home ": must include " f " once"; ++errors }
      if (umbrellas[u] != home && times) { print umbrellas[u] ": must not include " f; ++errors }
    }
  }
  if (!write && (listed[all, light] != 1 || listed[all, spectra] != 1)) { print all ": must include " light " and " spectra; ++errors }
  if (write) {
    head = "// SPDX-License-Identifier: MIT\n/// @file\n/// @brief "
    printf "%sEverything that needs only the core of Eigen.\n#pragma once\n\n%s", head, body[light] > light
    printf "%sWhat needs singular values or eigenvalues; it compiles as long as everything else together.\n#pragma once\n\n%s", head, body[spectra] > spectra
    printf "%sEverything: what needs only Eigen, and the rooms that need xtensor or JSON.\n#pragma once\n\n", head > all
    printf "#include <%s>\n#include <%s>\n%s%s", light, spectra, body[all] == "" ? "" : "\n", body[all] > all
  }
  if (errors) { print errors " broken include rules"; exit 1 }
}'
