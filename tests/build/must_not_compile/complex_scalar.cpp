// SPDX-License-Identifier: MIT
// Cross entropy has no order on complex numbers.
// says: Real|constraint
#include <complex>
#include <incipit/core/matrix.hpp>
template <incipit::Real T>
struct Needs {};
#ifdef SPOILED
Needs<std::complex<double>> needs;
#else
Needs<long double> needs;
#endif
