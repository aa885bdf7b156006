// SPDX-License-Identifier: MIT
/// @file
/// @brief How far the rows of a matrix have condensed onto few directions.
#pragma once

#include <incipit/measure/cosine.hpp>

#include <numeric>

namespace incipit::inline INCIPIT_ABI::measure {

/// Whether x and -x are one direction.
enum class Orientation {
  directed,  ///< no: compare cosines
  line,      ///< yes: compare |cosines|
};

/// @brief Condensation of the non-zero rows of a matrix.
struct Condensation {
  Defined<double> mean_cosine;  ///< mean cosine (or |cosine|) over pairs
  Defined<double> aligned;      ///< share of pairs with cosine (or |cosine|) >= threshold
  Extent directions = 0;        ///< groups of rows linked by such pairs: 1 when fully condensed
  Extent zero_rows = 0;         ///< rows left out because they are zero
};

/// @brief Condensation of the rows of `x` (N, C) at the cosine `threshold` in (0, 1].
/// @details Two rows are linked when their cosine reaches the threshold; `directions` counts the connected groups,
/// which does not depend on the order of the rows.
/// @throws InvalidArgument for a threshold outside (0, 1]; NonFiniteError naming the entry. @par Cost 2 N^2 C FLOPs.
template <class Derived>
Condensation condensation(const Eigen::MatrixBase<Derived>& x, double threshold,
                          Orientation orientation = Orientation::directed) {
  require(threshold > 0 && threshold <= 1, "threshold", threshold, "0 < threshold <= 1");
  const auto cosines = cosine_matrix(x);
  const Extent n = cosines.values.rows();
  std::vector<Extent> kept(static_cast<std::size_t>(n));
  std::iota(kept.begin(), kept.end(), Extent{0});
  std::erase_if(kept,
                [&](Extent i) { return std::binary_search(cosines.zero_rows.begin(), cosines.zero_rows.end(), i); });

  std::vector<Extent> parent(static_cast<std::size_t>(n));
  std::iota(parent.begin(), parent.end(), Extent{0});
  const auto root = [&](Extent i) {
    for (Extent up; (up = parent[static_cast<std::size_t>(i)]) != i; i = up)
      parent[static_cast<std::size_t>(i)] = parent[static_cast<std::size_t>(up)];
    return i;
  };

  Condensation out;
  out.zero_rows = static_cast<Extent>(cosines.zero_rows.size());
  out.directions = static_cast<Extent>(kept.size());
  Extent pairs = 0, linked = 0;
  double sum = 0;
  for (std::size_t a = 0; a < kept.size(); ++a)
    for (std::size_t b = a + 1; b < kept.size(); ++b) {
      const double raw = static_cast<double>(cosines.values(kept[a], kept[b]));
      const double value = orientation == Orientation::line ? std::abs(raw) : raw;
      sum += value;
      ++pairs;
      if (value < threshold) continue;
      ++linked;
      const Extent i = root(kept[a]), j = root(kept[b]);
      if (i != j) {
        parent[static_cast<std::size_t>(j)] = i;
        --out.directions;
      }
    }
  if (pairs == 0) {
    out.mean_cosine = out.aligned = {0, false};
  } else {
    out.mean_cosine = {sum / static_cast<double>(pairs), true};
    out.aligned = {static_cast<double>(linked) / static_cast<double>(pairs), true};
  }
  return out;
}

}  // namespace incipit::inline INCIPIT_ABI::measure
