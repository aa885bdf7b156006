// SPDX-License-Identifier: MIT
// A layer of integers has no gradient.
// says: Real|constraint
#include <incipit/nn/linear.hpp>
#ifdef SPOILED
using T = int;
#else
using T = double;
#endif
using Layer = incipit::nn::Linear<T>;
Layer::Cache cache;
