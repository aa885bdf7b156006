// SPDX-License-Identifier: MIT
/// @file
/// @brief Elementary functions of one scalar of any kind, always called by qualified name.
#pragma once

#include <incipit/core/finite.hpp>

#include <cmath>
#include <numbers>

/// @brief exp, log, tanh, erf, ... for float to Boost.Multiprecision and Eigen's AutoDiffScalar.
/// @details Each calls the scalar type's own function. Dual numbers (a value and derivatives, as AutoDiffScalar) lack
/// some of them; those go by the chain rule here, so dual numbers nest.
namespace incipit::inline INCIPIT_ABI::scalar {

/// A number with derivatives: Eigen's AutoDiffScalar and what looks like it.
template <class T>
concept Dual = requires(const T x) {
  x.value();
  x.derivatives();
  T(x.value(), x.derivatives());
};

/// f(x) of a dual number from the value f and the slope f' at x.value().
template <Dual T, class V>
T chain(const T& x, const V& value, const V& slope) {
  return T(value, x.derivatives() * slope);
}

/// The circle's number, to the scalar's own precision.
template <Real T>
T pi() {
  if constexpr (Dual<T>) {
    return T(scalar::pi<std::decay_t<decltype(std::declval<T>().value())>>());
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::numbers::pi_v<T>;
  } else {
    using std::acos;
    return T(acos(T(-1)));
  }
}
/// e^x.
template <Real T>
T exp(const T& x) {
  using std::exp;
  return T(exp(x));
}
/// Natural logarithm.
template <Real T>
T log(const T& x) {
  using std::log;
  return T(log(x));
}
/// Square root.
template <Real T>
T sqrt(const T& x) {
  using std::sqrt;
  return T(sqrt(x));
}
/// |x|.
template <Real T>
T abs(const T& x) {
  return x < T(0) ? T(-x) : x;
}
/// log(1 + x) without cancellation.
template <Real T>
T log1p(const T& x) {
  if constexpr (Dual<T>) {
    using V = std::decay_t<decltype(x.value())>;
    return chain<T, V>(x, scalar::log1p<V>(x.value()), V(V(1) / (V(1) + x.value())));
  } else {
    using std::log1p;
    return T(log1p(x));
  }
}
/// Hyperbolic tangent. The slope of a dual number is 1 - tanh^2, which cannot overflow.
template <Real T>
T tanh(const T& x) {
  if constexpr (Dual<T>) {
    using V = std::decay_t<decltype(x.value())>;
    const V y = scalar::tanh<V>(x.value());
    return chain<T, V>(x, y, V(V(1) - y * y));
  } else {
    using std::tanh;
    return T(tanh(x));
  }
}
/// Error function 2/sqrt(pi) int_0^x e^(-t^2) dt.
template <Real T>
T erf(const T& x) {
  if constexpr (Dual<T>) {
    using V = std::decay_t<decltype(x.value())>;
    const V slope(V(2) * scalar::exp<V>(V(-x.value() * x.value())) / scalar::sqrt<V>(scalar::pi<V>()));
    return chain<T, V>(x, scalar::erf<V>(x.value()), slope);
  } else {
    using std::erf;
    return T(erf(x));
  }
}
/// Complementary error function 1 - erf(x), without cancellation.
template <Real T>
T erfc(const T& x) {
  if constexpr (Dual<T>) {
    using V = std::decay_t<decltype(x.value())>;
    const V slope(V(-2) * scalar::exp<V>(V(-x.value() * x.value())) / scalar::sqrt<V>(scalar::pi<V>()));
    return chain<T, V>(x, scalar::erfc<V>(x.value()), slope);
  } else {
    using std::erfc;
    return T(erfc(x));
  }
}
/// Logistic function 1 / (1 + e^-x); neither side forms an infinity or a difference.
template <Real T>
T sigmoid(const T& x) {
  const T e = scalar::exp(T(-scalar::abs(x)));
  return T((x < T(0) ? e : T(1)) / (T(1) + e));
}
/// log(1 + e^x) = max(x, 0) + log1p(e^-|x|).
template <Real T>
T softplus(const T& x) {
  const T rest = scalar::log1p(scalar::exp(T(-scalar::abs(x))));
  return x < T(0) ? rest : T(x + rest);
}

}  // namespace incipit::inline INCIPIT_ABI::scalar
