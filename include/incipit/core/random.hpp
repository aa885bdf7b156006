// SPDX-License-Identifier: MIT
/// @file
/// @brief Random numbers addressed by (seed, stream name, index), with the same bits on every compiler, -O level and
/// instruction set.
#pragma once

#include <incipit/core/exact_math.hpp>
#include <incipit/core/philox.hpp>

#include <algorithm>
#include <concepts>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace incipit::inline INCIPIT_ABI {

/// @brief A named stream of random numbers without state: number `i` of a stream is a pure function of (seed, name, i).
/// @details Philox 4x32-10 with key = seed (low word first), counter words 0-1 = index, words 2-3 = hash of the name.
/// So any tensor can be drawn again alone, in any order and on any thread, and a new stream changes no other. The hash
/// is 64-bit FNV-1a over the name's bytes, then the bit mixer of splitmix64; a child continues the name after a slash:
/// `RandomStream(s, "a").child("b")` and `RandomStream(s, "a/b")` are the same stream.
/// Index i gives one draw of each kind; draws of different kinds at one index are NOT independent of each other.
/// @par Source Salmon et al. 2011 (Philox); Steele, Lea & Flood 2014 (mixer); Wichura 1988 (normals); Lemire 2019
/// (integers).
/// @par Checked tests/core/random_test.cpp: golden bits.
class RandomStream {
 public:
  /// The stream called `name` under `seed`.
  constexpr RandomStream(std::uint64_t seed, std::string_view name) noexcept
      : key_{Philox4x32::low(seed), Philox4x32::high(seed)}, path_(append(0xcbf29ce484222325, name)) {
    set_counter();
  }

  /// The stream called "name/sub".
  constexpr RandomStream child(std::string_view sub) const noexcept {
    RandomStream next = *this;
    next.path_ = append(append(path_, "/"), sub);
    next.set_counter();
    return next;
  }
  /// The stream called "name/k", k in decimal: one stream per step, epoch or repetition.
  constexpr RandomStream child(std::uint64_t k) const noexcept {
    char digits[20];
    std::size_t at = 20;
    do digits[--at] = static_cast<char>('0' + k % 10);
    while ((k /= 10) != 0);
    return child(std::string_view(digits + at, 20 - at));
  }

  /// 64 random bits.
  constexpr std::uint64_t bits(std::uint64_t index) const noexcept {
    const auto block = Philox4x32::block(counter(index), key_);
    return Philox4x32::join(block[0], block[1]);
  }
  /// Uniform in [0, 1): a multiple of 2^-53, the upper 53 bits.
  constexpr double uniform(std::uint64_t index) const noexcept {
    return static_cast<double>(bits(index) >> 11) * 0x1p-53;
  }
  /// Standard normal, by inversion of the odd multiples of 2^-54; never beyond +-8.3, symmetric in law.
  double normal(std::uint64_t index) const { return exact::normal_quantile(centred(index)); }
  /// Writes normal(first), normal(first + 1), ... to `out`: the same numbers, in about a third of the time.
  void normals(std::uint64_t first, std::span<double> out) const {
    constexpr std::size_t chunk = 256;
    std::array<double, chunk> q;
    for (std::size_t begin = 0; begin < out.size(); begin += chunk, first += chunk) {
      const auto part = out.subspan(begin, (std::min)(chunk, out.size() - begin));
      for (std::size_t k = 0; k < part.size(); ++k) q[k] = centred(first + k);
      for (std::size_t k = 0; k < part.size(); ++k) part[k] = exact::central_normal_quantile(q[k]);
      for (std::size_t k = 0; k < part.size(); ++k)
        if (!exact::is_central(q[k])) part[k] = exact::tail_normal_quantile(q[k]);
    }
  }
  /// @brief Uniform integer in [0, n), without bias; n >= 1 (InvalidArgument).
  /// @details The upper half of bits * n, rejecting the 2^64 mod n overfull cases; a rejected draw goes on with the
  /// other half of the block, then with blocks under the keys seed + 2^32 j.
  std::uint64_t integer(std::uint64_t index, std::uint64_t n) const {
    require(n >= 1, "n of RandomStream::integer", n, "at least 1");
    __extension__ using Wide = unsigned __int128;
    for (auto key = key_;; ++key[1]) {
      const auto block = Philox4x32::block(counter(index), key);
      for (std::size_t half = 0; half < 4; half += 2) {
        const Wide product = Wide{Philox4x32::join(block[half], block[half + 1])} * n;
        const auto fraction = static_cast<std::uint64_t>(product);
        if (fraction >= n || fraction >= (0 - n) % n) return static_cast<std::uint64_t>(product >> 64);
      }
    }
  }

  /// Shuffles in place (Fisher-Yates from the back, draws at the indices size-1, ..., 1); every order equally likely.
  template <class T>
  void shuffle(std::span<T> values) const {
    using std::swap;
    for (std::size_t k = values.size(); k-- > 1;) swap(values[k], values[integer(k, k + 1)]);
  }
  /// Shuffles a vector in place.
  template <class T>
  void shuffle(std::vector<T>& values) const {
    shuffle(std::span<T>(values));
  }
  /// The numbers 0, ..., n-1 in random order; n >= 0 (InvalidArgument).
  template <std::integral Integer>
  std::vector<Integer> permutation(Integer n) const {
    require(n >= 0, "n of RandomStream::permutation", n, "at least 0");
    std::vector<Integer> order(static_cast<std::size_t>(n));
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<Integer>(k);
    shuffle(order);
    return order;
  }

 private:
  /// An odd multiple of 2^-54 in (-1/2, 1/2).
  constexpr double centred(std::uint64_t index) const noexcept {
    const auto signed_bits = static_cast<std::int64_t>(bits(index)) >> 11;
    return static_cast<double>(2 * signed_bits + 1) * 0x1p-54;
  }
  static constexpr std::uint64_t append(std::uint64_t hash, std::string_view text) noexcept {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
  }
  constexpr void set_counter() noexcept {
    std::uint64_t x = path_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    name_ = x ^ (x >> 31);
  }
  constexpr Philox4x32::Counter counter(std::uint64_t index) const noexcept {
    return {Philox4x32::low(index), Philox4x32::high(index), Philox4x32::low(name_), Philox4x32::high(name_)};
  }

  Philox4x32::Key key_;
  std::uint64_t path_, name_ = 0;
};

}  // namespace incipit::inline INCIPIT_ABI
