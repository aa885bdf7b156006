// SPDX-License-Identifier: MIT
/// @file
/// @brief What the checkers call a layer, adapters for lambdas, and inputs to check with.
#pragma once

#include <incipit/core/arena.hpp>
#include <incipit/core/random.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace incipit::inline INCIPIT_ABI::check {

/// The bundle of a layer without parameters.
template <Real T>
struct NoParameters {
  using Scalar = T;  ///< scalar type
  template <class F>
  void for_each_parameter(F&&) {}  ///< visits nothing
  template <class F>
  void for_each_parameter(F&&) const {}  ///< visits nothing
};

namespace detail {
template <class L, class X>
using OutputOf = typename std::remove_cvref_t<decltype(std::declval<const L&>().forward(
    std::declval<const typename L::Params&>(), std::declval<const Eigen::Ref<const X>&>(),
    std::declval<typename L::Cache&>()))>::PlainObject;

template <class L>
using ScalarOf = typename L::Params::Scalar;
}  // namespace detail

/// @brief A layer from real rows to real rows: `forward` and `backward` as every layer of the library has them.
/// @details X is the plain matrix type of the input. `forward` returns y, owned by the cache or by value; `backward`
/// writes dx and adds to the gradients of the parameters, which the caller has zeroed.
template <class L, class X>
concept RealLayer = ParameterBundle<typename L::Params> && std::default_initializable<typename L::Cache> &&
    std::same_as<typename X::Scalar, detail::ScalarOf<L>> &&
    requires(const L layer, const typename L::Params p, const Eigen::Ref<const X> x, Eigen::Ref<X> dx,
             typename L::Cache cache, const typename L::Cache done, typename L::Params grad,
             const Eigen::Ref<const detail::OutputOf<L, X>> dy) {
  layer.forward(p, x, cache);
  layer.backward(p, done, dy, dx, grad);
};

/// @brief A layer whose input is ids (an embedding): as RealLayer, but X holds integers and `backward` has no dx.
template <class L, class X>
concept IdLayer = ParameterBundle<typename L::Params> && std::default_initializable<typename L::Cache> &&
    std::integral<typename X::Scalar> &&
    requires(const L layer, const typename L::Params p, const Eigen::Ref<const X> x, typename L::Cache cache,
             const typename L::Cache done, typename L::Params grad, const Eigen::Ref<const detail::OutputOf<L, X>> dy) {
  layer.forward(p, x, cache);
  layer.backward(p, done, dy, grad);
};

/// What the checkers accept. A layer with real input but without dx is not accepted: no path may lack a gradient.
template <class L, class X>
concept CheckableLayer = RealLayer<L, X> || IdLayer<L, X>;

/// @brief Two callables as a layer, with the bundle and cache types given.
/// @details forward(params, x, cache) -> y; backward(params, cache, dy, dx, grad), or without dx for ids.
template <ParameterBundle P, std::default_initializable C, class Forward, class Backward>
class LambdaLayer {
 public:
  using Params = P;  ///< bundle of parameters
  using Cache = C;   ///< what forward keeps for backward
  /// Keeps the callables.
  LambdaLayer(Forward forward, Backward backward) : forward_(std::move(forward)), backward_(std::move(backward)) {}
  /// Calls the forward callable.
  template <class X>
  decltype(auto) forward(const Params& params, const X& x, Cache& cache) const {
    return forward_(params, x, cache);
  }
  /// Calls the backward callable, with dx.
  template <class Dy, class Dx>
  requires std::invocable<const Backward&, const Params&, const Cache&, const Dy&, Dx&, Params&>
  void backward(const Params& params, const Cache& cache, const Dy& dy, Dx&& dx, Params& grad) const {
    backward_(params, cache, dy, dx, grad);
  }
  /// Calls the backward callable, without dx.
  template <class Dy>
  requires std::invocable<const Backward&, const Params&, const Cache&, const Dy&, Params&>
  void backward(const Params& params, const Cache& cache, const Dy& dy, Params& grad) const {
    backward_(params, cache, dy, grad);
  }

 private:
  Forward forward_;
  Backward backward_;
};

/// @brief Makes a layer of two callables: `make_layer<Params, Cache>(forward, backward)`.
template <ParameterBundle P, std::default_initializable C, class Forward, class Backward>
LambdaLayer<P, C, Forward, Backward> make_layer(Forward forward, Backward backward) {
  return {std::move(forward), std::move(backward)};
}

/// @brief y = x: the smallest layer there is, and the model of RealLayer.
template <Real T>
struct PassThrough {
  using Params = NoParameters<T>;  ///< none
  /// Only the output: backward needs nothing.
  struct Cache {
    Mat<T> y;  ///< (N, C)
  };
  /// y = x.
  const Mat<T>& forward(const Params&, In<Mat<T>> x, Cache& cache) const { return cache.y = x; }
  /// dx = dy.
  void backward(const Params&, const Cache&, In<Mat<T>> dy, Out<Mat<T>> dx, Params&) const { dx = dy; }
};

static_assert(RealLayer<PassThrough<double>, Mat<double>> && !IdLayer<PassThrough<double>, Mat<Id>>);

/// A matrix of standard normals; draw i is entry i in row-major order.
template <class M>
M random_normal(Extent rows, Extent cols, const RandomStream& stream) {
  M m(rows, cols);
  for (Extent i = 0; i < m.size(); ++i)
    m(i / cols, i % cols) = typename M::Scalar(stream.normal(static_cast<std::uint64_t>(i)));
  return m;
}

/// @brief A matrix with entries of random sign and size uniform in [0.25, 1.75): generic, and away from kinks at zero.
template <class M>
M random_input(Extent rows, Extent cols, const RandomStream& stream) {
  M m(rows, cols);
  for (Extent i = 0; i < m.size(); ++i) {
    const double u = 3 * stream.uniform(static_cast<std::uint64_t>(i)) - 1.5;
    m(i / cols, i % cols) = typename M::Scalar(u < 0 ? u - 0.25 : u + 0.25);
  }
  return m;
}

/// Fills every parameter of a bundle with entries of random_input times `scale`, a stream for each name.
template <class B>
void fill_parameters(B& params, const RandomStream& stream, double scale = 1) {
  using T = typename B::Scalar;
  params.for_each_parameter([&](std::string_view name, auto& slot) {
    slot = random_input<Mat<T>>(slot.rows(), slot.cols(), stream.child(name)) * T(scale);
  });
}

namespace detail {

/// Calls of one layer with its bundle: fresh caches, zeroed gradients, plain results.
template <class L, class B, class X>
struct Caller {
  using T = ScalarOf<L>;
  using Y = OutputOf<L, X>;
  static constexpr bool has_dx = RealLayer<L, X>;
  struct Gradients {
    X dx;    // empty for ids
    B grad;  // of the parameters
  };

  const L& layer;

  static B zeros_like(const B& params) {
    B grad = params;
    grad.for_each_parameter([](std::string_view, auto& slot) { slot.setZero(); });
    return grad;
  }
  Y forward(const B& params, const Eigen::Ref<const X>& x) const {
    typename L::Cache cache;
    return layer.forward(params, x, cache);
  }
  /// Adds into given gradients, from a cache that is already filled.
  void add(const B& params, const typename L::Cache& cache, const Eigen::Ref<const Y>& dy, Gradients& g) const {
    if constexpr (has_dx)
      layer.backward(params, cache, dy, Eigen::Ref<X>(g.dx), g.grad);
    else
      layer.backward(params, cache, dy, g.grad);
  }
  Gradients fresh(const B& params, const X& x) const {
    Gradients g{X(), zeros_like(params)};
    if constexpr (has_dx) g.dx = X::Zero(x.rows(), x.cols());
    return g;
  }
  Gradients gradients(const B& params, const X& x, const Y& dy) const {
    typename L::Cache cache;
    layer.forward(params, Eigen::Ref<const X>(x), cache);
    Gradients g = fresh(params, x);
    add(params, cache, dy, g);
    return g;
  }
};

}  // namespace detail

}  // namespace incipit::inline INCIPIT_ABI::check
