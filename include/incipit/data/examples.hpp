// SPDX-License-Identifier: MIT
/// @file
/// @brief The one form in which data reaches a model: sequences of token ids, each with one label.
#pragma once

#include <incipit/core/matrix.hpp>

#include <string>
#include <vector>

/// Anchor tasks, real text and JSON lines as examples, and their exact statistics.
namespace incipit::inline INCIPIT_ABI::data {

/// @brief N sequences of L token ids, each with one label; ids and labels share one vocabulary of D entries.
/// @par Shapes tokens: (N, L); labels: N. There is one label per sequence, not per position: the class axis is D.
struct Examples {
  Mat<Id> tokens;          ///< (N, L) token ids in [0, D)
  std::vector<Id> labels;  ///< (N) labels in [0, D)
  Extent vocab = 0;        ///< D

  /// Number of sequences N.
  Extent size() const { return tokens.rows(); }
  /// Length of every sequence L.
  Extent length() const { return tokens.cols(); }

  /// @brief The contract at the batch boundary, in every build type: one pass over all ids and labels.
  /// @par Errors ShapeError if N = 0, L = 0 or the number of labels is not N; InvalidArgument if D < 1; IndexError
  /// naming the position and the value of the first id or label outside [0, D).
  /// @par Cost O(N L).
  void validate() const {
    require<ShapeError>(size() >= 1, "tokens.rows()", size(), "at least 1 sequence");
    require<ShapeError>(length() >= 1, "tokens.cols()", length(), "at least 1 token in a sequence");
    require_size("labels.size()", labels.size(), size());
    require(vocab >= 1, "vocab", vocab, "at least 1");
    for (Extent n = 0; n < size(); ++n) {
      for (Extent i = 0; i < length(); ++i)
        if (outside(tokens(n, i))) [[unlikely]]
          refuse("tokens(" + std::to_string(n) + ", " + std::to_string(i) + ")", tokens(n, i));
      if (outside(labels[static_cast<std::size_t>(n)])) [[unlikely]]
        refuse("labels[" + std::to_string(n) + "]", labels[static_cast<std::size_t>(n)]);
    }
  }

 private:
  bool outside(Id id) const { return id < 0 || id >= vocab; }
  [[noreturn]] void refuse(const std::string& where, Id id) const {
    fail<IndexError>(where, id, "0 to " + std::to_string(vocab - 1) + " (vocab " + std::to_string(vocab) + ")");
  }
};

/// @brief Copies the given rows, in the given order (a row may be named more than once).
/// @par Errors ShapeError if there is not one label per row; IndexError naming the first row outside [0, N).
inline Examples select(const Examples& from, const std::vector<Extent>& rows) {
  require_size("from.labels.size()", from.labels.size(), from.size());
  Examples to{Mat<Id>(static_cast<Extent>(rows.size()), from.length()), {}, from.vocab};
  to.labels.reserve(rows.size());
  for (const Extent row : rows) {
    const Extent n = static_cast<Extent>(to.labels.size());
    if (row < 0 || row >= from.size()) [[unlikely]]
      fail<IndexError>("rows[" + std::to_string(n) + "]", row, "0 to " + std::to_string(from.size() - 1));
    to.tokens.row(n) = from.tokens.row(row);
    to.labels.push_back(from.labels[static_cast<std::size_t>(row)]);
  }
  return to;
}

}  // namespace incipit::inline INCIPIT_ABI::data
