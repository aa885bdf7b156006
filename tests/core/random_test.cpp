// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/core/random.hpp>

#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include <numeric>
#include <set>

using namespace incipit;

namespace {
std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
}  // namespace

BOOST_AUTO_TEST_SUITE(core_random)

BOOST_AUTO_TEST_CASE(philox_gives_the_published_vectors) {
  using Counter = Philox4x32::Counter;
  constexpr std::uint32_t ones = 0xffffffff;
  static_assert(Philox4x32::block({0, 0, 0, 0}, {0, 0}) == Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  static_assert(Philox4x32::block({ones, ones, ones, ones}, {ones, ones}) ==
                Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  const auto pi = Philox4x32::block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
  BOOST_TEST((pi == Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

BOOST_AUTO_TEST_CASE(seed_42_gives_the_golden_uniforms_normals_and_shuffle_u31) {
  const RandomStream stream(42, "golden");
  constexpr std::array<std::uint64_t, 8> uniforms = {0x3fcd0bef872afa20, 0x3fd208d28f041174, 0x3fea61aa78eed31a,
                                                     0x3fddac7a74347c94, 0x3fd7d363ffe8367a, 0x3fbfbc4f33835450,
                                                     0x3fe21c7a3ae66b99, 0x3fda22bcc3a38ad8};
  constexpr std::array<std::uint64_t, 8> normals = {0x3fe3503c9b0a1e3b, 0x3fe8e767996e4f5f, 0xbfdd24c18e5a2ca8,
                                                    0x3ffcb73ec81abeab, 0x3ff2320fb9b292c1, 0x3fd437fa94465e14,
                                                    0xbff81a67ff49cbe6, 0x3ff54ae5bd2d6d9f};
  for (std::size_t i = 0; i < 8; ++i) {
    BOOST_TEST(bits_of(stream.uniform(i)) == uniforms[i]);
    BOOST_TEST(bits_of(stream.normal(i)) == normals[i]);
  }
  std::vector<int> digits(10);
  std::iota(digits.begin(), digits.end(), 0);
  stream.shuffle(digits);
  BOOST_TEST((digits == std::vector<int>{6, 5, 2, 4, 1, 0, 8, 9, 7, 3}));
  BOOST_TEST((stream.permutation(10) == digits));
}

BOOST_AUTO_TEST_CASE(a_hash_of_many_normals_logarithms_and_powers_is_golden_u31) {
  const RandomStream stream(42, "golden");
  std::uint64_t hash = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) hash = hash * 31 + bits_of(stream.normal(i));
  for (int i = 1; i < 3000; ++i)
    hash = hash * 31 + bits_of(exact::pow(i, -0.01 * i / 10)) + bits_of(exact::log(i / 3.0));
  BOOST_TEST(hash == 6680161407493323238u);
}

BOOST_AUTO_TEST_CASE(a_number_depends_on_seed_name_and_index_and_on_nothing_else) {
  const RandomStream stream(7, "model/hidden.weight");
  BOOST_TEST(stream.bits(5) == RandomStream(7, "model").child("hidden.weight").bits(5));
  BOOST_TEST(stream.child(120).bits(0) == RandomStream(7, "model/hidden.weight/120").bits(0));
  BOOST_TEST(stream.child(0).bits(0) == stream.child("0").bits(0));
  std::set<std::uint64_t> seen;
  for (const std::uint64_t seed : {0ull, 1ull, 7ull, 1ull << 32, ~0ull})
    for (const auto name : {"", "a", "b", "ab", "ba", "a/", "/a"})
      for (const std::uint64_t index : {0ull, 1ull, 1ull << 32, 1ull << 40, ~0ull})
        seen.insert(RandomStream(seed, name).bits(index));
  BOOST_TEST(seen.size() == 5u * 7u * 5u);
}

BOOST_AUTO_TEST_CASE(bulk_normals_are_the_single_ones) {
  const RandomStream stream(3, "bulk");
  for (const std::size_t size : {0u, 1u, 255u, 256u, 1000u}) {
    std::vector<double> all(size);
    stream.normals(17, all);
    for (std::size_t i = 0; i < size; ++i) BOOST_REQUIRE(all[i] == stream.normal(17 + i));
  }
}

BOOST_AUTO_TEST_CASE(the_normal_quantile_inverts_the_normal_law_in_all_three_ranges) {
  using Big = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>, boost::multiprecision::et_off>;
  std::vector<double> points = {0x1p-54, 1e-9, 0.1, 0.3, 0.424999, 0.425, 0.4250001, 0.49, 0.4999, 0.4999999};
  for (int k = 6; k <= 54; k += 4) points.push_back(0.5 - std::ldexp(1.0, -k));
  for (const double q : points) {
    const Big exact_value = sqrt(Big(2)) * boost::math::erf_inv(Big(2) * Big(q));
    BOOST_TEST(std::abs(static_cast<double>((exact::normal_quantile(q) - exact_value) / exact_value)) < 1e-15);
    BOOST_TEST(exact::normal_quantile(-q) == -exact::normal_quantile(q));
  }
}

BOOST_AUTO_TEST_CASE(exact_logarithm_exponential_and_power_agree_with_long_double) {
  const RandomStream stream(1, "points");
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const double x = std::ldexp(0.5 + stream.uniform(i), static_cast<int>(i % 200) - 100);
    const long double log_x = std::log(static_cast<long double>(x));
    BOOST_REQUIRE_SMALL(static_cast<double>((exact::log(x) - log_x) / log_x), 4e-16);
    const double y = 1400 * stream.uniform(i) - 700;
    const long double exp_y = std::exp(static_cast<long double>(y));
    BOOST_REQUIRE_SMALL(static_cast<double>((exact::exp(y) - exp_y) / exp_y), 4e-16);
  }
  BOOST_TEST(exact::pow(256, -0.5) == 0.0625);
  BOOST_TEST(exact::pow(100, -1) == 0.01);
  BOOST_TEST(exact::pow(161, 0) == 1.0);
  for (const double g : {0.1, 0.3, 0.8, 1.5})
    BOOST_TEST(exact::pow(161, -g) == std::pow(161.0, -g), boost::test_tools::tolerance(2e-15));
}

BOOST_AUTO_TEST_CASE(uniforms_and_normals_have_the_moments_of_their_laws) {
  const RandomStream stream(11, "moments");
  constexpr std::uint64_t n = 100000;
  double uniform1 = 0, uniform2 = 0, lag = 0;
  std::array<double, 5> normal{};
  for (std::uint64_t i = 0; i < n; ++i) {
    const double u = stream.uniform(i);
    BOOST_REQUIRE(0 <= u);
    BOOST_REQUIRE(u < 1);
    uniform1 += u - 0.5;
    uniform2 += (u - 0.5) * (u - 0.5);
    lag += stream.normal(i) * stream.normal(i + 1);
    double power = 1;
    for (double& sum : normal) sum += power, power *= stream.normal(i);
  }
  const double root = std::sqrt(static_cast<double>(n));
  BOOST_TEST(std::abs(uniform1 / root) < 4.5 * std::sqrt(1.0 / 12));
  BOOST_TEST(std::abs((uniform2 - n / 12.0) / root) < 4.5 * std::sqrt(1.0 / 180));
  BOOST_TEST(std::abs(lag / root) < 4.5);
  constexpr std::array<double, 5> mean = {1, 0, 1, 0, 3}, variance = {0, 1, 2, 15, 96};
  for (std::size_t k = 1; k < 5; ++k)
    BOOST_TEST(std::abs(normal[k] / root - mean[k] * root) < 4.5 * std::sqrt(variance[k]));
}

BOOST_AUTO_TEST_CASE(integers_are_unbiased_also_where_rejection_is_frequent) {
  const RandomStream stream(5, "integers");
  std::array<double, 7> count{};
  constexpr std::uint64_t n = 70000;
  for (std::uint64_t i = 0; i < n; ++i) count[stream.integer(i, 7)] += 1;
  double chi2 = 0;
  for (const double c : count) chi2 += (c - 10000) * (c - 10000) / 10000;
  BOOST_TEST(chi2 < 6 + 4.5 * std::sqrt(12.0));
  // Of 2^64 values a range of 3 * 2^62 rejects a quarter; a remainder would prefer the lower third.
  constexpr std::uint64_t wide = std::uint64_t{3} << 62;
  double lower = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto k = stream.integer(i, wide);
    BOOST_REQUIRE(k < wide);
    lower += k < wide / 3 ? 1 : 0;
  }
  BOOST_TEST(std::abs(lower - n / 3.0) < 4.5 * std::sqrt(n * 2.0 / 9));
  // A plain product would prefer the multiples of 3.
  double multiples = 0;
  for (std::uint64_t i = 0; i < n; ++i) multiples += stream.integer(i, wide) % 3 == 0 ? 1 : 0;
  BOOST_TEST(std::abs(multiples - n / 3.0) < 4.5 * std::sqrt(n * 2.0 / 9));
  BOOST_TEST(stream.integer(0, 1) == 0u);
  BOOST_CHECK_EXCEPTION(stream.integer(0, 0), InvalidArgument, [](const Error& e) { return e.value() == "0"; });
}

BOOST_AUTO_TEST_CASE(every_order_of_four_is_equally_likely) {
  std::array<double, 256> count{};
  constexpr std::uint64_t n = 24000;
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto p = RandomStream(9, "orders").child(i).permutation(4u);
    count[p[0] * 64 + p[1] * 16 + p[2] * 4 + p[3]] += 1;
  }
  double chi2 = 0;
  int orders = 0;
  for (const double c : count)
    if (c > 0) chi2 += (c - 1000) * (c - 1000) / 1000, ++orders;
  BOOST_TEST(orders == 24);
  BOOST_TEST(chi2 < 23 + 4.5 * std::sqrt(46.0));
  BOOST_TEST(RandomStream(9, "none").permutation(0).empty());
  BOOST_CHECK_THROW(RandomStream(9, "none").permutation(-1), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
