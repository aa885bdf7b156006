// SPDX-License-Identifier: MIT
/// @file
/// @brief Scalars, extents and the row-major aliases that every header uses.
#pragma once

#include <incipit/core/config.hpp>
#include <incipit/core/error.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace incipit::inline INCIPIT_ABI {

/// @brief A real scalar: float, double, long double, a Boost.Multiprecision number (expression templates off) or an AutoDiffScalar.
/// @details What layers and losses are generic over: Eigen must know it, and it must not be an integer.
template <class T>
concept Real = !std::is_integral_v<T> && !Eigen::NumTraits<T>::IsInteger && !Eigen::NumTraits<T>::IsComplex &&
               requires(T a, T b) {
                 { a + b } -> std::convertible_to<T>;
                 { a * b } -> std::convertible_to<T>;
                 { a / b } -> std::convertible_to<T>;
                 { a < b } -> std::convertible_to<bool>;
                 T(0.5);
               };

/// @brief A size: a compile-time constant, or `dyn` when it is known only at run time.
using Extent = Eigen::Index;
/// The extent that is known only at run time.
inline constexpr Extent dyn = Eigen::Dynamic;

/// True if a run-time size `n` may stand where extent `e` was declared.
constexpr bool fits(Extent e, Extent n) { return e == dyn ? n >= 0 : n == e; }

/// A token id or label.
using Id = std::int32_t;

/// Matrix (R, C), row-major (a static single column is the only exception Eigen makes).
template <class T, Extent R = dyn, Extent C = dyn>
using Mat = Eigen::Matrix<T, static_cast<int>(R), static_cast<int>(C),
                          (C == 1 && R != 1) ? Eigen::ColMajor : Eigen::RowMajor>;
/// Row vector (1, C).
template <class T, Extent C = dyn>
using Row = Mat<T, 1, C>;
/// Column vector (R, 1).
template <class T, Extent R = dyn>
using Col = Mat<T, R, 1>;

/// @brief Read-only argument: any matrix, block or map of the same layout binds without a copy (rows may be strided).
template <class M>
using In = const Eigen::Ref<const M>&;
/// @brief Written argument: any matrix, block or map of the same layout (rows may be strided).
template <class M>
using Out = Eigen::Ref<M>;

/// @brief A parameter that does not own its memory: a Map that an Owned bundle seats in its arena.
template <class T, Extent R = dyn, Extent C = dyn>
using Slot = Eigen::Map<Mat<T, R, C>>;

/// @brief A step of gradient descent (learning rate), as opposed to FlowTime.
struct StepSize {
  double value;  ///< learning rate, > 0
};
/// @brief A time of the gradient flow d theta/dt = -grad loss; n steps of size h reach time n h.
struct FlowTime {
  double value;  ///< time, >= 0
};

}  // namespace incipit::inline INCIPIT_ABI
