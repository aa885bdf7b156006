// SPDX-License-Identifier: MIT
// A written argument binds row-major memory only; a column-major matrix would be written through a copy.
// says: (no matching|could not convert|no known conversion|cannot convert|no viable)
#include <incipit/core/matrix.hpp>
void fill(incipit::Out<incipit::Mat<double>> x) { x.setOnes(); }
#ifdef SPOILED
void use(Eigen::MatrixXd& x) { fill(x); }
#else
void use(incipit::Mat<double>& x) { fill(x); }
#endif
