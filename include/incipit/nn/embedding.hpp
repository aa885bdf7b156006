// SPDX-License-Identifier: MIT
/// @file
/// @brief Token embedding: look-up and sum of rows forward, scatter-add backward.
#pragma once

#include <incipit/core/arena.hpp>
#include <incipit/core/parallel.hpp>

#include <algorithm>

namespace incipit::inline INCIPIT_ABI::nn {

/// @brief Checks in one pass that every id lies in [0, vocab).
/// @throws IndexError naming row, column, id and the allowed range.
inline void require_ids(In<Mat<Id>> ids, Extent vocab, std::string_view argument = "tokens") {
  for (Extent i = 0; i < ids.rows(); ++i) {
    // Ids are non-negative 32-bit numbers, so a cast to unsigned catches both ends in one comparison.
    std::uint32_t worst = 0;
    for (Extent j = 0; j < ids.cols(); ++j) worst = (std::max)(worst, static_cast<std::uint32_t>(ids(i, j)));
    if (static_cast<Extent>(worst) < vocab) [[likely]]
      continue;
    for (Extent j = 0; j < ids.cols(); ++j)
      if (ids(i, j) < 0 || ids(i, j) >= vocab)
        fail<IndexError>(std::string(argument) + "(" + std::to_string(i) + ", " + std::to_string(j) + ")", ids(i, j),
                         "0 <= id < " + std::to_string(vocab));
  }
}

/// @brief out_n = sum_l table(ids(n, l)): rows of a table, summed over each row of ids.
/// @par Shapes table: (D, C); ids: (N, L), valid (see require_ids); out: (N, C). @throws ShapeError.  @par Cost N L C additions.
template <Real T>
void gather_sum(In<Mat<T>> table, In<Mat<Id>> ids, Out<Mat<T>> out) {
  require_size("out.rows", out.rows(), ids.rows());
  require_size("out.cols", out.cols(), table.cols());
  const Extent length = ids.cols(), width = table.cols();
  for (Extent n = 0; n < ids.rows(); ++n) {
    T* y = out.data() + n * out.outerStride();
    const auto row = [&](Extent l) { return table.data() + ids(n, l) * table.outerStride(); };
    if (length >= 3) {  // the common short sums in one pass over y
      const T *a = row(0), *b = row(1), *c = row(2);
      for (Extent j = 0; j < width; ++j) y[j] = a[j] + b[j] + c[j];
    } else if (length == 2) {
      const T *a = row(0), *b = row(1);
      for (Extent j = 0; j < width; ++j) y[j] = a[j] + b[j];
    } else if (length == 1) {
      const T* a = row(0);
      for (Extent j = 0; j < width; ++j) y[j] = a[j];
    } else {
      for (Extent j = 0; j < width; ++j) y[j] = T(0);
    }
    for (Extent l = 3; l < length; ++l) {
      const T* a = row(l);
      for (Extent j = 0; j < width; ++j) y[j] += a[j];
    }
  }
}

/// @brief table(ids(n, l)) += dy_n for every n and l: the adjoint of gather_sum.
/// @details Repeated ids add up, in the order of n, then l. Threads own columns, so the bits do not depend on their number.
/// @par Shapes ids: (N, L), valid; dy: (N, C); table: (D, C).  @par Cost N L C additions.
template <Real T>
void scatter_add(In<Mat<Id>> ids, In<Mat<T>> dy, Out<Mat<T>> table, int threads = 1) {
  require_size("dy.rows", dy.rows(), ids.rows());
  require_size("dy.cols", dy.cols(), table.cols());
  const auto columns = [&](Extent begin, Extent end) {
    for (Extent n = 0; n < ids.rows(); ++n) {
      const T* d = dy.data() + n * dy.outerStride();
      for (Extent l = 0; l < ids.cols(); ++l) {
        T* row = table.data() + ids(n, l) * table.outerStride();
        for (Extent j = begin; j < end; ++j) row[j] += d[j];
      }
    }
  };
  if (threads <= 1) return columns(0, dy.cols());
  parallel_for(threads, threads, [&](Extent t) { columns(dy.cols() * t / threads, dy.cols() * (t + 1) / threads); });
}

/// @brief Embedding table; a row of ids is looked up and summed (L = 1 is the plain look-up).
/// @par Shapes   ids: (N, L); weight: (V, C); y, dy: (N, C).
/// @par Forward  \f$ y_n = \sum_l w_{x_{nl}} \f$  @par Backward \f$ dw_s \mathrel{+}= \sum_{n,l} [x_{nl} = s]\, dy_n \f$
/// @par Source   paper A, Definition 1 (sum of embeddings).  @par Cost N L C additions each way.
/// @par Checked  tests/nn/layers_test.cpp
template <Real T, Extent V = dyn, Extent C = dyn>
struct Embedding {
  /// The table.
  struct Params {
    using Scalar = T;     ///< scalar type
    Slot<T, V, C> weight;  ///< (V, C)
    /// A table of `vocab` rows of `width` numbers, without memory until Owned seats it.
    Params(Extent vocab, Extent width) : weight(nullptr, vocab, width) {}
    template <class F> void for_each_parameter(F&& f) { f("weight", weight); }        ///< "weight"
    template <class F> void for_each_parameter(F&& f) const { f("weight", weight); }  ///< "weight"
  };
  /// Ids and output of the last forward pass.
  struct Cache {
    Mat<Id> ids;           ///< (N, L)
    Mat<T, dyn, C> y;      ///< (N, C)
  };
  /// y_n = sum_l weight(ids(n, l)). @throws IndexError for an id outside [0, V).
  const Mat<T, dyn, C>& forward(const Params& params, In<Mat<Id>> ids, Cache& cache) const {
    require_ids(ids, params.weight.rows());
    cache.ids = ids;
    cache.y.resize(ids.rows(), params.weight.cols());
    gather_sum<T>(params.weight, cache.ids, cache.y);
    return cache.y;
  }
  /// Adds dy_n to the gradient rows of the ids of row n. There is no gradient of ids.
  void backward(const Params& params, const Cache& cache, In<Mat<T, dyn, C>> dy, Params& grad, int threads = 1) const {
    require_size("dy.rows", dy.rows(), cache.y.rows());
    require_size("dy.cols", dy.cols(), cache.y.cols());
    require_size("grad.weight.rows", grad.weight.rows(), params.weight.rows());
    scatter_add<T>(cache.ids, dy, grad.weight, threads);
  }
};

}  // namespace incipit::inline INCIPIT_ABI::nn
