// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/init/report.hpp>

#include <bit>

using namespace incipit;

namespace {
/// Two weights and, if asked for, one between them.
template <class T>
struct Bundle {
  using Scalar = T;
  Slot<T> first{nullptr, 161, 64}, between{nullptr, 0, 0}, last{nullptr, 64, 100};

  Bundle() = default;
  explicit Bundle(Extent extra) : between(nullptr, extra, extra) {}
  void for_each_parameter(auto&& visit) { each(*this, visit); }
  void for_each_parameter(auto&& visit) const { each(*this, visit); }

 private:
  static void each(auto& self, auto&& visit) {
    visit("first.weight", self.first);
    if (self.between.size() > 0) visit("between.weight", self.between);
    visit("last.weight", self.last);
  }
};

std::uint64_t hash_of(const Mat<double>& w) {
  std::uint64_t hash = 0;
  for (Extent i = 0; i < w.size(); ++i) hash = hash * 31 + std::bit_cast<std::uint64_t>(w.data()[i]);
  return hash;
}
}  // namespace

BOOST_AUTO_TEST_SUITE(init_initialize)

BOOST_AUTO_TEST_CASE(a_4_by_4_layer_of_seed_42_has_golden_bits_u31) {
  Mat<double> w(4, 4);
  const RandomStream stream(42, "golden");
  init::fill(w, init::Gamma{0.5}, stream);
  constexpr std::array<std::uint64_t, 16> golden = {
      0x3fd3503c9b0a1e3b, 0x3fd8e767996e4f5f, 0xbfcd24c18e5a2ca8, 0x3fecb73ec81abeab,
      0x3fe2320fb9b292c1, 0x3fc437fa94465e14, 0xbfe81a67ff49cbe6, 0x3fe54ae5bd2d6d9f,
      0xbfd2db8b0ab7e69e, 0x3fdbe3c2973b8ff5, 0xbf8b5fad755dc3ec, 0x3fe3e2e2e16bf3b5,
      0x3fc35e3a49931bbc, 0xbfc2a38200f7da99, 0xbfe41b7ec5a0ba07, 0xbfb5deb471d293c4};
  for (std::size_t i = 0; i < 16; ++i) BOOST_TEST(std::bit_cast<std::uint64_t>(w.data()[i]) == golden[i]);
  init::fill(w, init::Gamma{0.8}, stream);
  BOOST_TEST(hash_of(w) == 8561148729854791667u);
  init::fill(w, init::Orthogonal{}, stream);
  BOOST_TEST(hash_of(w) == 1770385128663111341u);
  init::fill(w, init::TruncatedNormal{0.02, 2}, stream);
  BOOST_TEST(hash_of(w) == 7983147812948706732u);
  init::fill(w, init::GlorotUniform{}, stream);
  BOOST_TEST(hash_of(w) == 5981545116419707884u);
  Mat<double> tall(50, 20);
  init::fill(tall, init::Orthogonal{2}, stream);
  BOOST_TEST(hash_of(tall) == 17057133116581863802u);
}

BOOST_AUTO_TEST_CASE(fan_in_is_the_contracted_size_whatever_the_storage_u33) {
  const RandomStream stream(1, "linear");
  Mat<double> w(256, 16), stored_transposed(16, 256);
  init::fill(w, init::Gamma{0.5}, stream);
  init::fill(stored_transposed.transpose(), init::Gamma{0.5}, stream);
  BOOST_TEST((stored_transposed.transpose() == w));
  BOOST_TEST(std::sqrt(w.squaredNorm() / 4096) == 0.0625, boost::test_tools::tolerance(4.5 / std::sqrt(2 * 4096.0)));
  init::fill(stored_transposed.transpose(), init::Orthogonal{}, stream);
  init::fill(w, init::Orthogonal{}, stream);
  BOOST_TEST((stored_transposed.transpose() == w));
}

BOOST_AUTO_TEST_CASE(float_and_double_models_start_from_the_same_numbers) {
  Owned<Bundle<double>> wide;
  Owned<Bundle<float>> narrow;
  init::initialize(wide, init::Gamma{0.8}, 5);
  init::initialize(narrow, init::Gamma{0.8}, 5);
  BOOST_TEST((wide.flat().cast<float>() == narrow.flat()));
}

BOOST_AUTO_TEST_CASE(another_layer_changes_nothing_in_the_others) {
  Owned<Bundle<double>> without, with(Extent{7});
  init::initialize(without, init::LeCun{}, 5);
  init::initialize(with, init::LeCun{}, 5);
  BOOST_TEST((without.first == with.first));
  BOOST_TEST((without.last == with.last));
  BOOST_TEST(with.between.norm() > 0);
  Owned<Bundle<double>> other;
  init::initialize(other, init::LeCun{}, 6);
  BOOST_TEST((other.first.array() == without.first.array()).count() == 0);
  BOOST_TEST(without.first(0, 0) * std::sqrt(161) != without.last(0, 0) * 8);
  Mat<double> alone(64, 100);
  init::fill(alone, init::LeCun{}, RandomStream(5, "last.weight"));
  BOOST_TEST((alone == without.last));
}

BOOST_AUTO_TEST_CASE(schemes_can_be_chosen_by_parameter) {
  const auto choose = [](std::string_view name, init::Fan fan) -> init::AnyScheme {
    if (name == "last.weight") return init::Gpt2Residual{0.02, 12};
    if (fan.in == fan.out) return init::Constant{1};
    return init::Orthogonal{};
  };
  Owned<Bundle<float>> bundle(Extent{3});
  init::initialize(bundle, choose, 9);
  BOOST_TEST((bundle.between == Mat<float>::Ones(3, 3)));
  BOOST_TEST((bundle.first.transpose() * bundle.first - Mat<float>::Identity(64, 64)).cwiseAbs().maxCoeff() < 1e-5f);
  Mat<float> last(64, 100);
  init::fill(last, init::Normal{0.02 / std::sqrt(24.0)}, RandomStream(9, "last.weight"));
  BOOST_TEST((last == bundle.last));
  for (const auto& row : init::report(bundle, choose).rows) BOOST_TEST(std::abs(row.deviation()) < 4.5);
  Owned<Bundle<float>> same(Extent{3});
  init::initialize(same, init::AnyScheme(init::He{}), 9);
  init::initialize(bundle, init::He{}, 9);
  BOOST_TEST((same.flat() == bundle.flat()));
}

BOOST_AUTO_TEST_CASE(the_report_compares_asked_and_sampled_moments) {
  Owned<Bundle<float>> bundle;
  const init::Gamma scheme{0.8};
  init::initialize(bundle, scheme, 3);
  const init::Report report = init::report(bundle, scheme);
  BOOST_TEST_REQUIRE(report.rows.size() == 2u);
  const auto& row = report.rows[0];
  BOOST_TEST(row.name == "first.weight");
  BOOST_TEST((row.rows == 161 && row.cols == 64));
  BOOST_TEST(row.asked.std() == exact::pow(161, -0.8));
  BOOST_TEST(row.std_error == row.asked.std() / std::sqrt(2.0 * 161 * 64), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(std::abs(row.deviation()) < 4.5);
  BOOST_TEST(std::abs(row.mean) < 4.5 * row.mean_error);
  std::ostringstream text;
  text << report;
  const std::string table = text.str();
  BOOST_TEST(table.find("first.weight     (161, 64)") != std::string::npos);
  BOOST_TEST(std::count(table.begin(), table.end(), '\n') == 3);
  bundle.first *= 1.1f;
  BOOST_TEST(init::report(bundle, scheme).rows[0].deviation() > 10);
  bundle.last.setZero();
  BOOST_TEST(init::report(bundle, init::Constant{0}).rows[1].deviation() == 0);
  BOOST_TEST(std::isinf(init::report(bundle, init::Constant{0}).rows[0].deviation()));
}

BOOST_AUTO_TEST_SUITE_END()
