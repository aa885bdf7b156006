// SPDX-License-Identifier: MIT
/// @file
/// @brief Softmax cross entropy of logits against one-hot or soft labels.
#pragma once

#include <incipit/core/finite.hpp>
#include <incipit/core/matrix.hpp>
#include <incipit/core/scalar.hpp>
#include <incipit/core/vector_math.hpp>

#include <atomic>
#include <iostream>
#include <optional>
#include <span>

namespace incipit::inline INCIPIT_ABI::loss {

/// How row losses become one number.
enum class Reduction {
  mean,  ///< sum over the rows that count, divided by their number
  sum    ///< sum over the rows that count
};

/// Value of a loss and how many rows it is of.
template <Real T>
struct LossValue {
  T loss{};         ///< reduced loss in nats; 0 when no row counts
  Extent count{};   ///< rows that were not ignored
};

/// @brief Gradient and loss of one row in place: z <- weight softmax(z), returns weight log_sum_exp(z).
/// @details The caller subtracts its label masses from z and weight <y, z> from the loss. No division by a probability ever
/// happens, so a probability that underflows costs nothing.
/// @par Shapes z: (n).  @par Cost n exponentials.
template <Real T>
T log_sum_exp_and_softmax(T* z, Extent n, T weight) {
  const T top = VectorMath<T>::largest(z, n);
  const T total = VectorMath<T>::exp_shifted_sum(z, n, top);
  const T scale = weight / total;
  VectorMath<T>::scale(z, n, scale);
  return T(weight * (top + scalar::log(total)));
}

/// True if every row lies in [0, 1] and sums to 1: most likely probabilities where logits belong.
template <Real T>
bool looks_like_probabilities(In<Mat<T>> logits) {
  if (logits.size() == 0 || logits.cols() < 2) return false;
  for (Extent i = 0; i < logits.rows(); ++i) {
    T sum(0);
    for (Extent j = 0; j < logits.cols(); ++j) {
      if (!(logits(i, j) >= T(0) && logits(i, j) <= T(1))) return false;
      sum += logits(i, j);
    }
    if (!(sum > T(1 - 1e-4) && sum < T(1 + 1e-4))) return false;
  }
  return true;
}

/// @brief Softmax cross entropy.
/// @par Shapes   logits, dlogits: (N, D), the class axis is the columns; targets: N labels in [0, D), or (N, D) soft labels.
/// @par Forward  \f$ \ell_n = \log\sum_k e^{z_{nk}} - z_{n y_n} \f$, for soft labels \f$ -\sum_k y_{nk} \log p_{nk} \f$
/// @par Backward \f$ dz_n = p_n - e_{y_n} \f$, soft \f$ (\sum_k y_{nk})\, p_n - y_n \f$, over the count for the mean.
/// @details Rows whose target is `ignore` have loss and gradient 0 and do not count; if none counts, loss and count are 0.
/// Soft rows all count. The gradient is written, not accumulated; dlogits may be the logits' own storage.
/// @throws IndexError for a target that is neither a class nor `ignore`, ShapeError, NonFiniteError for logits with NaN or +inf.
/// @par Cost     N D exponentials.  @par Checked tests/loss/cross_entropy_test.cpp
template <Real T>
struct CrossEntropy {
  Reduction reduction = Reduction::mean;  ///< mean or sum over the rows that count
  std::optional<Id> ignore{};             ///< target value that marks a row as ignored
  bool warn_about_probabilities = true;   ///< say once on std::clog when logits look like probabilities; costs one look

  /// Loss and gradient for integer labels.
  LossValue<T> operator()(In<Mat<T>> logits, std::span<const Id> targets, Out<Mat<T>> dlogits) const {
    require_size("targets.size", targets.size(), logits.rows());
    prepare(logits, dlogits);
    const Extent classes = logits.cols();
    LossValue<T> result;
    for (std::size_t n = 0; n < targets.size(); ++n) {
      const bool ignored = ignore && targets[n] == *ignore;
      result.count += !ignored;
      if (!ignored && (targets[n] < 0 || targets[n] >= classes)) [[unlikely]]
        fail<IndexError>("targets[" + std::to_string(n) + "]", targets[n],
                         "0 <= target < " + std::to_string(classes) + (ignore ? " or the ignored value" : ""));
    }
    const T weight = row_weight(result.count);
    for (Extent n = 0; n < logits.rows(); ++n) {
      const Id target = targets[static_cast<std::size_t>(n)];
      if (ignore && target == *ignore) {
        dlogits.row(n).setZero();
        continue;
      }
      dlogits.row(n) = logits.row(n);
      const T at_target = dlogits(n, target);
      const T row = log_sum_exp_and_softmax(&dlogits(n, 0), classes, weight) - weight * at_target;
      if (!is_finite(row)) [[unlikely]]
        fail<NonFiniteError>("logits.row(" + std::to_string(n) + ")", row, "logits with a finite loss");
      result.loss += row;
      dlogits(n, target) -= weight;
    }
    return result;
  }

  /// Loss and gradient for soft labels: (N, D), rows of non-negative masses that usually sum to 1.
  LossValue<T> operator()(In<Mat<T>> logits, In<Mat<T>> labels, Out<Mat<T>> dlogits) const {
    require_size("labels.rows", labels.rows(), logits.rows());
    require_size("labels.cols", labels.cols(), logits.cols());
    prepare(logits, dlogits);
    LossValue<T> result{T(0), logits.rows()};
    const T weight = row_weight(result.count);
    for (Extent n = 0; n < logits.rows(); ++n) {
      T mass(0), against(0);
      for (Extent k = 0; k < logits.cols(); ++k) {
        const T y = labels(n, k);
        if (!(y >= T(0))) [[unlikely]]
          fail<InvalidArgument>("labels(" + std::to_string(n) + ", " + std::to_string(k) + ")", y, "a mass >= 0");
        mass += y;
        if (y > T(0)) against += y * logits(n, k);  // 0 * -inf is no loss
      }
      dlogits.row(n) = logits.row(n);
      const T row = log_sum_exp_and_softmax(&dlogits(n, 0), logits.cols(), T(weight * mass)) - weight * against;
      if (!is_finite(row)) [[unlikely]]
        fail<NonFiniteError>("logits.row(" + std::to_string(n) + ")", row, "logits with a finite loss");
      result.loss += row;
      dlogits.row(n) -= weight * labels.row(n);
    }
    return result;
  }

 private:
  void prepare(In<Mat<T>> logits, const Out<Mat<T>>& dlogits) const {
    require<ShapeError>(logits.cols() > 0, "logits.cols", logits.cols(), "at least one class");
    require_size("dlogits.rows", dlogits.rows(), logits.rows());
    require_size("dlogits.cols", dlogits.cols(), logits.cols());
    static std::atomic<bool> warned{false};
    if (warn_about_probabilities && looks_like_probabilities<T>(logits) && !warned.exchange(true))
      std::clog << "incipit: cross entropy takes logits, but every row of the argument sums to 1: probabilities?\n";
  }
  T row_weight(Extent count) const {
    return reduction == Reduction::sum || count == 0 ? T(1) : T(T(1) / static_cast<T>(count));
  }
};

}  // namespace incipit::inline INCIPIT_ABI::loss
