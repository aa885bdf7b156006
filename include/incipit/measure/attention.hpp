// SPDX-License-Identifier: MIT
/// @file
/// @brief What attention weights do: their distance to the average of the prefix, mean maps, entropy, flow to roles.
#pragma once

#include <incipit/core/finite.hpp>
#include <incipit/measure/defined.hpp>

#include <algorithm>
#include <string>

namespace incipit::inline INCIPIT_ABI::measure {

/// @brief How the rows of attention weights (B H Tq, Tk) divide.
/// @details Query i of head h of sequence b is row (b H + h) Tq + i, as attend leaves them. The number of sequences B
/// follows from the rows. Fewer queries than keys are the last ones: query i may see the keys up to i + Tk - Tq.
struct AttentionLayout {
  Extent heads = 1;    ///< H
  Extent queries = 1;  ///< Tq of each sequence
};

namespace detail {
/// Checks weights against the layout and returns B. @throws ShapeError, NonFiniteError, InvalidArgument
template <class Derived>
Extent attention_sequences(const Eigen::MatrixBase<Derived>& weights, const AttentionLayout& layout) {
  require<ShapeError>(layout.heads >= 1, "heads", layout.heads, "at least 1");
  require<ShapeError>(layout.queries >= 1 && layout.queries <= weights.cols(), "queries", layout.queries,
                      "1 .. number of keys");
  const Extent rows = layout.heads * layout.queries;
  require<ShapeError>(weights.rows() > 0 && weights.rows() % rows == 0, "rows of weights", weights.rows(),
                      "a positive multiple of heads times queries");
  for (Extent n = 0; n < weights.rows(); ++n)
    for (Extent j = 0; j < weights.cols(); ++j) {
      const auto a = weights.coeff(n, j);
      if (is_finite(a) && a >= 0) continue;
      const std::string name = "weights(" + std::to_string(n) + "," + std::to_string(j) + ")";
      if (!is_finite(a)) throw NonFiniteError(name, "a NaN or an infinity", "finite entries");
      fail<InvalidArgument>(name, a, ">= 0");
    }
  return weights.rows() / rows;
}
}  // namespace detail

/// @brief Distance of attention weights to the average of the prefix, A_ij = 1/n for the first n keys and 0 beyond,
/// where n = i + 1 + Tk - Tq is the number of keys that query i (from 0) may see.
struct PrefixDistance {
  Mat<double> largest;  ///< (H, Tq), largest |A_ij - 1/n| over sequences and keys
  Mat<double> rms;      ///< (H, Tq), root mean square of A_ij - 1/n over sequences and the n keys
};

/// @brief Distance of attention weights (B H Tq, Tk) to the average of the prefix, by head and position.
/// @details Zero exactly if every query gives each key of its prefix the same weight. A query that a mask left without
/// keys has weights 0 and is 1/n away.
/// @throws ShapeError unless the layout fits; NonFiniteError, InvalidArgument naming an entry that is no weight.
/// @par Source paper A, Lemma 1.  @par Checked tests/measure/attention_test.cpp
template <class Derived>
PrefixDistance prefix_distance(const Eigen::MatrixBase<Derived>& weights, const AttentionLayout& layout) {
  const Extent sequences = detail::attention_sequences(weights, layout), keys = weights.cols();
  PrefixDistance out{Mat<double>::Zero(layout.heads, layout.queries), Mat<double>::Zero(layout.heads, layout.queries)};
  for (Extent b = 0, n = 0; b < sequences; ++b)
    for (Extent h = 0; h < layout.heads; ++h)
      for (Extent i = 0; i < layout.queries; ++i, ++n) {
        const Extent seen = i + 1 + keys - layout.queries;
        for (Extent j = 0; j < keys; ++j) {
          const double average = j < seen ? 1 / static_cast<double>(seen) : 0;
          const double off = static_cast<double>(weights.coeff(n, j)) - average;
          out.largest(h, i) = (std::max)(out.largest(h, i), std::abs(off));
          out.rms(h, i) += off * off / static_cast<double>(seen);
        }
      }
  out.rms = (out.rms / static_cast<double>(sequences)).cwiseSqrt().eval();
  return out;
}

/// @brief Attention maps averaged over the sequences: one (Tq, Tk) for every head.
/// @throws as prefix_distance.
template <class Derived>
std::vector<Mat<double>> attention_maps(const Eigen::MatrixBase<Derived>& weights, const AttentionLayout& layout) {
  const Extent sequences = detail::attention_sequences(weights, layout);
  std::vector<Mat<double>> maps(static_cast<std::size_t>(layout.heads),
                                Mat<double>::Zero(layout.queries, weights.cols()));
  for (Extent b = 0; b < sequences; ++b)
    for (Extent h = 0; h < layout.heads; ++h)
      maps[static_cast<std::size_t>(h)] +=
          weights.middleRows((b * layout.heads + h) * layout.queries, layout.queries).template cast<double>();
  for (auto& map : maps) map /= static_cast<double>(sequences);
  return maps;
}

/// @brief Entropy of attention, by head and position.
struct AttentionEntropy {
  Mat<double> mean;  ///< (H, Tq), nats, mean over the sequences; log n for the average of n keys, 0 for a single one
  Mat<Extent> used;  ///< (H, Tq), sequences that entered the mean: those whose query sees a key; mean is 0 if none does
};

/// @brief Mean of -sum_j A_ij log A_ij over sequences, with 0 log 0 = 0. @throws as prefix_distance.
template <class Derived>
AttentionEntropy attention_entropy(const Eigen::MatrixBase<Derived>& weights, const AttentionLayout& layout) {
  const Extent sequences = detail::attention_sequences(weights, layout);
  AttentionEntropy out{Mat<double>::Zero(layout.heads, layout.queries),
                       Mat<Extent>::Zero(layout.heads, layout.queries)};
  for (Extent b = 0, n = 0; b < sequences; ++b)
    for (Extent h = 0; h < layout.heads; ++h)
      for (Extent i = 0; i < layout.queries; ++i, ++n) {
        bool sees = false;
        for (Extent j = 0; j < weights.cols(); ++j) {
          const double a = static_cast<double>(weights.coeff(n, j));
          if (!(a > 0)) continue;
          sees = true;
          out.mean(h, i) -= a * std::log(a);
        }
        out.used(h, i) += sees;
      }
  out.mean.array() /= out.used.cwiseMax(Extent{1}).template cast<double>().array();
  return out;
}

/// @brief Where the last query of each sequence looks, by head and the role of the keys.
struct RoleWeights {
  Mat<double> total;      ///< (H, R), weight on all keys of a role, mean over sequences; each row sums to 1
  Mat<double> each;       ///< (H, R), mean weight on one key of that role; 0 for a role without keys
  Row<Extent> positions;  ///< (R), number of keys of a role over all sequences
};

/// @brief Weight of the last query of each sequence on keys of each role: how much of key, anchors and noise arrives.
/// @param weights (B H Tq, Tk), as attend leaves them. @param layout how its rows divide.
/// @param roles   (B, Tk), the role 0 .. R-1 of every position.
/// @param kinds   R.
/// @throws ShapeError unless `roles` fits; IndexError naming a role outside its range; else as prefix_distance.
template <class Derived>
RoleWeights last_query_by_role(const Eigen::MatrixBase<Derived>& weights, const AttentionLayout& layout,
                               In<Mat<Id>> roles, Extent kinds) {
  const Extent sequences = detail::attention_sequences(weights, layout);
  require_size("rows of roles", roles.rows(), sequences);
  require_size("columns of roles", roles.cols(), weights.cols());
  require(kinds >= 1, "kinds", kinds, "at least 1");
  RoleWeights out{Mat<double>::Zero(layout.heads, kinds), {}, Row<Extent>::Zero(kinds)};
  for (Extent b = 0; b < sequences; ++b)
    for (Extent j = 0; j < roles.cols(); ++j) {
      const Extent role = roles(b, j);
      if (role < 0 || role >= kinds) [[unlikely]]
        fail<IndexError>("roles(" + std::to_string(b) + "," + std::to_string(j) + ")", role,
                         "0 <= role < " + std::to_string(kinds));
      ++out.positions(role);
      for (Extent h = 0; h < layout.heads; ++h)
        out.total(h, role) += static_cast<double>(weights.coeff((b * layout.heads + h + 1) * layout.queries - 1, j));
    }
  out.each = out.total.array().rowwise() / out.positions.cwiseMax(Extent{1}).template cast<double>().array();
  out.total /= static_cast<double>(sequences);
  return out;
}

}  // namespace incipit::inline INCIPIT_ABI::measure
