// SPDX-License-Identifier: MIT
/// @file
/// @brief Mean row of each token.
#pragma once

#include <incipit/core/matrix.hpp>

#include <span>

namespace incipit::inline INCIPIT_ABI::measure {

/// @brief Mean of the rows that belong to one token.
struct TokenMeans {
  Mat<double> rows;    ///< (V, C); zero for a token that does not occur
  Col<Extent> counts;  ///< (V), rows that entered the mean
};

/// @brief Mean over all rows n of `x` (N, C) with tokens[n] = s, for every token s in [0, vocab).
/// @throws ShapeError unless there are N tokens; IndexError naming a token outside its range. @par Cost N C additions.
template <class Derived>
TokenMeans token_means(const Eigen::MatrixBase<Derived>& x, std::span<const Id> tokens, Extent vocab) {
  require_size("tokens", tokens.size(), x.rows());
  require<ShapeError>(vocab >= 1, "vocab", vocab, "at least 1");
  TokenMeans out{Mat<double>::Zero(vocab, x.cols()), Col<Extent>::Zero(vocab)};
  for (Extent n = 0; n < x.rows(); ++n) {
    const Id token = tokens[static_cast<std::size_t>(n)];
    if (token < 0 || token >= vocab) [[unlikely]]
      fail<IndexError>("tokens[" + std::to_string(n) + "]", token, "0 <= token < " + std::to_string(vocab));
    out.rows.row(token) += x.row(n).template cast<double>();
    ++out.counts(token);
  }
  for (Extent s = 0; s < vocab; ++s)
    if (out.counts(s) > 0) out.rows.row(s) /= static_cast<double>(out.counts(s));
  return out;
}

}  // namespace incipit::inline INCIPIT_ABI::measure
