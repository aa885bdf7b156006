// SPDX-License-Identifier: MIT
#pragma once
#include <incipit/core/arena.hpp>

struct Bundle {
  using Scalar = double;
  incipit::Slot<double> weight{nullptr, 3, 5};
  template <class F>
  void for_each_parameter(F&& f) { f("weight", weight); }
  template <class F>
  void for_each_parameter(F&& f) const { f("weight", weight); }
};

double sum(const incipit::Owned<Bundle>& model);
