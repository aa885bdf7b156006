// SPDX-License-Identifier: MIT
/// @file
/// @brief Everything: what needs only Eigen, and the rooms that need xtensor or JSON.
#pragma once

#include <incipit/incipit.hpp>
#include <incipit/spectra.hpp>

#include <incipit/compare/summary.hpp>
#include <incipit/core/json.hpp>
#include <incipit/io/jsonl_examples.hpp>
#include <incipit/measure/trajectory.hpp>
#include <incipit/tensor/view.hpp>
