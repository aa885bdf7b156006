// SPDX-License-Identifier: MIT
/// @file
/// @brief What an initialization scheme asks for: fans, exact moments, the concept of a scheme.
#pragma once

#include <incipit/core/random.hpp>
#include <incipit/core/matrix.hpp>

#include <cmath>

namespace incipit::inline INCIPIT_ABI::init {

/// @brief The two sizes of a weight W in y = x W: `in` is the contracted size, however W is stored.
/// @details An embedding's `in` is the number of tokens (its input is one-hot); of a fused (d, 3d) projection it is d.
struct Fan {
  Extent in;   ///< rows of W, >= 1
  Extent out;  ///< columns of W, >= 1
};

/// Exact moments of one entry, over the draw of the weights.
struct Moments {
  double mean = 0;      ///< E w
  double variance = 0;  ///< E (w - mean)^2
  double fourth = 0;    ///< E (w - mean)^4

  /// Standard deviation.
  double std() const { return std::sqrt(variance); }
  /// A normal law: fourth = 3 std^4.
  static Moments normal(double std) { return {0, std * std, 3 * std * std * std * std}; }
  /// A uniform law on [-sqrt(3) std, sqrt(3) std]: fourth = 9/5 std^4.
  static Moments uniform(double std) { return {0, std * std, 1.8 * std * std * std * std}; }
};

/// @brief Gives every entry on its own: `draw(fan, stream, index)` in double, index = row * out + column.
template <class S>
concept EntryScheme = requires(const S s, Fan fan, const RandomStream& stream) {
  { s.moments(fan) } -> std::same_as<Moments>;
  { s.draw(fan, stream, std::uint64_t{}) } -> std::same_as<double>;
};
/// @brief Gives a whole matrix at once: `draw(fan, stream)`.
template <class S>
concept MatrixScheme = requires(const S s, Fan fan, const RandomStream& stream) {
  { s.moments(fan) } -> std::same_as<Moments>;
  { s.draw(fan, stream) } -> std::same_as<Mat<double>>;
};
/// @brief An initialization scheme: a small value with exact `moments(fan)` and a `draw`.
template <class S>
concept Scheme = EntryScheme<S> || MatrixScheme<S>;

}  // namespace incipit::inline INCIPIT_ABI::init
