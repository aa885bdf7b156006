// SPDX-License-Identifier: MIT
/// @file
/// @brief Fills weights and whole models by a scheme, one random stream a parameter, named after it.
#pragma once

#include <incipit/core/arena.hpp>
#include <incipit/init/orthogonal.hpp>

#include <variant>

namespace incipit::inline INCIPIT_ABI::init {

/// @brief A scheme that gives whole matrices: `draw(fan, stream)` and `moments(fan)` of an entry.
template <class S>
concept MatrixScheme = requires(const S s, Fan fan, const RandomStream& stream) {
  { s.draw(fan, stream) } -> std::same_as<Mat<double>>;
  { s.moments(fan) } -> std::same_as<Moments>;
};
/// @brief An initialization scheme.
template <class S>
concept Scheme = EntryScheme<S> || MatrixScheme<S>;
static_assert(MatrixScheme<Orthogonal>);

/// @brief Any scheme of the library, for choices at run time.
using AnyScheme =
    std::variant<Gamma, Normal, LeCun, He, Glorot, GlorotUniform, TruncatedNormal, Gpt2Residual, Orthogonal, Constant>;

/// @brief A choice of scheme by parameter: `choose(name, fan)` returns a Scheme or an AnyScheme.
template <class C>
concept SchemeChoice = std::invocable<const C&, std::string_view, Fan>;

/// Exact moments that a scheme asks for.
template <Scheme S>
Moments moments(const S& scheme, Fan fan) {
  return scheme.moments(fan);
}
/// Exact moments that a scheme asks for.
inline Moments moments(const AnyScheme& scheme, Fan fan) {
  return std::visit([&](const auto& s) { return s.moments(fan); }, scheme);
}

/// @brief Fills w with entries of the law that the scheme has for `fan`, whatever w's shape: entry (i, j) has index
/// i * cols + j of the stream. For weights whose fan-in is not their number of rows, such as positions.
template <class W, EntryScheme S>
void fill_with_fan(W&& w, const S& scheme, Fan fan, const RandomStream& stream) {
  using T = typename std::remove_cvref_t<W>::Scalar;
  const auto law = scheme.law(fan);
  std::uint64_t index = 0;
  for (Extent i = 0; i < w.rows(); ++i)
    for (Extent j = 0; j < w.cols(); ++j) w(i, j) = static_cast<T>(law.draw(stream, index++));
}
/// @brief Fills w (in, out) by the scheme; entry (i, j) has index i * out + j of the stream.
/// @details Drawn in double and rounded once, so float and double models start from the same numbers. A weight stored
/// transposed is filled as `fill(w.transpose(), ...)` and holds the same numbers.
/// @par Cost about 20 ns an entry.
template <class W, Scheme S>
void fill(W&& w, const S& scheme, const RandomStream& stream) {
  const Fan fan{w.rows(), w.cols()};
  if constexpr (EntryScheme<S>)
    fill_with_fan(w, scheme, fan, stream);
  else
    w = scheme.draw(fan, stream).template cast<typename std::remove_cvref_t<W>::Scalar>();
}
/// Fills w by a scheme chosen at run time.
template <class W>
void fill(W&& w, const AnyScheme& scheme, const RandomStream& stream) {
  std::visit([&](const auto& s) { fill(w, s, stream); }, scheme);
}

/// @brief Fills every parameter of a bundle by the scheme that `choose(name, fan)` returns for it.
/// @details Parameter p draws from RandomStream(seed, name of p): adding or removing others changes nothing in it.
template <ParameterBundle P, SchemeChoice C>
void initialize(P& bundle, const C& choose, std::uint64_t seed) {
  bundle.for_each_parameter([&](std::string_view name, auto& weight) {
    fill(weight, choose(name, Fan{weight.rows(), weight.cols()}), RandomStream(seed, name));
  });
}
/// @brief Fills every parameter of a bundle by one scheme.
template <ParameterBundle P, class S>
requires(Scheme<S> || std::same_as<S, AnyScheme>) void initialize(P& bundle, const S& scheme, std::uint64_t seed) {
  initialize(
      bundle, [&](std::string_view, Fan) { return scheme; }, seed);
}

}  // namespace incipit::inline INCIPIT_ABI::init
