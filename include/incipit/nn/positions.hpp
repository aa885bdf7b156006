// SPDX-License-Identifier: MIT
/// @file
/// @brief Where in its sequence a row stands: learned and sinusoidal positions.
#pragma once

#include <incipit/core/buffer.hpp>

#include <cmath>

namespace incipit::inline INCIPIT_ABI::nn {

/// @brief Sinusoidal positions: entry (p, 2i) is \f$ \sin(p / base^{2i/C}) \f$, (p, 2i+1) the cosine of the same angle.
/// @par Shapes   result: (length, width); an odd width ends with a sine.
/// @throws ShapeError for sizes below 1, InvalidArgument unless base > 0.
/// @par Source   Vaswani et al. 2017, section 3.5 (base 10 000).
inline Mat<double> sinusoidal_positions(Extent length, Extent width, double base = 10000) {
  require<ShapeError>(length >= 1, "length", length, "at least 1");
  require<ShapeError>(width >= 1, "width", width, "at least 1");
  require_positive("base", base);
  Mat<double> table(length, width);
  for (Extent p = 0; p < length; ++p)
    for (Extent c = 0; c < width; ++c) {
      const double angle = static_cast<double>(p) / std::pow(base, static_cast<double>(c - c % 2) / static_cast<double>(width));
      table(p, c) = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  return table;
}

/// @brief Learned positions, added to the rows of every sequence.
/// @par Shapes   x, y, dy, dx: (B T, C); weight: (P, C) with P >= T.
/// @par Forward  \f$ y_{bt} = x_{bt} + w_t \f$  @par Backward \f$ dx = dy,\; dw_t \mathrel{+}= \sum_b dy_{bt} \f$
/// @par Cost     B T C additions each way.  @par Checked tests/nn/attention_test.cpp
template <Real T>
struct LearnedPositions {
  Extent length = 1;  ///< T, rows of a sequence

  /// The table.
  struct Params {
    using Scalar = T;         ///< scalar type
    Slot<T> weight;           ///< (P, C)
    /// P positions of width C, without memory until Owned seats it.
    Params(Extent positions, Extent width) : weight(nullptr, positions, width) {}
    template <class F> void for_each_parameter(F&& f) { f("weight", weight); }        ///< "weight"
    template <class F> void for_each_parameter(F&& f) const { f("weight", weight); }  ///< "weight"
  };
  /// The output.
  struct Cache {
    Buffer<T> y;  ///< (B T, C)
  };
  /// y. @throws ShapeError unless x has C columns and whole sequences of at most P rows.
  const Slot<T>& forward(const Params& params, In<Mat<T>> x, Cache& cache) const {
    if (length < 1 || length > params.weight.rows()) [[unlikely]]
      fail<ShapeError>("length", length, "1 to the number of positions, " + std::to_string(params.weight.rows()));
    require_size("x.cols", x.cols(), params.weight.cols());
    if (x.rows() % length != 0) [[unlikely]]
      fail<ShapeError>("x.rows", x.rows(), "a multiple of the length, " + std::to_string(length));
    cache.y.assign(x);
    for (Extent n = 0; n < x.rows(); ++n) cache.y.row(n) += params.weight.row(n % length);
    return cache.y;
  }
  /// Adds the table's gradient; dx is written and may be dy itself.
  void backward(const Params&, const Cache& cache, In<Mat<T>> dy, Out<Mat<T>> dx, Params& grad) const {
    require_size("dy.rows", dy.rows(), cache.y.rows());
    require_size("dy.cols", dy.cols(), cache.y.cols());
    require_size("dx.rows", dx.rows(), dy.rows());
    require_size("dx.cols", dx.cols(), dy.cols());
    for (Extent n = 0; n < dy.rows(); ++n) grad.weight.row(n % length) += dy.row(n);
    if (dx.data() != dy.data()) dx = dy;
  }
};

}  // namespace incipit::inline INCIPIT_ABI::nn
