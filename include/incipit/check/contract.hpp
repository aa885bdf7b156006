// SPDX-License-Identifier: MIT
/// @file
/// @brief What a layer promises beyond its formula: accumulation, linearity, repeatability, aliasing, memory layout.
#pragma once

#include <incipit/check/adapter.hpp>
#include <incipit/check/report.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <string>
#include <vector>

namespace incipit::inline INCIPIT_ABI::check {

/// Settings of the contract checker.
struct ContractOptions {
  std::uint64_t seed = 1;        ///< of upstream gradients
  bool rows_independent = true;  ///< each output row depends on its own input row only (not so for attention)
  bool inputs_reach_all = true;  ///< every parameter takes part in a random batch, so its gradient is not zero
  /// Parameters that the output does not depend on (the key bias of attention, which softmax cancels): their gradient
  /// must be zero up to the rounding of the largest gradient of all.
  std::vector<std::string> idle{};
};

namespace detail {

/// Largest |a - b|; infinity if shapes differ, NaN if an entry is NaN.
template <class A, class B>
double distance(const A& a, const B& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return (std::numeric_limits<double>::infinity)();
  double worst = 0;
  for (Extent i = 0; i < a.rows(); ++i)
    for (Extent j = 0; j < a.cols(); ++j) {
      const double d = std::abs(static_cast<double>(typename A::Scalar(a(i, j) - b(i, j))));
      if (!(d <= worst)) worst = d;
      if (worst != worst) return worst;
    }
  return worst;
}

template <class A>
double largest(const A& a) {
  double worst = 0;
  for (Extent i = 0; i < a.rows(); ++i)
    for (Extent j = 0; j < a.cols(); ++j) worst = (std::max)(worst, std::abs(static_cast<double>(a(i, j))));
  return worst;
}

/// Gradients as one list of named matrices, so that every law looks at dx and at all parameters.
template <class T>
using Tensors = std::vector<std::pair<std::string, Mat<T>>>;

template <class Caller>
Tensors<typename Caller::T> tensors(const typename Caller::Gradients& g) {
  Tensors<typename Caller::T> list;
  if constexpr (Caller::has_dx) list.emplace_back("x", g.dx);
  g.grad.for_each_parameter([&](std::string_view name, const auto& slot) { list.emplace_back(name, slot); });
  return list;
}

/// Worst |a - (alpha b + beta c)| over tensors, relative to the size of the terms; names the tensor. Of idle tensors, to
/// the size of the largest tensor.
template <class T>
std::pair<double, std::string> mismatch(const std::vector<std::string>& idle, const Tensors<T>& a, double alpha,
                                        const Tensors<T>& b, double beta, const Tensors<T>& c) {
  std::pair<double, std::string> worst{0, ""};
  const auto size = [&](std::size_t i) {
    return std::abs(alpha) * largest(b[i].second) + std::abs(beta) * largest(c[i].second);
  };
  double all = 0;
  for (std::size_t i = 0; i < a.size(); ++i) all = (std::max)(all, size(i));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Mat<T> want = T(alpha) * b[i].second + T(beta) * c[i].second;
    const double terms = std::find(idle.begin(), idle.end(), a[i].first) == idle.end() ? size(i) : all;
    const double d = distance(a[i].second, want) / (terms > 0 ? terms : 1);
    if (!(d <= worst.first)) worst = {d, a[i].first};
  }
  return worst;
}

/// A matrix held as a strided block of a larger one with a border of sevens.
template <class X>
struct Framed {
  static constexpr Extent R = X::RowsAtCompileTime, C = X::ColsAtCompileTime;
  Mat<typename X::Scalar> frame;
  Extent rows, cols;
  explicit Framed(const X& x)
      : frame(Mat<typename X::Scalar>::Constant(x.rows() + 2, x.cols() + 3, typename X::Scalar(7))),
        rows(x.rows()),
        cols(x.cols()) {
    block() = x;
  }
  Eigen::Block<Mat<typename X::Scalar>, static_cast<int>(R), static_cast<int>(C)> block() {
    return frame.template block<static_cast<int>(R), static_cast<int>(C)>(1, 2, rows, cols);
  }
  bool border_kept() {
    Mat<typename X::Scalar> copy = frame;
    copy.block(1, 2, rows, cols).setConstant(typename X::Scalar(7));
    return (copy.array() == typename X::Scalar(7)).all();
  }
};

}  // namespace detail

/// @brief Checks what every layer promises, at one input.
/// @details Laws: outputs and gradients finite; forward and backward repeat bit for bit, also when a cache is reused
/// after another shape; dx is written, not added to; parameter gradients accumulate onto what is there; backward is
/// linear in dy; the input may change after forward; dx may alias dy (equal bits, or refused by an exception); input,
/// dy and dx may be strided blocks, and nothing outside the dx block is touched; a rank-3 buffer is its flattened rows;
/// the batch equals a loop over rows; no parameter's gradient is identically zero.
/// Bounds are 0 where the same arithmetic must run, else epsilon (16 + n) relative to the terms, where n is the number
/// of entries of x, of y or of all parameters, whichever is largest.
/// @param layer    see RealLayer, IdLayer
/// @param params   the bundle
/// @param x        input, at least one row
/// @param options  seed, independence of rows, parameters without an effect
template <class L, class B, class X>
requires CheckableLayer<L, X> LawReport check_contract(const L& layer, const B& params, const X& x,
                                                       const ContractOptions& options = {}) {
  using Caller = detail::Caller<L, B, X>;
  using T = typename Caller::T;
  using Y = typename Caller::Y;
  using Gradients = typename Caller::Gradients;
  using detail::distance;
  require<ShapeError>(x.rows() >= 1 && x.cols() >= 1, "input",
                      std::to_string(x.rows()) + " x " + std::to_string(x.cols()), "at least one row and one column");
  const Caller caller{layer};
  LawReport report;
  const auto law = [&](std::string name, double value, double bound, std::string reason = "") {
    report.rows.push_back(law_row(std::move(name), value, bound, std::move(reason)));
  };
  const auto list = [](const Gradients& g) { return detail::tensors<Caller>(g); };
  using Tensors = detail::Tensors<T>;
  const auto mismatch = [&](const Tensors& a, double alpha, const Tensors& b, double beta, const Tensors& c) {
    return detail::mismatch(options.idle, a, alpha, b, beta, c);
  };
  const double infinity = (std::numeric_limits<double>::infinity)();

  const Y y = caller.forward(params, x);
  const RandomStream stream(options.seed, "check/contract");
  const Y dy = random_normal<Y>(y.rows(), y.cols(), stream.child("dy"));
  const Y dz = random_normal<Y>(y.rows(), y.cols(), stream.child("dz"));
  const auto g = caller.gradients(params, x, dy), gz = caller.gradients(params, x, dz);
  const auto zero = caller.fresh(params, x);
  const double eps = static_cast<double>(T(Eigen::NumTraits<T>::epsilon()));
  Extent entries = 0;
  params.for_each_parameter([&](std::string_view, const auto& slot) { entries += slot.size(); });
  const double rounding = eps * (16.0 + static_cast<double>((std::max)({x.size(), y.size(), entries})));

  {
    double worst = std::isfinite(detail::largest(y)) && distance(y, y) == 0 ? 0 : infinity;
    for (const auto& [name, m] : list(g))
      if (distance(m, m) != 0) worst = infinity;  // inf - inf and NaN - NaN are NaN
    law("finite", worst, 0);
  }
  law("repeated forward", distance(caller.forward(params, x), y), 0);
  {
    const auto again = caller.gradients(params, x, dy);
    const auto [d, where] = mismatch(list(again), 1, list(g), 0, list(g));
    law("repeated backward", d, 0, where);
  }
  typename L::Cache cache;
  layer.forward(params, Eigen::Ref<const X>(x), cache);
  {
    Gradients twice = caller.fresh(params, x);
    caller.add(params, cache, dy, twice);
    caller.add(params, cache, dz, twice);
    Gradients want = g;
    want.grad.for_each_parameter([&](std::string_view name, auto& slot) {
      gz.grad.for_each_parameter([&](std::string_view other, const auto& more) {
        if (other == name) slot += more;
      });
    });
    if constexpr (Caller::has_dx) want.dx = gz.dx;  // the second call overwrites dx
    const auto [d, where] = mismatch(list(twice), 1, list(want), 0, list(want));
    law("gradients accumulate", d, rounding, where);
  }
  {
    const Y sum = T(1.5) * dy + T(-0.75) * dz;
    const auto [d, where] = mismatch(list(caller.gradients(params, x, sum)), 1.5, list(g), -0.75, list(gz));
    law("linear in dy", d, rounding, where);
    const auto [n, there] =
        mismatch(list(caller.gradients(params, x, Y::Zero(y.rows(), y.cols()))), 1, list(zero), 0, list(zero));
    law("zero dy gives zero", n, 0, there);
  }
  {
    X moving = x;
    typename L::Cache kept;
    layer.forward(params, Eigen::Ref<const X>(moving), kept);
    moving.setZero();
    Gradients late = caller.fresh(params, x);
    caller.add(params, kept, dy, late);
    const auto [d, where] = mismatch(list(late), 1, list(g), 0, list(g));
    law("input may change after forward", d, 0, where);
  }
  if (x.rows() > 1 && options.rows_independent) {
    // One row through a cache that held a batch, then the batch again: buffers must follow the shape.
    layer.forward(params, Eigen::Ref<const X>(X(x.topRows(1))), cache);
    const Y back = layer.forward(params, Eigen::Ref<const X>(x), cache);
    Gradients reused = caller.fresh(params, x);
    caller.add(params, cache, dy, reused);
    const auto [d, where] = mismatch(list(reused), 1, list(g), 0, list(g));
    law("cache may be reused", (std::max)(d, distance(back, y)), 0, where);

    Gradients sum = caller.fresh(params, x);
    Y rows = Y::Zero(y.rows(), y.cols());
    for (Extent n = 0; n < x.rows(); ++n) {
      const X xn = x.row(n);
      const Y dyn_row = dy.row(n);
      rows.row(n) = caller.forward(params, xn);
      const auto one = caller.gradients(params, xn, dyn_row);
      if constexpr (Caller::has_dx) sum.dx.row(n) = one.dx;
      sum.grad.for_each_parameter([&](std::string_view name, auto& slot) {
        one.grad.for_each_parameter([&](std::string_view other, const auto& more) {
          if (other == name) slot += more;
        });
      });
    }
    const double size = detail::largest(y);
    const auto [e, there] = mismatch(list(sum), 1, list(g), 0, list(g));
    law("batch = loop over rows", (std::max)(e, distance(rows, y) / (size > 0 ? size : 1)), rounding, there);
  }
  {
    // A rank-3 buffer (1, N, C) passed as its rows, from memory that Eigen did not allocate.
    AlignedBuffer<typename X::Scalar> buffer(x.data(), x.data() + x.size());
    const Eigen::Map<const X> rows(buffer.data(), x.rows(), x.cols());
    typename L::Cache mapped;
    const Y same = layer.forward(params, Eigen::Ref<const X>(rows), mapped);
    Gradients flat = caller.fresh(params, x);
    caller.add(params, mapped, dy, flat);
    const auto [d, where] = mismatch(list(flat), 1, list(g), 0, list(g));
    law("rank 3 = flattened rows", (std::max)(d, distance(same, y)), 0, where);
  }
  if constexpr (X::RowsAtCompileTime != 1 && X::ColsAtCompileTime != 1 && Y::ColsAtCompileTime != 1) {
    detail::Framed<X> fx(x);
    detail::Framed<Y> fdy(dy);
    typename L::Cache strided;
    const Y ys = layer.forward(params, Eigen::Ref<const X>(fx.block()), strided);
    Gradients gs = caller.fresh(params, x);
    bool border = true;
    if constexpr (Caller::has_dx) {
      detail::Framed<X> fdx(x);
      layer.backward(params, strided, Eigen::Ref<const Y>(fdy.block()), Eigen::Ref<X>(fdx.block()), gs.grad);
      gs.dx = fdx.block();
      border = fdx.border_kept();
    } else {
      layer.backward(params, strided, Eigen::Ref<const Y>(fdy.block()), gs.grad);
    }
    const double size = detail::largest(y);
    const auto [d, where] = mismatch(list(gs), 1, list(g), 0, list(g));
    law("strided blocks", border ? (std::max)(d, distance(ys, y) / (size > 0 ? size : 1)) : infinity, rounding,
        border ? where : "wrote outside the dx block");
  }
  if constexpr (Caller::has_dx) {
    layer.forward(params, Eigen::Ref<const X>(x), cache);
    Gradients dirty = caller.fresh(params, x);
    dirty.dx.setConstant(T(7));
    caller.add(params, cache, dy, dirty);
    law("dx is written, not added to", distance(dirty.dx, g.dx), 0);
    if constexpr (std::is_same_v<X, Y>) {
      if (x.rows() == y.rows() && x.cols() == y.cols()) {
        X shared = dy;
        Gradients alias = caller.fresh(params, x);
        std::string refused;
        try {
          layer.backward(params, cache, Eigen::Ref<const X>(shared), Eigen::Ref<X>(shared), alias.grad);
          alias.dx = shared;
        } catch (const std::exception& error) {
          refused = std::string("refused: ") + error.what();
          alias = g;
        }
        const auto [d, where] = mismatch(list(alias), 1, list(g), 0, list(g));
        law("dx may alias dy", d, 0, refused.empty() ? where : refused);
      }
    }
  }
  if (options.inputs_reach_all)
    for (const auto& [name, m] : list(g)) {
      if (std::find(options.idle.begin(), options.idle.end(), name) != options.idle.end()) continue;
      law("reached: " + name, detail::largest(m) > 0 ? 0 : 1, 0, "1 if the gradient is identically zero");
    }
  double top = 0;
  for (const auto& [name, m] : list(g)) top = (std::max)(top, detail::largest(m));
  for (const auto& [name, m] : list(g))
    if (std::find(options.idle.begin(), options.idle.end(), name) != options.idle.end())
      law("idle: " + name, detail::largest(m) / (top > 0 ? top : 1), rounding);
  return report;
}

}  // namespace incipit::inline INCIPIT_ABI::check
