// SPDX-License-Identifier: MIT
// A learning rate is not a time of the gradient flow.
// says: FlowTime
#include <incipit/core/matrix.hpp>
double reached(incipit::FlowTime t) { return t.value; }
#ifdef SPOILED
double value = reached(incipit::StepSize{0.1});
#else
double value = reached(incipit::FlowTime{0.1});
#endif
