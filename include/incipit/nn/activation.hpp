// SPDX-License-Identifier: MIT
/// @file
/// @brief Activations: value, derivative, and what theory needs to know of them at zero.
#pragma once

#include <incipit/core/matrix.hpp>
#include <incipit/core/scalar.hpp>
#include <incipit/core/vector_math.hpp>

#include <string_view>

namespace incipit::inline INCIPIT_ABI::nn {

/// @brief An activation act: R -> R.
/// @details `value0`, `slope0`, `curvature0` are act(0), act'(0), act''(0); `smooth` says that act is C^2 with bounded
/// first and second derivatives. `value(x)` is act(x), `derivative(x, y)` is act'(x) given also y = act(x), so that
/// the cheaper of the two is used; `from_output` says that x is not looked at.
template <class A>
concept ActivationFunction = requires(double x) {
  { A::name } -> std::convertible_to<std::string_view>;
  { A::value0 } -> std::convertible_to<double>;
  { A::slope0 } -> std::convertible_to<double>;
  { A::curvature0 } -> std::convertible_to<double>;
  { A::smooth } -> std::convertible_to<bool>;
  { A::from_output } -> std::convertible_to<bool>;
  { A::value(x) } -> std::same_as<double>;
  { A::derivative(x, x) } -> std::same_as<double>;
};

/// @brief Assumption 1 of paper A: act in C^2, act(0) = 0, act'(0) = 1, bounded derivatives.
template <ActivationFunction A>
inline constexpr bool satisfies_assumption_1 = A::smooth && A::value0 == 0.0 && A::slope0 == 1.0;

namespace detail {
inline constexpr double sqrt_2_over_pi = 0.797884560802865355879892119868763737;  // sqrt(2/pi)
inline constexpr double inv_sqrt_2pi = 0.398942280401432677939946059934381868;    // 1/sqrt(2 pi)
}  // namespace detail

/// @brief act(x) = x.
struct Identity {
  static constexpr std::string_view name = "identity";                ///< name in tables and files
  static constexpr double value0 = 0, slope0 = 1, curvature0 = 0;     ///< act(0), act'(0), act''(0)
  static constexpr bool smooth = true, from_output = true;            ///< see ActivationFunction
  template <Real T> static T value(const T& x) { return x; }          ///< x
  template <Real T> static T derivative(const T&, const T&) { return T(1); }  ///< 1
};

/// @brief act(x) = tanh x, act' = 1 - y^2.
struct Tanh {
  static constexpr std::string_view name = "tanh";                    ///< name in tables and files
  static constexpr double value0 = 0, slope0 = 1, curvature0 = 0;     ///< act(0), act'(0), act''(0)
  static constexpr bool smooth = true, from_output = true;            ///< see ActivationFunction
  template <Real T> static T value(const T& x) { return scalar::tanh(x); }            ///< tanh x
  template <Real T> static T derivative(const T&, const T& y) { return T(T(1) - y * y); }         ///< 1 - y^2
};

/// @brief act(x) = max(x, 0), act'(0) := 0. Not C^2, so outside Assumption 1.
struct Relu {
  static constexpr std::string_view name = "relu";                    ///< name in tables and files
  static constexpr double value0 = 0, slope0 = 0, curvature0 = 0;     ///< act(0), act'(0) by convention, act''(0)
  static constexpr bool smooth = false, from_output = true;           ///< see ActivationFunction
  template <Real T> static T value(const T& x) { return x > T(0) ? x : (x == x ? T(0) : x); }     ///< max(x, 0); NaN stays
  template <Real T> static T derivative(const T&, const T& y) { return y > T(0) ? T(1) : T(0); }  ///< [x > 0]
};

/// @brief Logistic sigmoid 1/(1 + e^-x): act(0) = 1/2, act'(0) = 1/4, so it breaks Assumption 1.
struct Sigmoid {
  static constexpr std::string_view name = "sigmoid";                 ///< name in tables and files
  static constexpr double value0 = 0.5, slope0 = 0.25, curvature0 = 0;  ///< act(0), act'(0), act''(0)
  static constexpr bool smooth = true, from_output = true;            ///< see ActivationFunction
  template <Real T> static T value(const T& x) { return scalar::sigmoid(x); }                             ///< 1/(1 + e^-x)
  template <Real T> static T derivative(const T&, const T& y) { return T(y * (T(1) - y)); }       ///< y (1 - y)
};

/// @brief Centred sigmoid 4 (sigmoid(x) - 1/2) = 2 tanh(x/2): satisfies Assumption 1 with act''(0) = 0.
struct CentredSigmoid {
  static constexpr std::string_view name = "centred_sigmoid";         ///< name in tables and files
  static constexpr double value0 = 0, slope0 = 1, curvature0 = 0;     ///< act(0), act'(0), act''(0)
  static constexpr bool smooth = true, from_output = true;            ///< see ActivationFunction
  template <Real T> static T value(const T& x) { return T(T(2) * scalar::tanh(T(x / T(2)))); }  ///< 2 tanh(x/2)
  template <Real T> static T derivative(const T&, const T& y) { return T(T(1) - y * y / T(4)); }  ///< 1 - y^2/4
};

/// @brief SiLU (swish) x sigmoid(x): act'(0) = 1/2.
struct Silu {
  static constexpr std::string_view name = "silu";                    ///< name in tables and files
  static constexpr double value0 = 0, slope0 = 0.5, curvature0 = 0.5; ///< act(0), act'(0), act''(0)
  static constexpr bool smooth = true, from_output = false;           ///< see ActivationFunction
  /// x sigmoid(x), with the limit 0 at -inf
  template <Real T> static T value(const T& x) {
    const T s = scalar::sigmoid(x);
    return s == T(0) ? T(0) : T(x * s);
  }
  /// s (1 + x (1 - s)), s = sigmoid(x)
  template <Real T> static T derivative(const T& x, const T&) {
    const T s = scalar::sigmoid(x), c = scalar::sigmoid(T(-x));
    return T(s + (s == T(0) || c == T(0) ? T(0) : T(x * s * c)));
  }
};

/// @brief 2 x sigmoid(x): satisfies Assumption 1 with act''(0) = 1, the activation with the slower remainder law.
struct ScaledSilu {
  static constexpr std::string_view name = "scaled_silu";             ///< name in tables and files
  static constexpr double value0 = 0, slope0 = 1, curvature0 = 1;     ///< act(0), act'(0), act''(0)
  static constexpr bool smooth = true, from_output = false;           ///< see ActivationFunction
  template <Real T> static T value(const T& x) { return T(T(2) * Silu::value(x)); }               ///< 2 x sigmoid(x)
  template <Real T> static T derivative(const T& x, const T& y) { return T(T(2) * Silu::derivative(x, y)); }  ///< twice SiLU's
};

/// @brief Scaled error function (sqrt(pi)/2) erf(x): satisfies Assumption 1, act' = exp(-x^2).
struct ScaledErf {
  static constexpr std::string_view name = "scaled_erf";              ///< name in tables and files
  static constexpr double value0 = 0, slope0 = 1, curvature0 = 0;     ///< act(0), act'(0), act''(0)
  static constexpr bool smooth = true, from_output = false;           ///< see ActivationFunction
  /// (sqrt(pi)/2) erf(x)
  template <Real T> static T value(const T& x) { return T(scalar::sqrt(scalar::pi<T>()) / T(2) * scalar::erf(x)); }
  /// exp(-x^2)
  template <Real T> static T derivative(const T& x, const T&) { return scalar::exp(T(-x * x)); }
};

/// @brief GELU, exact form x Phi(x), Phi the normal distribution function (Hendrycks & Gimpel 2016).
struct GeluErf {
  static constexpr std::string_view name = "gelu_erf";                ///< name in tables and files
  static constexpr double value0 = 0, slope0 = 0.5, curvature0 = 2 * detail::inv_sqrt_2pi;  ///< act(0), act'(0), act''(0)
  static constexpr bool smooth = true, from_output = false;           ///< see ActivationFunction
  /// Phi(x) = erfc(-x/sqrt 2)/2, which keeps its digits in the left tail
  template <Real T> static T phi(const T& x) { return T(scalar::erfc(T(-x / scalar::sqrt(T(2)))) / T(2)); }
  /// x Phi(x), with the limit 0 at -inf
  template <Real T> static T value(const T& x) {
    const T p = phi(x);
    return p == T(0) ? T(0) : T(x * p);
  }
  /// Phi(x) + x phi(x)
  template <Real T> static T derivative(const T& x, const T&) {
    const T density = T(scalar::exp(T(-x * x / T(2))) / scalar::sqrt(T(T(2) * scalar::pi<T>())));
    return T(phi(x) + (density == T(0) ? T(0) : T(x * density)));
  }
};

/// @brief GELU, tanh form x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))/2. Differs from GeluErf by up to 4.732e-4.
struct GeluTanh {
  static constexpr std::string_view name = "gelu_tanh";               ///< name in tables and files
  static constexpr double value0 = 0, slope0 = 0.5, curvature0 = detail::sqrt_2_over_pi;  ///< act(0), act'(0), act''(0)
  static constexpr bool smooth = true, from_output = false;           ///< see ActivationFunction
  /// t = tanh(sqrt(2/pi) (x + 0.044715 x^3))
  template <Real T> static T inner(const T& x) {
    return scalar::tanh(T(root<T>() * T(x + T(44715) / T(1000000) * x * x * x)));
  }
  /// sqrt(2/pi)
  template <Real T> static T root() { return scalar::sqrt(T(T(2) / scalar::pi<T>())); }
  /// x (1 + t)/2, with the limit 0 at -inf
  template <Real T> static T value(const T& x) {
    const T gate = T((T(1) + inner(x)) / T(2));
    return gate == T(0) ? T(0) : T(x * gate);
  }
  /// (1 + t)/2 + x/2 (1 - t^2) sqrt(2/pi) (1 + 3 * 0.044715 x^2); every factor is bounded before it is multiplied
  template <Real T> static T derivative(const T& x, const T&) {
    const T t = inner(x), sech2 = T(T(1) - t * t);
    const T outer = T((T(1) + t) / T(2));
    if (sech2 == T(0)) return outer;
    const T slope = T(root<T>() * T(T(1) + T(3) * T(44715) / T(1000000) * x * x));
    return T(outer + x / T(2) * sech2 * slope);
  }
};

/// @brief x[i] <- act(x[i]) for n values, through the vectorised seam where there is one.
template <ActivationFunction A, Real T>
void activate(T* x, Extent n) {
  if constexpr (std::is_same_v<A, Identity>) {
    return;
  } else if constexpr (std::is_same_v<A, Tanh>) {
    VectorMath<T>::tanh(x, n);
  } else {
    for (Extent i = 0; i < n; ++i) x[i] = A::value(x[i]);
  }
}

/// @brief dx[i] <- dy[i] act'(x[i]), y = act(x); dx may be dy itself; x is not read when `A::from_output`.
template <ActivationFunction A, Real T>
void activation_backward(const T* x, const T* y, const T* dy, T* dx, Extent n) {
  for (Extent i = 0; i < n; ++i) {
    if constexpr (A::from_output)
      dx[i] = T(dy[i] * A::derivative(y[i], y[i]));
    else
      dx[i] = T(dy[i] * A::derivative(x[i], y[i]));
  }
}

/// @brief y[i] <- act(x[i]) and x[i] <- act'(x[i]): forward that leaves backward one multiplication.
/// @details Vectorised for tanh, gelu-tanh and silu in float and double; x and y must not overlap.
template <ActivationFunction A, Real T>
void activate_with_slope(T* x, T* y, Extent n) {
  constexpr Extent block = 256;
  constexpr bool fast = std::is_same_v<T, float> || std::is_same_v<T, double>;
  if constexpr (std::is_same_v<A, Tanh>) {
    std::copy(x, x + n, y);
    VectorMath<T>::tanh(y, n);
    for (Extent i = 0; i < n; ++i) x[i] = T(T(1) - y[i] * y[i]);
  } else if constexpr (fast && std::is_same_v<A, GeluTanh>) {
    constexpr T root = T(0.79788456080286535588L), cubic = T(0.044715L);  // sqrt(2/pi)
    T t[block];
    for (Extent first = 0; first < n; first += block) {
      const Extent size = (std::min)(block, n - first);
      T *const xs = x + first, *const ys = y + first;
      for (Extent i = 0; i < size; ++i) t[i] = root * xs[i] * (1 + cubic * xs[i] * xs[i]);
      VectorMath<T>::tanh(t, size);
      for (Extent i = 0; i < size; ++i) {
        // Beyond 20 the cubic may overflow to infinity while 1 - t^2 is 0: a bounded x keeps the product a number.
        const T v = (std::min)((std::max)(xs[i], T(-20)), T(20)), gate = T(0.5) * (1 + t[i]);
        ys[i] = gate == 0 ? T(0) : xs[i] * gate;
        xs[i] = gate + T(0.5) * v * (1 - t[i] * t[i]) * root * (1 + 3 * cubic * v * v);
      }
    }
  } else if constexpr (fast && std::is_same_v<A, Silu>) {
    T s[block];
    for (Extent first = 0; first < n; first += block) {
      const Extent size = (std::min)(block, n - first);
      T *const xs = x + first, *const ys = y + first;
      std::copy(xs, xs + size, s);
      VectorMath<T>::sigmoid(s, size);
      for (Extent i = 0; i < size; ++i) {
        const T v = (std::min)((std::max)(xs[i], T(-800)), T(800));  // beyond, s (1 - s) is 0 and x may be infinite
        ys[i] = s[i] == 0 ? T(0) : xs[i] * s[i];
        xs[i] = s[i] + v * s[i] * (1 - s[i]);
      }
    }
  } else {
    for (Extent i = 0; i < n; ++i) {
      y[i] = A::value(x[i]);
      x[i] = A::derivative(x[i], y[i]);
    }
  }
}

/// @brief Elementwise activation as a layer.
/// @par Shapes   x, y, dy, dx: (N, C).
/// @par Forward  \f$ y = \mathrm{act}(x) \f$  @par Backward \f$ dx = dy \odot \mathrm{act}'(x) \f$
/// @par Checked  tests/nn/activation_test.cpp
template <Real T, ActivationFunction A, Extent C = dyn>
struct Activation {
  /// No parameters.
  struct Params {
    using Scalar = T;                                        ///< scalar type
    template <class V> void for_each_parameter(V&&) const {}  ///< nothing to visit
  };
  /// Input and output of the last forward pass.
  struct Cache {
    Mat<T, dyn, C> x, y;  ///< (N, C)
  };
  /// y = act(x); keeps x and y.
  const Mat<T, dyn, C>& forward(const Params&, In<Mat<T, dyn, C>> x, Cache& cache) const {
    cache.x = x;
    cache.y = x;
    activate<A>(cache.y.data(), cache.y.size());
    return cache.y;
  }
  /// dx = dy * act'(x).
  void backward(const Params&, const Cache& cache, In<Mat<T, dyn, C>> dy, Out<Mat<T, dyn, C>> dx, Params&) const {
    require_size("dy.rows", dy.rows(), cache.y.rows());
    require_size("dy.cols", dy.cols(), cache.y.cols());
    require_size("dx.rows", dx.rows(), dy.rows());
    require_size("dx.cols", dx.cols(), dy.cols());
    for (Extent i = 0; i < dy.rows(); ++i)
      activation_backward<A>(cache.x.data() + i * dy.cols(), cache.y.data() + i * dy.cols(), dy.data() + i * dy.rowStride(),
                             dx.data() + i * dx.rowStride(), dy.cols());
  }
};

static_assert(ActivationFunction<Identity> && ActivationFunction<Tanh> && ActivationFunction<Relu>);
static_assert(ActivationFunction<Sigmoid> && ActivationFunction<CentredSigmoid> && ActivationFunction<Silu>);
static_assert(ActivationFunction<ScaledSilu> && ActivationFunction<ScaledErf>);
static_assert(ActivationFunction<GeluErf> && ActivationFunction<GeluTanh>);
static_assert(satisfies_assumption_1<Tanh> && satisfies_assumption_1<ScaledSilu> && satisfies_assumption_1<CentredSigmoid>);
static_assert(!satisfies_assumption_1<Relu> && !satisfies_assumption_1<Sigmoid> && !satisfies_assumption_1<Silu>);

}  // namespace incipit::inline INCIPIT_ABI::nn
