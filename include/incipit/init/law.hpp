// SPDX-License-Identifier: MIT
/// @file
/// @brief Laws of one weight: each with its exact moments and its draw by index, in double.
#pragma once

#include <incipit/core/matrix.hpp>
#include <incipit/core/random.hpp>

#include <cmath>
#include <numbers>

namespace incipit::inline INCIPIT_ABI::init {

/// Exact moments of one weight, over the draw.
struct Moments {
  double mean = 0;      ///< E w
  double variance = 0;  ///< E (w - mean)^2
  double fourth = 0;    ///< E (w - mean)^4

  /// Standard deviation.
  double std() const { return std::sqrt(variance); }
  /// Centred, with kurtosis fourth / std^4.
  static Moments centred(double std, double kurtosis) { return {0, std * std, kurtosis * std * std * std * std}; }
};

/// @brief A law of independent weights: exact `moments()`, and `draw(stream, index)`, a pure function of its arguments.
template <class L>
concept EntryLaw = requires(const L law, const RandomStream& stream) {
  { law.moments() } -> std::same_as<Moments>;
  { law.draw(stream, std::uint64_t{}) } -> std::same_as<double>;
};

/// Every weight is c.
struct PointLaw {
  double c;  ///< the value
  /// (c, 0, 0).
  Moments moments() const { return {c, 0, 0}; }
  /// c.
  double draw(const RandomStream&, std::uint64_t) const { return c; }
};

/// Normal, centred.
struct NormalLaw {
  double std;  ///< standard deviation, >= 0
  /// Kurtosis 3.
  Moments moments() const { return Moments::centred(std, 3); }
  /// std times the normal of that index.
  double draw(const RandomStream& stream, std::uint64_t index) const { return std * stream.normal(index); }
};

/// Flat on [-sqrt(3) std, sqrt(3) std).
struct UniformLaw {
  double std;  ///< standard deviation, >= 0
  /// Kurtosis 9/5.
  Moments moments() const { return Moments::centred(std, 1.8); }
  /// The uniform of that index, shifted and scaled.
  double draw(const RandomStream& stream, std::uint64_t index) const {
    return 2 * std::numbers::sqrt3 * std * (stream.uniform(index) - 0.5);
  }
};

/// @brief Normal with standard deviation `scale` before it is confined to [-cut scale, cut scale].
/// @par Formula with phi the normal density and Z = erf(cut / sqrt 2):
/// variance = scale^2 (1 - 2 cut phi(cut) / Z), fourth = scale^4 (3 - 2 (cut^3 + 3 cut) phi(cut) / Z).
struct TruncatedLaw {
  double scale;  ///< standard deviation before truncation, >= 0
  double cut;    ///< largest |w| in units of scale, in [0.1, infinity)
  /// See the class.
  Moments moments() const {
    const double density = std::exp(-cut * cut / 2) / std::sqrt(2 * std::numbers::pi);
    const double edge = 2 * density / std::erf(cut / std::numbers::sqrt2), s2 = scale * scale;
    return {0, s2 * (1 - cut * edge), s2 * s2 * (3 - (cut * cut * cut + 3 * cut) * edge)};
  }
  /// By rejection: attempts at index, index + 2^40, index + 2 * 2^40, ...; index < 2^40.
  double draw(const RandomStream& stream, std::uint64_t index) const {
    double z = stream.normal(index);
    while (z < -cut || z > cut) z = stream.normal(index += std::uint64_t{1} << 40);
    return scale * z;
  }
};

}  // namespace incipit::inline INCIPIT_ABI::init
