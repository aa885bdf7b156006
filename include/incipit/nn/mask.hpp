// SPDX-License-Identifier: MIT
/// @file
/// @brief Which keys a query may look at.
#pragma once

#include <incipit/core/matrix.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace incipit::inline INCIPIT_ABI::nn {

/// How queries and keys line up under a causal mask when their numbers differ.
enum class CausalAlign {
  bottom_right,  ///< the last query is the last key: query i sees keys j <= i + Tk - Tq (decoding with a past)
  top_left       ///< the first query is the first key: query i sees keys j <= i
};

/// @brief A mask over Tq queries and Tk keys of each sequence.
/// @details A query may see no key at all: its output and its gradients are then zero (see attend). What is masked is
/// never read, so NaN or infinity there does no harm.
class Mask {
 public:
  /// 1 where a query may look at a key.
  using Table = Mat<std::uint8_t>;

  /// Everything is visible.
  static Mask none() { return Mask(Kind::none); }
  /// No query sees a later key.
  static Mask causal(CausalAlign align = CausalAlign::bottom_right) {
    Mask m(Kind::causal);
    m.align_ = align;
    return m;
  }
  /// Any mask: (Tq, Tk) for all sequences alike, or (B Tq, Tk), one table after the other.
  static Mask of(Table visible) {
    Mask m(Kind::table);
    m.table_ = std::move(visible);
    return m;
  }

  /// Checks the table's shape against B sequences of Tq queries and Tk keys. @throws ShapeError
  void require_shape(Extent sequences, Extent queries, Extent keys) const {
    if (kind_ != Kind::table) return;
    require_size("mask.cols", table_.cols(), keys);
    if (table_.rows() != queries && table_.rows() != sequences * queries) [[unlikely]]
      fail<ShapeError>("mask.rows", table_.rows(), std::to_string(queries) + " or " + std::to_string(sequences * queries));
  }
  /// Number of leading keys among which query i finds all that it sees: visible() need not be asked beyond.
  Extent reach(Extent i, Extent queries, Extent keys) const {
    if (kind_ != Kind::causal) return keys;
    const Extent last = align_ == CausalAlign::top_left ? i : i + keys - queries;
    return (std::clamp)(last + 1, Extent(0), keys);
  }
  /// Whether query i of sequence b sees key j < reach(i).
  bool visible(Extent b, Extent i, Extent j, Extent queries) const {
    return kind_ != Kind::table || table_(table_.rows() == queries ? i : b * queries + i, j) != 0;
  }

  /// The mask of the last of `queries` queries alone. @par Cost a copy of its rows if the mask is a table.
  Mask last_query(Extent queries) const {
    if (kind_ == Kind::none) return *this;
    if (kind_ == Kind::causal) return causal(CausalAlign::bottom_right);
    Table rows(table_.rows() / queries, table_.cols());
    for (Extent b = 0; b < rows.rows(); ++b) rows.row(b) = table_.row((b + 1) * queries - 1);
    return of(std::move(rows));
  }

 private:
  enum class Kind { none, causal, table };
  explicit Mask(Kind kind) : kind_(kind) {}
  Kind kind_;
  CausalAlign align_ = CausalAlign::bottom_right;
  Table table_;
};

}  // namespace incipit::inline INCIPIT_ABI::nn
