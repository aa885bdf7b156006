// SPDX-License-Identifier: MIT
#include "model.hpp"
double sum(const incipit::Owned<Bundle>& model) { return model.weight.sum(); }
