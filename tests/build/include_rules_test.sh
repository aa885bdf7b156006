#!/bin/sh
# SPDX-License-Identifier: MIT
# The include check must catch what it is for: each broken header below is planted alone and must be refused.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# planted WANT FILE LINE: runs the check on a small tree with one more header; WANT is pass or refuse.
planted() {
  rm -rf "$work/include"
  mkdir -p "$work/include/incipit/core" "$work/include/incipit/nn" "$work/include/incipit/tensor"
  echo '#include <Eigen/Core>' > "$work/include/incipit/core/config.hpp"
  echo '#include <incipit/core/config.hpp>' > "$work/include/incipit/nn/linear.hpp"
  echo '#include <xtensor/xtensor.hpp>' > "$work/include/incipit/tensor/view.hpp"
  mkdir -p "$(dirname "$work/include/incipit/$2")"
  echo "$3" >> "$work/include/incipit/$2"
  [ "${4-}" = stale ] || sh "$here/include_rules.sh" --write "$work/include" > /dev/null
  if sh "$here/include_rules.sh" "$work/include" > "$work/log" 2>&1; then got=pass; else got=refuse; fi
  if [ "$got" != "$1" ]; then
    echo "$2 with '$3': wanted $1, got $got"
    cat "$work/log"
    failed=1
  fi
}

planted pass   core/matrix.hpp    '#include <vector>'
planted pass   model/mlp.hpp      '#include <incipit/nn/linear.hpp>'
planted pass   model/mlp.hpp      '#include <incipit/core/config.hpp>'
planted pass   measure/map.hpp    '#include <incipit/tensor/view.hpp>'
planted pass   core/json.hpp      '#include <nlohmann/json.hpp>'
planted refuse theory/flow.hpp    '#include <incipit/nn/linear.hpp>'
planted refuse theory/flow.hpp    '# include  <incipit/model/mlp.hpp>'
planted refuse theory/flow.hpp    '#include <incipit/optim/adam.hpp>'
planted refuse theory/flow.hpp    '#include <incipit/loss/mse.hpp>'
planted refuse theory/flow.hpp    '#include <incipit/train/loop.hpp>'
planted refuse theory/flow.hpp    '#include <incipit/measure/cosine.hpp>'
planted refuse theory/flow.hpp    '#include <incipit/incipit.hpp>'
planted refuse train/loop.hpp     '#include <incipit/theory/flow.hpp>'
planted refuse train/loop.hpp     '#include <incipit/compare/claim.hpp>'
planted refuse measure/cosine.hpp '#include <incipit/model/mlp.hpp>'
planted refuse core/gemm.hpp      '#include <incipit/linalg/svd.hpp>'
planted refuse core/gemm.hpp      '#include <boost/math/constants/constants.hpp>'
planted refuse theory/flow.hpp    '#include <Eigen/SVD>'
planted refuse core/gemm.hpp      '#include <xtensor/xtensor.hpp>'
planted refuse nn/attention.hpp   '#include <xtl/xspan.hpp>'
planted refuse data/text.hpp      '#include <nlohmann/json.hpp>'
planted refuse nn/relu.hpp        '#include "linear.hpp"'
planted refuse cellar/wine.hpp    '#include <vector>'
planted refuse nn/relu.hpp        '#include <vector>'  stale
exit $failed
