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
  const long double unit = static_cast<long double>(a.cols() + 2) * std::numeric_limits<T>::epsilon();
  for (Extent i = 0; i < c.rows(); ++i)
    for (Extent j = 0; j < c.cols(); ++j) {
      long double want = start(i, j), size = std::abs(want);
      for (Extent k = 0; k < a.cols(); ++k) {
        const long double term = static_cast<long double>(a(i, k)) * b(k, j);
        want += term;
        size += std::abs(term);
      }
      if (!(std::abs(c(i, j) - want) <= unit * size))
        BOOST_FAIL("(" << c.rows() << ", " << a.cols() << ", " << c.cols() << ") at (" << i << ", " << j
                       << "): " << c(i, j) << " instead of " << want);
    }
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

constexpr std::array<std::array<Extent, 3>, 22> key_sizes{
    {{64, 128, 161},  {64, 161, 128},  {128, 64, 161}, {161, 64, 128}, {161, 128, 64}, {64, 161, 128},
     {161, 400, 200}, {200, 161, 400}, {1, 300, 161},  {161, 300, 1},  {300, 1, 161},  {257, 3, 2},
     {2, 700, 35},    {17, 257, 163},  {33, 513, 49},  {13, 256, 31},  {7, 1024, 20},  {129, 2, 900},
     {5, 300, 1000},  {256, 256, 256}, {15, 15, 400},  {90, 512, 300}}};

}  // namespace

BOOST_AUTO_TEST_SUITE(core_gemm)

BOOST_AUTO_TEST_CASE_TEMPLATE(products_agree_with_long_double_at_small_sizes, T, KernelScalars) {
  Numbers numbers;
  GemmWorkspace<T> ws;
  for (int trial = 0; trial < 1500; ++trial)
    check_size<T>(numbers.below(41), numbers.below(41), numbers.below(41), numbers, ws);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(products_agree_with_long_double_at_key_sizes, T, KernelScalars) {
  Numbers numbers;
  GemmWorkspace<T> ws;
  for (const auto& [m, k, n] : key_sizes) check_size<T>(m, k, n, numbers, ws);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(strided_blocks_are_read_and_written_in_place, T, KernelScalars) {
  Numbers numbers;
  GemmWorkspace<T> ws;
  for (int trial = 0; trial < 300; ++trial) {
    const Extent m = 1 + numbers.below(40), k = 1 + numbers.below(40), n = 1 + numbers.below(40);
    const Mat<T> a = numbers.matrix<T>(m + 3, k + 5), b = numbers.matrix<T>(k + 2, n + 7);
    const Mat<T> start = numbers.matrix<T>(m + 4, n + 6);
    Mat<T> c = start;
    product(a.block(2, 3, m, k), b.block(1, 4, k, n), c.block(3, 5, m, n), Accumulate::yes, ws);
    check_product<T>(a.block(2, 3, m, k), b.block(1, 4, k, n), start.block(3, 5, m, n), c.block(3, 5, m, n));
    c.block(3, 5, m, n) = start.block(3, 5, m, n);
    BOOST_REQUIRE(c == start);
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(any_direct_matrix_is_an_argument, T, KernelScalars) {
  Numbers numbers;
  GemmWorkspace<T> ws;
  Mat<T, 9, 20> a;
  Mat<T, 20, 35> b;
  numbers.fill(a);
  numbers.fill(b);
  const Mat<T> zero = Mat<T>::Zero(9, 35);
  const Slot<T, 20, 35> slot(b.data(), 20, 35);
  const Eigen::Ref<const Mat<T>> ref(a);
  Mat<T, 9, 35> c;
  product(a, slot, c, Accumulate::no, ws);
  check_product<T>(a, b, zero, c);
  c.setZero();
  product(ref, slot, Slot<T, 9, 35>(c.data(), 9, 35), Accumulate::no, ws);
  check_product<T>(a, b, zero, c);

  // Column-major operands and results, rows, columns, every second element.
  const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> a_columns = a, b_columns = b;
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> c_columns(9, 35);
  product(a_columns, b_columns, c_columns, Accumulate::no, ws);
  check_product<T>(a, b, zero, c_columns);
  product(a, b, c_columns.transpose().transpose(), Accumulate::yes, ws);
  check_product<T>(a, b, Mat<T>(zero + a.lazyProduct(b)), c_columns);
  Col<T, 9> column;
  product(a, b.col(7), column, Accumulate::no, ws);
  check_product<T>(a, b.col(7), Mat<T>(zero.col(0)), column);
  Row<T, 35> row;
  product(a.row(3), b, row, Accumulate::no, ws);
  check_product<T>(a.row(3), b, Mat<T>(zero.row(0)), row);
  std::vector<T> memory(2 * 9 * 40 + 1, T(7));
  MatrixView<T> sparse(memory.data(), 9, 35, 80, 2);
  product(a, b, sparse, Accumulate::no, ws);
  Mat<T> gathered(9, 35);
  for (Extent i = 0; i < 9; ++i)
    for (Extent j = 0; j < 35; ++j) gathered(i, j) = sparse(i, j);
  check_product<T>(a, b, zero, gathered);
  for (std::size_t i = 1; i < memory.size(); i += 2) BOOST_REQUIRE(memory[i] == T(7));
  Mat<T> back(9, 20);
  product_nt(sparse, b, back, Accumulate::no, ws);
  check_product<T>(gathered, b.transpose(), Mat<T>(Mat<T>::Zero(9, 20)), back);

  static_assert(!std::is_constructible_v<MatrixView<const T>, decltype(a + a)>, "a lazy sum has no memory");
  static_assert(!std::is_constructible_v<MatrixView<const T>, decltype(a * b)>, "a lazy product has no memory");
  static_assert(!std::is_constructible_v<MatrixView<T>, const Mat<T>&>, "a constant is no output");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(empty_extents_are_defined, T, KernelScalars) {
  GemmWorkspace<T> ws;
  const Mat<T> tall(5, 0), flat(0, 7);
  Mat<T> c = Mat<T>::Constant(5, 7, std::numeric_limits<T>::quiet_NaN());
  product(tall, flat, c, Accumulate::no, ws);
  BOOST_TEST((c.array() == T(0)).all());
  c.setConstant(T(3));
  product(tall, flat, c, Accumulate::yes, ws);
  BOOST_TEST((c.array() == T(3)).all());
  product(tall, PackedB<T>(flat), c, Accumulate::yes, ws);
  BOOST_TEST((c.array() == T(3)).all());
  product(tall, PackedB<T>(flat), c, Accumulate::no, ws);
  BOOST_TEST((c.array() == T(0)).all());
  Mat<T> none(0, 0);
  product(flat.leftCols(0), Mat<T>(0, 0), none, Accumulate::no, ws);
  product_tn(Mat<T>(4, 0), Mat<T>(4, 0), none, Accumulate::yes, ws);
  product_nt(Mat<T>(0, 4), Mat<T>(0, 4), none, Accumulate::yes, ws);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(nan_and_infinity_stay_in_their_row_and_column, T, KernelScalars) {
  Numbers numbers;
  GemmWorkspace<T> ws;
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const Extent m : {1, 2, 7, 15, 29})
    for (const Extent n : {1, 3, 5, 17, 20, 31, 33, 50})
      for (const Extent k : {1, 9, 17, 300}) {
        Mat<T> a = numbers.matrix<T>(m, k), b = numbers.matrix<T>(k, n), c(m, n);
        const Extent row = numbers.below(m), col = numbers.below(n), inner = numbers.below(k);
        a(row, inner) = nan;
        b(numbers.below(k), col) = inf;
        for (int form = 0; form < 3; ++form) {
          const Mat<T> at = a.transpose(), bt = b.transpose();
          if (form == 0) product(a, b, c, Accumulate::no, ws);
          if (form == 1) product_tn(at, b, c, Accumulate::no, ws);
          if (form == 2) product_nt(a, bt, c, Accumulate::no, ws);
          for (Extent i = 0; i < m; ++i)
            for (Extent j = 0; j < n; ++j) {
              if (i == row)
                BOOST_REQUIRE(std::isnan(c(i, j)));
              else
                BOOST_REQUIRE(j == col ? !std::isfinite(c(i, j)) : std::isfinite(c(i, j)));
            }
        }
      }
  Mat<T> zero = Mat<T>::Zero(3, 40), b = numbers.matrix<T>(40, 40), c(3, 40);
  b(5, 33) = inf;
  product(zero, b, c, Accumulate::no, ws);
  BOOST_TEST(std::isnan(c(1, 33)));
  c.setConstant(nan);
  product(zero, numbers.matrix<T>(40, 40), c, Accumulate::no, ws);
  BOOST_TEST((c.array() == T(0)).all());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(row_chunks_give_the_bits_of_the_whole, T, KernelScalars) {
  Numbers numbers;
  GemmWorkspace<T> ws;
  for (const Extent n : {161, 48, 20, 2}) {
    const Mat<T> a = numbers.matrix<T>(100, 300), b = numbers.matrix<T>(300, n), at = a.transpose();
    Mat<T> whole(100, n), chunked(100, n), transposed(100, n), transposed_chunked(100, n);
    const PackedB<T> packed(b);
    product(a, b, whole, Accumulate::no, ws);
    product_tn(at, b, transposed, Accumulate::no, ws);
    for (Extent row = 0, rows = 1; row < 100; row += rows, rows = (std::min)(rows + 4, 100 - row)) {
      product(a.middleRows(row, rows), packed, chunked.middleRows(row, rows), Accumulate::no, ws);
      product_tn(at.middleCols(row, rows), b, transposed_chunked.middleRows(row, rows), Accumulate::no, ws);
    }
    BOOST_TEST((whole == chunked));
    BOOST_TEST((transposed == transposed_chunked));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(nothing_is_allocated_after_warm_up, T, KernelScalars) {
  Numbers numbers;
  GemmWorkspace<T> ws;
  const Mat<T> a = numbers.matrix<T>(161, 400), b = numbers.matrix<T>(400, 161), at = a.transpose(), bt = b.transpose();
  Mat<T> c(161, 161);
  PackedB<T> packed(b);
  const auto all = [&] {
    product(a, b, c, Accumulate::no, ws);
    product_tn(at, b, c, Accumulate::yes, ws);
    product_nt(a, bt, c, Accumulate::yes, ws);
    packed.pack(b);
    packed.pack_transposed(bt.topRows(50));
    product(a, packed, c.leftCols(50), Accumulate::no, ws);
    product(a.topLeftCorner(30, 40), b.topLeftCorner(40, 50), c.topLeftCorner(30, 50), Accumulate::no, ws);
  };
  const test::AllocationCount cold;
  all();
  BOOST_TEST(cold.count() > 0u);
  const test::AllocationCount warm;
  all();
  BOOST_TEST(warm.count() == 0u);

  GemmWorkspace<T> reserved;
  reserved.reserve(400, 161);
  const test::AllocationCount first;
  product(a, b, c, Accumulate::no, reserved);
  BOOST_TEST(first.count() == 0u);
}

BOOST_AUTO_TEST_CASE(wrong_shapes_are_refused) {
  GemmWorkspace<float> ws;
  Mat<float> a(3, 4), b(4, 5), c(3, 5);
  const auto run = [&](Extent am, Extent ak, Extent bk, Extent bn, Extent cm, Extent cn) {
    Mat<float> out(cm, cn);
    product(Mat<float>(Mat<float>::Zero(am, ak)), Mat<float>(Mat<float>::Zero(bk, bn)), out, Accumulate::no, ws);
  };
  run(3, 4, 4, 5, 3, 5);
  BOOST_CHECK_THROW(run(3, 4, 5, 5, 3, 5), ShapeError);
  BOOST_CHECK_THROW(run(3, 4, 4, 5, 4, 5), ShapeError);
  BOOST_CHECK_THROW(run(3, 4, 4, 5, 3, 4), ShapeError);
  BOOST_CHECK_THROW(run(3, 0, 4, 5, 3, 5), ShapeError);
  BOOST_CHECK_THROW(product_tn(a, b, c, Accumulate::no, ws), ShapeError);
  BOOST_CHECK_THROW(product_nt(a, b, c, Accumulate::no, ws), ShapeError);
  BOOST_CHECK_THROW(product(a, PackedB<float>(Mat<float>(Mat<float>::Zero(5, 5))), c, Accumulate::no, ws), ShapeError);
  BOOST_CHECK_THROW(MatrixView<float>(a.data(), 3, 4, -4), InvalidArgument);
  BOOST_CHECK_THROW(MatrixView<float>(a.data(), -3, 4, 4), ShapeError);
}

BOOST_AUTO_TEST_CASE(an_output_that_overlaps_an_operand_is_refused_u43) {
  Numbers numbers;
  GemmWorkspace<float> ws;
  Mat<float> x = numbers.matrix<float>(8, 8), y = numbers.matrix<float>(8, 8);
  BOOST_CHECK_THROW(product(x, y, x, Accumulate::no, ws), InvalidArgument);
  BOOST_CHECK_THROW(product(y, x, x, Accumulate::no, ws), InvalidArgument);
  BOOST_CHECK_THROW(product_tn(x, y, x, Accumulate::no, ws), InvalidArgument);
  BOOST_CHECK_THROW(product_nt(y, x, x, Accumulate::yes, ws), InvalidArgument);
  BOOST_CHECK_THROW(product(x, PackedB<float>(y), x, Accumulate::no, ws), InvalidArgument);
  BOOST_CHECK_THROW(product(x.leftCols(4), y.topLeftCorner(4, 4), x.middleCols(3, 4), Accumulate::no, ws),
                    InvalidArgument);
  BOOST_CHECK_THROW(product(x.topRows(4), y, x.middleRows(3, 4), Accumulate::no, ws), InvalidArgument);
  float one = 0;
  BOOST_CHECK_THROW(product(x, y, MatrixView<float>(&one, 8, 8, 0, 0), Accumulate::no, ws), InvalidArgument);

  // Disjoint blocks of one matrix are no overlap.
  Mat<float> want(8, 4), whole = x;
  product(Mat<float>(x.leftCols(4)), Mat<float>(y.topLeftCorner(4, 4)), want, Accumulate::no, ws);
  product(whole.leftCols(4), y.topLeftCorner(4, 4), whole.rightCols(4), Accumulate::no, ws);
  BOOST_TEST((whole.rightCols(4) == want));
  BOOST_TEST((whole.leftCols(4) == x.leftCols(4)));
}

BOOST_AUTO_TEST_CASE(scalars_without_a_kernel_take_the_plain_loop) {
  using Fifty = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>, boost::multiprecision::et_off>;
  Numbers numbers;
  const Mat<double> a = numbers.matrix<double>(5, 18), b = numbers.matrix<double>(18, 21);
  GemmWorkspace<double> ws;
  Mat<double> c(5, 21);
  product(a, b, c, Accumulate::no, ws);
  const Mat<double> bound = 20 * std::numeric_limits<double>::epsilon() * (a.cwiseAbs() * b.cwiseAbs());

  const auto check = [&](auto zero) {
    using T = decltype(zero);
    GemmWorkspace<T> workspace;
    const Mat<T> wide_a = a.cast<T>(), wide_b = b.cast<T>(), bt = wide_b.transpose();
    Mat<T> wide(5, 21), twice(5, 21);
    product(wide_a, wide_b, wide, Accumulate::no, workspace);
    product(wide_a, PackedB<T>(wide_b), twice, Accumulate::no, workspace);
    BOOST_TEST((twice == wide));
    product_nt(wide_a, bt, twice, Accumulate::yes, workspace);
    for (Extent i = 0; i < 5; ++i)
      for (Extent j = 0; j < 21; ++j) {
        BOOST_REQUIRE(std::abs(static_cast<double>(wide(i, j)) - c(i, j)) <= bound(i, j));
        BOOST_REQUIRE(twice(i, j) == wide(i, j) + wide(i, j));
      }
  };
  check(0.0L);
  check(Fifty(0));
}

BOOST_AUTO_TEST_CASE(derivatives_pass_through_products) {
  using Dual = Eigen::AutoDiffScalar<Eigen::Vector2d>;
  Numbers numbers;
  GemmWorkspace<Dual> ws;
  Mat<Dual> a(3, 4), b(4, 2), c(3, 2);
  Mat<double> av(3, 4), bv(4, 2), da(3, 4), db(4, 2);
  for (auto* m : {&av, &da, &bv, &db}) numbers.fill(*m);
  for (Extent i = 0; i < a.size(); ++i) a.data()[i] = Dual(av.data()[i], Eigen::Vector2d(da.data()[i], 0));
  for (Extent i = 0; i < b.size(); ++i) b.data()[i] = Dual(bv.data()[i], Eigen::Vector2d(0, db.data()[i]));
  product(a, b, c, Accumulate::no, ws);
  const Mat<double> value = av * bv, by_a = da * bv, by_b = av * db;
  for (Extent i = 0; i < 3; ++i)
    for (Extent j = 0; j < 2; ++j) {
      BOOST_TEST(std::abs(c(i, j).value() - value(i, j)) <= 1e-14);
      BOOST_TEST(std::abs(c(i, j).derivatives()(0) - by_a(i, j)) <= 1e-14);
      BOOST_TEST(std::abs(c(i, j).derivatives()(1) - by_b(i, j)) <= 1e-14);
    }
}

BOOST_AUTO_TEST_SUITE_END()
