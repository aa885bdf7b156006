// SPDX-License-Identifier: MIT
/// @file
/// @brief What needs singular values or eigenvalues; it compiles as long as everything else together.
#pragma once

#include <incipit/linalg/pca.hpp>
#include <incipit/linalg/singular_values.hpp>
#include <incipit/linalg/singular_vectors.hpp>
#include <incipit/linalg/symmetric_eigen.hpp>
#include <incipit/linalg/thin_qr.hpp>
#include <incipit/measure/alignment.hpp>
#include <incipit/measure/spectrum.hpp>
#include <incipit/probe/value_flow.hpp>
#include <incipit/probe/weights.hpp>
#include <incipit/theory/principal_coordinates.hpp>
#include <incipit/theory/theorem_1.hpp>
