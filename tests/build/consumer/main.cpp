// SPDX-License-Identifier: MIT
#ifdef WITH_ALL
#include <incipit/all.hpp>
#else
#include <incipit/core/random.hpp>
#endif

int main() {
  const incipit::RandomStream stream(42, "consumer");
  const double u = stream.uniform(0);
  return u >= 0 && u < 1 ? 0 : 1;
}
