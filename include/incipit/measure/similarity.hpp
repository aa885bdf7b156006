// SPDX-License-Identifier: MIT
/// @file
/// @brief Whether two sets of vectors have the same geometry: rank and linear correlation of cosines, profiles, CKA.
#pragma once

#include <incipit/measure/cosine.hpp>

#include <numeric>

namespace incipit::inline INCIPIT_ABI::measure {

/// @brief Ranks 1 .. N(N-1)/2 of the entries above the diagonal, as a symmetric matrix with a zero diagonal; tied
/// entries share the mean of their ranks.
/// @throws ShapeError unless square; NonFiniteError naming the entry.
template <class Derived>
Mat<double> off_diagonal_ranks(const Eigen::MatrixBase<Derived>& a) {
  const Row<double> values = off_diagonal(a);
  const Extent n = a.rows(), pairs = values.size();
  for (Extent i = 0; i < n; ++i)
    for (Extent j = i + 1; j < n; ++j)
      if (!is_finite(a.coeff(i, j))) [[unlikely]]
        throw NonFiniteError("matrix(" + std::to_string(i) + "," + std::to_string(j) + ")", "a NaN or an infinity",
                             "finite entries");
  std::vector<Extent> order(static_cast<std::size_t>(pairs));
  std::iota(order.begin(), order.end(), Extent{0});
  std::sort(order.begin(), order.end(), [&](Extent x, Extent y) { return values(x) < values(y); });
  Row<double> ranks(pairs);
  for (std::size_t first = 0, last; first < order.size(); first = last) {
    for (last = first + 1; last < order.size() && !(values(order[first]) < values(order[last]));) ++last;
    for (std::size_t k = first; k < last; ++k) ranks(order[k]) = static_cast<double>(first + 1 + last) / 2;
  }
  Mat<double> out = Mat<double>::Zero(n, n);
  for (Extent i = 0, at = 0; i < n; ++i)
    for (Extent j = i + 1; j < n; ++j) out(i, j) = out(j, i) = ranks(at++);
  return out;
}

/// @brief Agreement of two geometries over the pairs of their rows (representational similarity).
struct Similarity {
  Defined<double> pearson;   ///< linear correlation of the off-diagonal entries
  Defined<double> spearman;  ///< correlation of their ranks: any increasing function of the entries leaves it as it is
};

/// @brief Representational similarity of two symmetric matrices (N, N), such as cosine matrices of the same tokens.
/// @details Only what lies above the diagonals counts. Undefined with fewer than two pairs or if a matrix is constant
/// there. Entries that differ by rounding alone have different ranks.
/// @throws ShapeError when the sizes differ; NonFiniteError naming the entry. @par Source Kriegeskorte et al. 2008.
template <class A, class B>
Similarity representational_similarity(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  require_size("rows of b", b.rows(), a.rows());
  const Mat<double> ranks_a = off_diagonal_ranks(a), ranks_b = off_diagonal_ranks(b);
  return {off_diagonal_correlation(a, b), off_diagonal_correlation(ranks_a, ranks_b)};
}

/// @brief Two profiles of mean cosine by distance |s - t|, side by side.
struct ProfileDifference {
  std::vector<ProfilePoint> first;   ///< profile of the first matrix
  std::vector<ProfilePoint> second;  ///< of the second, at the same distances
  Defined<double> mean;              ///< mean |difference| over distances, each weighted by its pairs
  Defined<double> largest;           ///< largest |difference| over distances
};

/// @brief Compares distance_profile of two symmetric matrices (N, N) of the same tokens.
/// @throws ShapeError when sizes differ or `tokens` does not fit.
template <class A, class B>
ProfileDifference profile_difference(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b,
                                     std::span<const Id> tokens = {}) {
  require_size("rows of b", b.rows(), a.rows());
  ProfileDifference out{distance_profile(a, tokens), distance_profile(b, tokens), {0, false}, {0, false}};
  double sum = 0, pairs = 0;
  for (std::size_t k = 0; k < out.first.size(); ++k) {
    const double off = std::abs(out.first[k].mean - out.second[k].mean),
                 count = static_cast<double>(out.first[k].count);
    sum += off * count;
    pairs += count;
    out.largest = {(std::max)(out.largest.value, off), true};
  }
  if (pairs > 0) out.mean = {sum / pairs, true};
  return out;
}

/// @brief The geometry of one group of tokens in two embedding tables.
struct GeometryComparison {
  std::vector<Id> tokens;      ///< the tokens compared
  std::vector<Id> zero_rows;   ///< those left out because their row is zero in a table
  Mat<double> first, second;   ///< cosine matrices of the tokens compared
  Similarity similarity;       ///< of the two
  ProfileDifference profiles;  ///< of the two, by |s - t|
};

/// @brief Compares the rows `tokens` of two tables (V, C) and (V', C'), whose widths need not agree.
/// @throws IndexError naming a token that is no row of both; NonFiniteError naming the entry. @par Cost that of two
/// cosine matrices.
template <class A, class B>
GeometryComparison compare_geometry(const Eigen::MatrixBase<A>& x, const Eigen::MatrixBase<B>& y,
                                    std::span<const Id> tokens) {
  GeometryComparison out;
  const Extent rows = (std::min)(x.rows(), y.rows());
  for (const Id token : tokens) {
    require<IndexError>(token >= 0 && token < rows, "tokens", token, "a row of both tables");
    const bool zero = x.row(token).isZero(0) || y.row(token).isZero(0);
    (zero ? out.zero_rows : out.tokens).push_back(token);
  }
  out.first = cosine_matrix(x(out.tokens, Eigen::all).template cast<double>(), "x").values;
  out.second = cosine_matrix(y(out.tokens, Eigen::all).template cast<double>(), "y").values;
  out.similarity = representational_similarity(out.first, out.second);
  out.profiles = profile_difference(out.first, out.second, out.tokens);
  return out;
}

/// @brief Linear centred kernel alignment of two sets of N rows, in [0, 1]: 1 if one is a rotation and scaling of the
/// other after centring.
/// @par Formula \f$ \lVert X_c^T Y_c \rVert_F^2 / (\lVert X_c^T X_c \rVert_F \lVert Y_c^T Y_c \rVert_F) \f$, columns
/// centred.
/// @details Undefined if all rows of a set are equal (to rounding).
/// @throws ShapeError for different numbers of rows; NonFiniteError naming the entry.
/// @par Source Kornblith et al. 2019, eq. 3 with a linear kernel.
template <class A, class B>
Defined<double> linear_cka(const Eigen::MatrixBase<A>& x, const Eigen::MatrixBase<B>& y) {
  require_size("rows of y", y.rows(), x.rows());
  const auto centred = [](const auto& input, std::string_view name, Mat<double>& out) {
    out = input.template cast<double>();
    require_finite(name, out);
    const double scale = out.size() ? out.cwiseAbs().maxCoeff() : 0;
    if (!(scale > 0)) return false;
    out /= scale;
    out.rowwise() -= out.colwise().mean().eval();
    const double spread = out.cwiseAbs().maxCoeff();
    if (!(spread > 16 * Eigen::NumTraits<double>::epsilon())) return false;
    out /= spread;
    return true;
  };
  Mat<double> a, b;
  const bool has_a = centred(x, "x", a), has_b = centred(y, "y", b);
  if (!has_a || !has_b) return {0, false};
  const Mat<double> cross = a.transpose() * b, own_a = a.transpose() * a, own_b = b.transpose() * b;
  return {(std::min)(cross.squaredNorm() / (own_a.norm() * own_b.norm()), 1.0), true};
}

}  // namespace incipit::inline INCIPIT_ABI::measure
