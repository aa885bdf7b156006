// SPDX-License-Identifier: MIT
/// @file
/// @brief Everything: what needs only Eigen, and the rooms that need xtensor or JSON.
#pragma once

#include <incipit/incipit.hpp>
