// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/core/gemm.hpp>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/eigen.hpp>
#include <unsupported/Eigen/AutoDiff>

#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "support/allocation_count.hpp"

namespace {

using namespace incipit;
using KernelScalars = std::tuple<float, double>;

/// A small generator of test numbers in [-1, 1).
struct Numbers {
  std::uint64_t state = 1;
  std::uint64_t bits() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
  }
  double next() { return static_cast<double>(bits()) / 1073741824.0 - 1.0; }
  Extent below(Extent n) { return static_cast<Extent>(bits() % static_cast<std::uint64_t>(n)); }
  template <class M>
  void fill(M&& m) {
    using T = typename std::remove_cvref_t<M>::Scalar;
    for (Extent i = 0; i < m.rows(); ++i)
      for (Extent j = 0; j < m.cols(); ++j) m(i, j) = T(next());
  }
  template <class T>
  Mat<T> matrix(Extent rows, Extent cols) {
    Mat<T> m(rows, cols);
    fill(m);
    return m;
  }
};

/// Checks c = start + a b within the bound of a sum of K + 1 rounded terms in any order.
template <class T, class A, class B, class S>
void check_product(const A& a, const B& b, const S& start, const Mat<T>& c) {
  using Wide = Mat<long double>;
  const Wide wa = a.template cast<long double>(), wb = b.template cast<long double>();
  const Wide ws = start.template cast<long double>();
  const Wide want = ws + wa.lazyProduct(wb);
  const Wide size = ws.cwiseAbs() + wa.cwiseAbs().lazyProduct(wb.cwiseAbs());
  const long double unit = static_cast<long double>(a.cols() + 2) * std::numeric_limits<T>::epsilon();
  for (Extent i = 0; i < c.rows(); ++i)
    for (Extent j = 0; j < c.cols(); ++j)
      if (!(std::abs(static_cast<long double>(c(i, j)) - want(i, j)) <= unit * size(i, j)))
        BOOST_FAIL("(" << c.rows() << ", " << a.cols() << ", " << c.cols() << ") at (" << i << ", " << j << "): " << c(i, j)
                       << " instead of " << want(i, j));
}

/// All three products, replaced and accumulated, of one size.
template <class T>
void check_size(Extent m, Extent k, Extent n, Numbers& numbers, GemmWorkspace<T>& ws) {
  const Mat<T> a = numbers.matrix<T>(m, k), b = numbers.matrix<T>(k, n), start = numbers.matrix<T>(m, n);
  const Mat<T> at = a.transpose(), bt = b.transpose(), zero = Mat<T>::Zero(m, n);
  Mat<T> c = Mat<T>::Constant(m, n, std::numeric_limits<T>::quiet_NaN());
  product(a, b, c, Accumulate::no, ws);
  check_product<T>(a, b, zero, c);
  c.setConstant(std::numeric_limits<T>::quiet_NaN());
  product_tn(at, b, c, Accumulate::no, ws);
  check_product<T>(a, b, zero, c);
  c.setConstant(std::numeric_limits<T>::quiet_NaN());
  product_nt(a, bt, c, Accumulate::no, ws);
  check_product<T>(a, b, zero, c);
  c = start;
  product(a, b, c, Accumulate::yes, ws);
  check_product<T>(a, b, start, c);
  c = start;
  product_tn(at, b, c, Accumulate::yes, ws);
  check_product<T>(a, b, start, c);
  c = start;
  product_nt(a, bt, c, Accumulate::yes, ws);
  check_product<T>(a, b, start, c);
  PackedB<T> packed;
  packed.pack_transposed(bt);
  c = start;
  product(a, packed, c, Accumulate::yes, ws);
  check_product<T>(a, b, start, c);
}

constexpr std::array<std::array<Extent, 3>, 22> key_sizes{{{64, 128, 161}, {64, 161, 128}, {128, 64, 161}, {161, 64, 128},
    {161, 128, 64}, {64, 161, 128}, {161, 400, 200}, {200, 161, 400}, {1, 300, 161}, {161, 300, 1}, {300, 1, 161},
    {257, 3, 2}, {2, 700, 35}, {17, 257, 163}, {33, 513, 49}, {13, 256, 31}, {7, 1024, 20}, {129, 2, 900}, {5, 300, 1000},
    {256, 256, 256}, {15, 15, 400}, {90, 512, 300}}};

}  // namespace

BOOST_AUTO_TEST_SUITE(core_gemm)

BOOST_AUTO_TEST_CASE_TEMPLATE(products_agree_with_long_double_at_small_sizes, T, KernelScalars) {
  Numbers numbers;
  GemmWorkspace<T> ws;
  for (int trial = 0; trial < 1500; ++trial) check_size<T>(numbers.below(41), numbers.below(41), numbers.below(41), numbers, ws);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(products_agree_with_long_double_at_key_sizes, T, KernelScalars) {
  Numbers numbers;
  GemmWorkspace<T> ws;
  for (const auto& [m, k, n] : key_sizes) check_size<T>(m, k, n, numbers, ws);
}

BOOST_AUTO_TEST_SUITE_END()
