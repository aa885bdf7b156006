// SPDX-License-Identifier: MIT
/// @file
/// @brief Semi-orthogonal weights, uniformly distributed.
#pragma once

#include <incipit/init/schemes.hpp>

#include <vector>

namespace incipit::inline INCIPIT_ABI::init {

/// @brief gain Q with orthonormal columns (in >= out) or rows (in < out), Q Haar-distributed.
/// @par Formula Q of the QR decomposition of a normal matrix with R_kk > 0, which makes Q unique and its law Haar. A
/// row or column of the longer side n = max(in, out) is uniform on the sphere: variance = gain^2 / n and fourth = 3
/// gain^4 / (n (n + 2)). Entries are uncorrelated, not independent: the sum of squares is gain^2 min(in, out).
/// @par Source Saxe, McClelland & Ganguli 2014; Mezzadri 2007 on the signs.
/// @par Cost about 4 n m^2 FLOPs, m = min(in, out); the same bits everywhere, hence slow without FMA instructions.
struct Orthogonal {
  double gain = 1;  ///< all singular values, >= 0

  /// Exact moments of an entry.
  Moments moments(Fan fan) const {
    const double n = (std::max)(detail::rows(fan), detail::columns(fan));
    return {0, gain * gain / n, 3 * gain * gain * gain * gain / (n * (n + 2))};
  }

  /// The matrix (in, out) from the first in * out normals of the stream.
  Mat<double> draw(Fan fan, const RandomStream& stream) const {
    require_non_negative("gain", gain);
    detail::rows(fan), detail::columns(fan);
    const Extent n = (std::max)(fan.in, fan.out), m = (std::min)(fan.in, fan.out);
    Mat<double> reflectors(n, m), q = Mat<double>::Zero(n, m);
    stream.normals(0, {reflectors.data(), static_cast<std::size_t>(n * m)});
    Row<double> scales(m), work(m);
    for (Extent k = 0; k < m; ++k) {
      double square = 0;
      for (Extent i = k; i < n; ++i) square = std::fma(reflectors(i, k), reflectors(i, k), square);
      const double head = reflectors(k, k), norm = std::sqrt(square), size = head < 0 ? -head : head;
      q(k, k) = head < 0 ? 1 : -1;
      reflectors(k, k) = head < 0 ? head - norm : head + norm;
      scales(k) = 1 / (norm * (norm + size));
      reflect(reflectors, k, scales(k), reflectors, k + 1, work);
    }
    for (Extent k = m; k-- > 0;) reflect(reflectors, k, scales(k), q, k, work);
    q *= gain;
    if (fan.in >= fan.out) return q;
    return q.transpose();
  }

 private:
  /// a -= scale v v^T a over the columns from `first`, v = column k of the reflectors from row k down.
  /// Every entry sums in one fixed order with explicit fma; columns are independent, so compilers may vectorise.
  static void reflect(const Mat<double>& reflectors, Extent k, double scale, Mat<double>& a, Extent first,
                      Row<double>& work) {
    const Extent n = a.rows(), m = a.cols();
    work.setZero();
    for (Extent i = k; i < n; ++i) {
      const double v = reflectors(i, k);
      const double* row = a.data() + i * m;
      for (Extent j = first; j < m; ++j) work(j) = std::fma(v, row[j], work(j));
    }
    for (Extent i = k; i < n; ++i) {
      const double v = -(scale * reflectors(i, k));
      double* row = a.data() + i * m;
      for (Extent j = first; j < m; ++j) row[j] = std::fma(v, work(j), row[j]);
    }
  }
};

}  // namespace incipit::inline INCIPIT_ABI::init
