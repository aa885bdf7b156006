// SPDX-License-Identifier: MIT
/// @file
/// @brief Small layers with deliberate mistakes: what the checker is checked with.
#pragma once

#include <incipit/check/adapter.hpp>

#include <cmath>

namespace incipit::test {

/// The mistakes. Those named after U41 are (a) to (f) of that case.
enum class Mistake {
  none,
  no_mean_term,       // U41 a
  no_x_hat_term,      // U41 b
  gain_last_row,      // U41 c: the gain's gradient misses the sum over rows
  diagonal_jacobian,  // U41 d: softmax as p (1 - p) only
  overwrite_rows,     // U41 e: embedding overwrites instead of adding
  one_percent,        // U41 f
  zero_dx,
  nan_dx,
  zero_gain,
  bias_one_percent,
  adds_to_dx,
  overwrites_gradient,
  corrupts_alias,
  refuses_alias,
  clips_dy,
  forgets_input,
  ignores_stride,
  counts_calls,
  mixes_rows,
};

/// Gain and bias of a row-wise layer.
template <Real T>
struct GainBias {
  using Scalar = T;
  Slot<T, 1, dyn> gain, bias;
  explicit GainBias(Extent c) : gain(nullptr, 1, c), bias(nullptr, 1, c) {}
  template <class F>
  void for_each_parameter(F&& f) {
    f("gain", gain), f("bias", bias);
  }
  template <class F>
  void for_each_parameter(F&& f) const {
    f("gain", gain), f("bias", bias);
  }
};

/// LayerNorm over the columns, epsilon inside the root.
template <Real T>
struct ToyLayerNorm {
  using Params = GainBias<T>;
  struct Cache {
    Mat<T> x_hat, y;
    Col<T> inverse;
    const T* input = nullptr;
  };
  Mistake mistake = Mistake::none;
  T epsilon = T(1e-5);
  mutable int calls = 0;

  const Mat<T>& forward(const Params& p, In<Mat<T>> x, Cache& cache) const {
    using std::sqrt;
    const Extent rows = x.rows(), c = x.cols();
    cache.x_hat.resize(rows, c), cache.y.resize(rows, c), cache.inverse.resize(rows);
    for (Extent n = 0; n < rows; ++n) {
      T mean(0), variance(0);
      const Extent source = mistake == Mistake::mixes_rows ? 0 : n;
      for (Extent j = 0; j < c; ++j) mean += x(source, j);
      mean /= T(static_cast<double>(c));
      for (Extent j = 0; j < c; ++j) variance += (x(source, j) - mean) * (x(source, j) - mean);
      variance /= T(static_cast<double>(c));
      cache.inverse(n) = T(1) / sqrt(T(variance + epsilon));
      for (Extent j = 0; j < c; ++j) {
        const T value = mistake == Mistake::ignores_stride ? x.data()[n * c + j] : x(n, j);
        cache.x_hat(n, j) = (value - mean) * cache.inverse(n);
        cache.y(n, j) = cache.x_hat(n, j) * p.gain(j) + p.bias(j);
      }
    }
    if (mistake == Mistake::counts_calls) cache.y(0, 0) += T(1e-3 * ++calls);
    cache.input = x.data();
    return cache.y;
  }

  void backward(const Params& p, const Cache& cache, In<Mat<T>> dy_in, Out<Mat<T>> dx, Params& grad) const {
    if (mistake == Mistake::refuses_alias && dy_in.data() == dx.data())
      throw InvalidArgument("dx", "the storage of dy", "storage of its own");
    Mat<T> copy = dy_in;
    if (mistake == Mistake::clips_dy) copy = copy.cwiseMin(T(0.5)).cwiseMax(T(-0.5));
    const Extent rows = copy.rows(), c = copy.cols();
    if (mistake == Mistake::overwrites_gradient) grad.gain.setZero(), grad.bias.setZero();
    for (Extent n = 0; n < rows; ++n) {
      T mean(0), projection(0);
      for (Extent j = 0; j < c; ++j) {
        const T u = copy(n, j) * p.gain(j);
        mean += u / T(static_cast<double>(c));
        projection += u * cache.x_hat(n, j) / T(static_cast<double>(c));
      }
      if (mistake == Mistake::no_mean_term) mean = T(0);
      if (mistake == Mistake::no_x_hat_term) projection = T(0);
      for (Extent j = 0; j < c; ++j) {
        const T u = copy(n, j) * p.gain(j);
        T d = cache.inverse(n) * (u - mean - cache.x_hat(n, j) * projection);
        if (mistake == Mistake::one_percent) d *= T(1.01);
        if (mistake == Mistake::zero_dx) d = T(0);
        if (mistake == Mistake::nan_dx && j == 0) d = T(0) / (d - d);
        if (mistake == Mistake::forgets_input) d = d / cache.input[n * c + j] * cache.x_hat(n, j);
        if (mistake == Mistake::adds_to_dx) d += dx(n, j);
        dx(n, j) = d;
        // The shared storage now holds dx where the gain's gradient still wants dy.
        const T seen = mistake == Mistake::corrupts_alias ? dy_in(n, j) : copy(n, j);
        if (mistake == Mistake::gain_last_row)
          grad.gain(j) += n == rows - 1 ? seen * cache.x_hat(n, j) : T(0);
        else if (mistake != Mistake::zero_gain)
          grad.gain(j) += seen * cache.x_hat(n, j);
        grad.bias(j) += seen * (mistake == Mistake::bias_one_percent ? T(1.01) : T(1));
      }
    }
  }
};

/// Softmax over the columns.
template <Real T>
struct ToySoftmax {
  using Params = check::NoParameters<T>;
  struct Cache {
    Mat<T> y;
  };
  Mistake mistake = Mistake::none;

  const Mat<T>& forward(const Params&, In<Mat<T>> x, Cache& cache) const {
    using std::exp;
    cache.y.resize(x.rows(), x.cols());
    for (Extent n = 0; n < x.rows(); ++n) {
      const T top = x.row(n).maxCoeff();
      T sum(0);
      for (Extent j = 0; j < x.cols(); ++j) sum += cache.y(n, j) = exp(T(x(n, j) - top));
      for (Extent j = 0; j < x.cols(); ++j) cache.y(n, j) /= sum;
    }
    return cache.y;
  }
  void backward(const Params&, const Cache& cache, In<Mat<T>> dy, Out<Mat<T>> dx, Params&) const {
    for (Extent n = 0; n < dy.rows(); ++n) {
      T mean(0);
      for (Extent j = 0; j < dy.cols(); ++j) mean += dy(n, j) * cache.y(n, j);
      for (Extent j = 0; j < dy.cols(); ++j) {
        const T p = cache.y(n, j), d = dy(n, j);
        dx(n, j) = mistake == Mistake::diagonal_jacobian ? T(d * p * (T(1) - p)) : T(p * (d - mean));
        if (mistake == Mistake::one_percent) dx(n, j) *= T(1.01);
      }
    }
  }
};

/// One table of rows.
template <Real T>
struct Table {
  using Scalar = T;
  Slot<T> weight;
  Table(Extent rows, Extent cols) : weight(nullptr, rows, cols) {}
  template <class F>
  void for_each_parameter(F&& f) {
    f("weight", weight);
  }
  template <class F>
  void for_each_parameter(F&& f) const {
    f("weight", weight);
  }
};

/// Sum of table rows over each row of ids.
template <Real T>
struct ToyEmbedding {
  using Params = Table<T>;
  struct Cache {
    Mat<Id> ids;
  };
  Mistake mistake = Mistake::none;

  Mat<T> forward(const Params& p, In<Mat<Id>> ids, Cache& cache) const {
    cache.ids = ids;
    Mat<T> y = Mat<T>::Zero(ids.rows(), p.weight.cols());
    for (Extent n = 0; n < ids.rows(); ++n)
      for (Extent l = 0; l < ids.cols(); ++l) y.row(n) += p.weight.row(ids(n, l));
    return y;
  }
  void backward(const Params&, const Cache& cache, In<Mat<T>> dy, Params& grad) const {
    for (Extent n = 0; n < cache.ids.rows(); ++n)
      for (Extent l = 0; l < cache.ids.cols(); ++l) {
        if (mistake == Mistake::overwrite_rows)
          grad.weight.row(cache.ids(n, l)) = dy.row(n);
        else
          grad.weight.row(cache.ids(n, l)) += dy.row(n) * T(mistake == Mistake::one_percent ? 1.01 : 1.0);
      }
  }
};

/// y = relu(x W): linear between kinks.
template <Real T>
struct ToyReluLinear {
  using Params = Table<T>;
  struct Cache {
    Mat<T> x, y;
  };
  Mistake mistake = Mistake::none;

  const Mat<T>& forward(const Params& p, In<Mat<T>> x, Cache& cache) const {
    cache.x = x;
    cache.y = (x.lazyProduct(p.weight)).cwiseMax(T(0));
    return cache.y;
  }
  void backward(const Params& p, const Cache& cache, In<Mat<T>> dy, Out<Mat<T>> dx, Params& grad) const {
    Mat<T> d = dy;
    for (Extent n = 0; n < d.rows(); ++n)
      for (Extent j = 0; j < d.cols(); ++j)
        if (!(cache.y(n, j) > T(0))) d(n, j) = T(0);
    if (mistake == Mistake::one_percent) d *= T(1.01);
    dx = d.lazyProduct(p.weight.transpose());
    grad.weight += cache.x.transpose().lazyProduct(d);
  }
};

}  // namespace incipit::test
