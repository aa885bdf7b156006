// SPDX-License-Identifier: MIT
/// @file
/// @brief Initialization schemes: small values that turn the fans of a weight into the law of its entries.
#pragma once

#include <incipit/init/law.hpp>

namespace incipit::inline INCIPIT_ABI::init {

/// @brief The two sizes of a weight W in y = x W: `in` is the contracted size, however W is stored.
/// @details An embedding's `in` is the number of tokens (its input is one-hot); of a fused (d, 3d) projection it is d.
struct Fan {
  Extent in;   ///< rows of W, >= 1
  Extent out;  ///< columns of W, >= 1
};

/// @brief A scheme with independent entries: `law(fan)` and its `moments(fan)`.
template <class S>
concept EntryScheme = requires(const S s, Fan fan) {
  { s.law(fan) } -> EntryLaw;
  { s.moments(fan) } -> std::same_as<Moments>;
};

namespace detail {
inline double rows(Fan fan) {
  require<ShapeError>(fan.in >= 1, "rows of the weight", fan.in, "at least 1");
  return static_cast<double>(fan.in);
}
inline double columns(Fan fan) {
  require<ShapeError>(fan.out >= 1, "columns of the weight", fan.out, "at least 1");
  return static_cast<double>(fan.out);
}
}  // namespace detail

/// @brief Normal with standard deviation in^-g: g = 1/2 is the usual scale, larger g a small initialization.
/// @par Source paper A, section 3: W_ij ~ N(0, (d_in^-g)^2). @par Checked tests/init/schemes_test.cpp, as all schemes.
struct Gamma {
  double g;  ///< exponent, >= 0
  /// The law of an entry.
  NormalLaw law(Fan fan) const {
    require_non_negative("gamma", g);
    return {exact::pow(detail::rows(fan), -g)};
  }
  /// Exact moments of an entry.
  Moments moments(Fan fan) const { return law(fan).moments(); }
};

/// Normal with a given standard deviation.
struct Normal {
  double std;  ///< standard deviation, >= 0
  /// The law of an entry.
  NormalLaw law(Fan) const {
    require_non_negative("std", std);
    return {std};
  }
  /// Exact moments of an entry.
  Moments moments(Fan fan) const { return law(fan).moments(); }
};

/// Normal with variance 1 / in (LeCun et al. 1998): keeps the variance of a linear layer's input.
struct LeCun {
  /// The law of an entry.
  NormalLaw law(Fan fan) const { return {1 / std::sqrt(detail::rows(fan))}; }
  /// Exact moments of an entry.
  Moments moments(Fan fan) const { return law(fan).moments(); }
};

/// Normal with variance 2 / in (He et al. 2015): LeCun's for ReLU, which halves second moments.
struct He {
  /// The law of an entry.
  NormalLaw law(Fan fan) const { return {std::sqrt(2 / detail::rows(fan))}; }
  /// Exact moments of an entry.
  Moments moments(Fan fan) const { return law(fan).moments(); }
};

/// Normal with variance 2 / (in + out) (Glorot & Bengio 2010).
struct Glorot {
  /// The law of an entry.
  NormalLaw law(Fan fan) const { return {std::sqrt(2 / (detail::rows(fan) + detail::columns(fan)))}; }
  /// Exact moments of an entry.
  Moments moments(Fan fan) const { return law(fan).moments(); }
};

/// Uniform with variance 2 / (in + out): flat within sqrt(6 / (in + out)) (Glorot & Bengio 2010, eq. 16).
struct GlorotUniform {
  /// The law of an entry.
  UniformLaw law(Fan fan) const { return {std::sqrt(2 / (detail::rows(fan) + detail::columns(fan)))}; }
  /// Exact moments of an entry.
  Moments moments(Fan fan) const { return law(fan).moments(); }
};

/// @brief Normal(0, std^2) confined to [-cut std, cut std]; its standard deviation is smaller than `std`, see moments.
struct TruncatedNormal {
  double std;      ///< standard deviation before truncation, >= 0
  double cut = 2;  ///< largest |w| in units of std, >= 0.1
  /// The law of an entry.
  TruncatedLaw law(Fan) const {
    require_non_negative("std", std);
    require(cut >= 0.1 && cut <= 1e6, "cut", cut, "0.1 to 1e6, in units of std");
    return {std, cut};
  }
  /// Exact moments of an entry.
  Moments moments(Fan fan) const { return law(fan).moments(); }
};

/// @brief Normal with standard deviation std / sqrt(2 layers), for the 2 layers projections that end on the residual
/// stream.
/// @par Source Radford et al. 2019 (GPT-2), section 2.3.
struct Gpt2Residual {
  double std = 0.02;  ///< standard deviation of all other weights, >= 0
  Extent layers = 1;  ///< number of blocks, >= 1
  /// The law of an entry.
  NormalLaw law(Fan) const {
    require_non_negative("std", std);
    require(layers >= 1, "layers", layers, "at least 1");
    return {std / std::sqrt(2 * static_cast<double>(layers))};
  }
  /// Exact moments of an entry.
  Moments moments(Fan fan) const { return law(fan).moments(); }
};

/// Every entry c: 0 for biases, 1 for gains of norms.
struct Constant {
  double c;  ///< the value
  /// The law of an entry.
  PointLaw law(Fan) const { return {c}; }
  /// (c, 0, 0).
  Moments moments(Fan fan) const { return law(fan).moments(); }
};

static_assert(EntryScheme<Gamma> && EntryScheme<TruncatedNormal> && EntryScheme<GlorotUniform> &&
              EntryScheme<Constant>);

}  // namespace incipit::inline INCIPIT_ABI::init
