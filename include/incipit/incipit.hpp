// SPDX-License-Identifier: MIT
/// @file
/// @brief Everything that needs only Eigen.
#pragma once

#include <incipit/core/arena.hpp>
#include <incipit/core/config.hpp>
#include <incipit/core/error.hpp>
#include <incipit/core/matrix.hpp>
