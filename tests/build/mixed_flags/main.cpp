// SPDX-License-Identifier: MIT
#include "model.hpp"
int main() {
  incipit::Owned<Bundle> model;
  model.weight.setOnes();
  return sum(model) == 15 ? 0 : 1;
}
