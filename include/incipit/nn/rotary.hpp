// SPDX-License-Identifier: MIT
/// @file
/// @brief Rotary positions, in both conventions of pairing columns.
#pragma once

#include <incipit/core/buffer.hpp>

#include <cmath>

namespace incipit::inline INCIPIT_ABI::nn {

/// Which columns of a head turn together. Weights trained with one convention are wrong with the other.
enum class RotaryPairs {
  interleaved,  ///< (2i, 2i+1), as in RoFormer, GPT-J and llama2.c
  half_split,   ///< (i, i + d/2), as in GPT-NeoX and the Llama weights of Hugging Face
};

namespace detail {
/// Columns of pair i in a head of width d.
constexpr std::pair<Extent, Extent> rotary_pair(RotaryPairs pairs, Extent i, Extent d) {
  return pairs == RotaryPairs::interleaved ? std::pair(2 * i, 2 * i + 1) : std::pair(i, i + d / 2);
}
/// Width of a head. @throws ShapeError unless columns are whole heads of even width.
inline Extent rotary_width(std::string_view name, Extent cols, Extent heads) {
  require<ShapeError>(heads >= 1, "heads", heads, "at least 1");
  if (cols < 1 || cols % (2 * heads) != 0) [[unlikely]]
    fail<ShapeError>(name, cols, "a positive multiple of 2 x heads = " + std::to_string(2 * heads) + ": pairs need an even head width");
  return cols / heads;
}
}  // namespace detail

/// @brief Rotary positions: every pair of columns of a head turns by an angle that grows with the position.
/// @par Shapes   x, y, dy, dx: (B T, H d), d even, rows of a sequence together; no parameters.
/// @par Forward  \f$ (y_a, y_b) = (x_a \cos\phi - x_b \sin\phi,\; x_a \sin\phi + x_b \cos\phi),\;
///               \phi = p \cdot base^{-2i/d} \f$ for pair i = (a, b) at position p = first + row in the sequence
/// @par Backward the same turn by \f$ -\phi \f$
/// @details Applied to queries and keys it makes their products depend on the difference of positions only.
/// @par Cost     3 B T H d FLOPs each way; angles are computed once per cache.
/// @par Source   Su et al. 2021 (RoFormer), equation 34.  @par Checked tests/nn/rotary_test.cpp
template <Real T>
struct Rotary {
  Extent length = 1;                              ///< T, rows of a sequence
  Extent heads = 1;                               ///< H
  RotaryPairs pairs = RotaryPairs::interleaved;   ///< which columns turn together
  double base = 10000;                            ///< period of the slowest pair, about
  Extent first = 0;                               ///< position of a sequence's first row, for text continued

  /// No parameters.
  struct Params {
    using Scalar = T;                                         ///< scalar type
    template <class V> void for_each_parameter(V&&) const {}  ///< nothing to visit
  };
  /// The output and the turns.
  struct Cache {
    Buffer<T> y;     ///< (B T, H d)
    Mat<T> cos, sin; ///< (T, d/2)
    double base = 0; ///< of the turns
    Extent first = -1;  ///< of the turns
  };

  /// y. @throws ShapeError unless x has whole sequences and whole heads of even width; InvalidArgument for base or first.
  const Slot<T>& forward(const Params&, In<Mat<T>> x, Cache& cache) const {
    const Extent d = detail::rotary_width("x.cols", x.cols(), heads);
    require<ShapeError>(length >= 1, "length", length, "at least 1");
    if (x.rows() % length != 0) [[unlikely]]
      fail<ShapeError>("x.rows", x.rows(), "a multiple of the length, " + std::to_string(length));
    require_positive("base", base);
    require(first >= 0, "first", first, "at least 0");
    if (cache.cos.rows() != length || cache.cos.cols() != d / 2 || cache.base != base || cache.first != first) fill_turns(cache, d);
    cache.y.resize(x.rows(), x.cols());
    turn(cache, x, cache.y, T(1));
    return cache.y;
  }
  /// dx is written and may be dy itself.
  void backward(const Params&, const Cache& cache, In<Mat<T>> dy, Out<Mat<T>> dx, Params&) const {
    require_size("dy.rows", dy.rows(), cache.y.rows());
    require_size("dy.cols", dy.cols(), cache.y.cols());
    require_size("dx.rows", dx.rows(), dy.rows());
    require_size("dx.cols", dx.cols(), dy.cols());
    turn(cache, dy, dx, T(-1));
  }

 private:
  void fill_turns(Cache& cache, Extent d) const {
    cache.cos.resize(length, d / 2), cache.sin.resize(length, d / 2);
    cache.base = base, cache.first = first;
    for (Extent p = 0; p < length; ++p)
      for (Extent i = 0; i < d / 2; ++i) {
        const double angle = static_cast<double>(first + p) * std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(d));
        cache.cos(p, i) = static_cast<T>(std::cos(angle)), cache.sin(p, i) = static_cast<T>(std::sin(angle));
      }
  }
  template <class X, class Y>
  void turn(const Cache& cache, const X& x, Y& y, T sense) const {
    const Extent half = cache.cos.cols(), d = 2 * half;
    for (Extent n = 0; n < x.rows(); ++n)
      for (Extent h = 0; h < heads; ++h)
        for (Extent i = 0; i < half; ++i) {
          const auto [a, b] = detail::rotary_pair(pairs, i, d);
          const T c = cache.cos(n % length, i), s = sense * cache.sin(n % length, i);
          const T u = x(n, h * d + a), v = x(n, h * d + b);
          y(n, h * d + a) = u * c - v * s;
          y(n, h * d + b) = u * s + v * c;
        }
  }
};

/// @brief The weight of a query or key projection for another convention: columns of each head in the other order.
/// @details With it, and positions of convention `to`, all products of queries and keys stay what they were with `from`.
/// @par Shapes weight and result: (C, H d). A bias is a weight of one row.
/// @throws ShapeError unless columns are whole heads of even width.
template <class Derived>
Mat<typename Derived::Scalar> convert_rotary_pairs(const Eigen::MatrixBase<Derived>& weight, Extent heads, RotaryPairs from,
                                                   RotaryPairs to) {
  const Extent d = detail::rotary_width("weight.cols", weight.cols(), heads);
  Mat<typename Derived::Scalar> out(weight.rows(), weight.cols());
  for (Extent h = 0; h < heads; ++h)
    for (Extent i = 0; i < d / 2; ++i) {
      const auto [a, b] = detail::rotary_pair(from, i, d);
      const auto [to_a, to_b] = detail::rotary_pair(to, i, d);
      out.col(h * d + to_a) = weight.col(h * d + a);
      out.col(h * d + to_b) = weight.col(h * d + b);
    }
  return out;
}

}  // namespace incipit::inline INCIPIT_ABI::nn
