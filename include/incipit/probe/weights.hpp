// SPDX-License-Identifier: MIT
/// @file
/// @brief Spectra of all weights of a model, by name.
#pragma once

#include <incipit/core/arena.hpp>
#include <incipit/measure/alignment.hpp>

namespace incipit::inline INCIPIT_ABI::probe {

/// @brief The spectrum of one weight matrix.
struct WeightSpectrum {
  std::string name;               ///< its parameter name
  Extent rows = 0;                ///< R
  Extent cols = 0;                ///< C
  measure::Spectrum spectrum;     ///< norms and ranks; effective_rank is what falls when weights condense
  measure::Defined<double> lead;  ///< S_1 / S_2
};

/// @brief Spectra of every parameter with at least two rows and two columns, in the order of for_each_parameter.
/// @details Gains and biases are single rows and have no spectrum. Taken along a run, the effective ranks show how many
/// degrees of freedom each weight uses.
/// @throws NonFiniteError naming the parameter and the entry. @par Cost that of linalg::singular_values for each.
template <ParameterBundle P>
std::vector<WeightSpectrum> weight_spectra(const P& params) {
  std::vector<WeightSpectrum> out;
  params.for_each_parameter([&](std::string_view name, const auto& slot) {
    if (slot.rows() < 2 || slot.cols() < 2) return;
    const Mat<double> weight = slot.template cast<double>();
    const Col<double> values = linalg::singular_values(weight, name);
    out.push_back(
        {std::string(name), slot.rows(), slot.cols(), measure::spectrum(values), measure::leading_ratio(values)});
  });
  return out;
}

}  // namespace incipit::inline INCIPIT_ABI::probe
