// SPDX-License-Identifier: MIT
/// @file
/// @brief Everything that needs only Eigen.
#pragma once

#include <incipit/core/arena.hpp>
#include <incipit/core/config.hpp>
#include <incipit/core/error.hpp>
#include <incipit/core/exact_math.hpp>
#include <incipit/core/gemm.hpp>
#include <incipit/core/gemm_kernel.hpp>
#include <incipit/core/gemm_pack.hpp>
#include <incipit/core/matrix.hpp>
#include <incipit/core/matrix_view.hpp>
#include <incipit/core/philox.hpp>
#include <incipit/core/random.hpp>
