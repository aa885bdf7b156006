// SPDX-License-Identifier: MIT
/// @file
/// @brief Matrices recorded along a training run.
#pragma once

#include <incipit/tensor/view.hpp>

#include <cstdint>
#include <vector>

namespace incipit::inline INCIPIT_ABI::measure {

/// @brief Records a matrix at chosen steps into one array (steps, rows, columns).
/// @details Memory grows geometrically, so recording costs an amortised copy and nothing is fixed beforehand.
/// io::save_npy(path, trajectory.array()) writes it for NumPy.
template <Real T>
class Trajectory {
 public:
  /// A trajectory of (rows, cols) matrices; InvalidArgument for negative sizes.
  Trajectory(Extent rows, Extent cols) : rows_(rows), cols_(cols) {
    require(rows >= 0, "rows", rows, ">= 0");
    require(cols >= 0, "cols", cols, ">= 0");
  }

  /// @brief Records `matrix` (rows, cols) at `step`.
  /// @throws ShapeError for another shape; InvalidArgument unless `step` is later than the last one.
  template <class Derived>
  void record(std::int64_t step, const Eigen::MatrixBase<Derived>& matrix) {
    require_size("rows of matrix", matrix.rows(), rows_);
    require_size("columns of matrix", matrix.cols(), cols_);
    require(steps_.empty() || step > steps_.back(), "step", step, "later than the last one");
    const std::size_t at = values_.size();
    values_.resize(at + static_cast<std::size_t>(rows_ * cols_));
    Eigen::Map<Mat<T>>(values_.data() + at, rows_, cols_) = matrix.template cast<T>();
    steps_.push_back(step);
  }

  /// The steps recorded.
  const std::vector<std::int64_t>& steps() const { return steps_; }
  /// Number of recordings.
  Extent size() const { return static_cast<Extent>(steps_.size()); }
  /// The k-th recording (rows, cols), without a copy; valid until the next record. IndexError outside 0 .. size() - 1.
  Eigen::Map<const Mat<T>> at(Extent k) const {
    require<IndexError>(k >= 0 && k < size(), "k", k, "0 .. size() - 1");
    return {values_.data() + k * rows_ * cols_, rows_, cols_};
  }
  /// All recordings (steps, rows, cols) as an xtensor view, without a copy; valid until the next record.
  tensor::View<const T, 3> array() const {
    const std::array<std::size_t, 3> shape{steps_.size(), static_cast<std::size_t>(rows_),
                                           static_cast<std::size_t>(cols_)};
    return xt::adapt(values_.data(), values_.size(), xt::no_ownership(), shape);
  }

 private:
  Extent rows_, cols_;
  std::vector<std::int64_t> steps_;
  std::vector<T> values_;
};

}  // namespace incipit::inline INCIPIT_ABI::measure
