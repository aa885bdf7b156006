// SPDX-License-Identifier: MIT
#include <incipit/compare/run.hpp>
#include <incipit/compare/summary.hpp>
#include <incipit/compare/table.hpp>

#include <boost/test/unit_test.hpp>
#include <limits>
#include <sstream>

using namespace incipit;
using namespace incipit::compare;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

Claim relative(Expect expect, double predicted, double measured, double bound = 0.1) {
  return claim_relative("c", "ours", Kind::ours, expect, predicted, measured, bound);
}

theory::Assumption ratio(double value) { return {"small initialization", value, 0.5}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(compare_claim)

BOOST_AUTO_TEST_CASE(verdict_follows_error_and_bound) {
  const Claim good = relative(Expect::holds, -2, -2.1);
  BOOST_TEST(std::abs(good.error - 0.05) < 1e-15);
  BOOST_TEST(good.holds);
  BOOST_TEST(good.pass());
  const Claim bad = relative(Expect::holds, -2, -2.3);
  BOOST_TEST(!bad.holds);
  BOOST_TEST(!bad.pass());
  const Claim absolute = claim_absolute("c", "ours", Kind::ours, Expect::holds, -2, -2.3, 0.31);
  BOOST_TEST(std::abs(absolute.error - 0.3) < 1e-15);
  BOOST_TEST(absolute.pass());
  BOOST_TEST(claim_absolute("c", "", Kind::ours, Expect::holds, 1, 1.5, 0.5).holds);
}

BOOST_AUTO_TEST_CASE(what_is_expected_to_fail_passes_only_by_failing) {
  BOOST_TEST(relative(Expect::fails, 1, 2).pass());
  BOOST_TEST(!relative(Expect::fails, 1, 1.01).pass());
  BOOST_TEST(relative(Expect::report, 1, 2).pass());
  BOOST_TEST(relative(Expect::report, 1, not_a_number).pass());
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite_never_hold_and_prove_no_failure) {
  for (const auto& [predicted, measured] :
       {std::pair{not_a_number, 1.0}, {1.0, not_a_number}, {inf, 1.0}, {1.0, -inf}, {inf, inf}})
    for (const Expect expect : {Expect::holds, Expect::fails})
      for (const Claim& c : {relative(expect, predicted, measured), relative(expect, predicted, measured, inf),
                             claim_absolute("c", "", Kind::ours, expect, predicted, measured, inf),
                             claim_at_most("c", "", Kind::ours, expect, predicted, measured),
                             claim_at_least("c", "", Kind::ours, expect, predicted, measured)}) {
        BOOST_TEST(!c.holds);
        BOOST_TEST(!c.pass());
        BOOST_TEST(verdict(c) == "NOT A NUMBER");
      }
  for (const Expect expect : {Expect::holds, Expect::fails})
    BOOST_TEST(!relative(expect, 1, 1.01, not_a_number).pass());
}

BOOST_AUTO_TEST_CASE(relative_error_of_a_zero_prediction_is_zero_or_infinite) {
  BOOST_TEST(relative(Expect::holds, 0, 0).holds);
  BOOST_TEST(!relative(Expect::holds, 0, 1e-300).holds);
  BOOST_TEST(!relative(Expect::holds, 0, 1e-300, inf).holds);
}

BOOST_AUTO_TEST_CASE(limits_hold_on_their_side_and_measure_the_excess) {
  BOOST_TEST(claim_at_most("c", "", Kind::observation, Expect::holds, 0.3, 0.3).pass());
  BOOST_TEST(claim_at_least("c", "", Kind::observation, Expect::holds, 0.3, 0.3).pass());
  const Claim over = claim_at_most("c", "", Kind::observation, Expect::holds, 0.3, 0.5);
  BOOST_TEST(!over.pass());
  BOOST_TEST(std::abs(over.error - 0.2) < 1e-15);
  const Claim under = claim_at_least("c", "", Kind::observation, Expect::holds, 0.3, 0.1);
  BOOST_TEST(!under.pass());
  BOOST_TEST(std::abs(under.error - 0.2) < 1e-15);
}

BOOST_AUTO_TEST_CASE(summary_has_the_agreed_keys_and_null_for_what_json_cannot_say) {
  Summary summary{"verify", 18446744073709551615U, Json{{"preset", "fast"}}, 1.5, {}};
  summary.claims.push_back(claim_relative("prop 1", "A, eq. 3", Kind::published, Expect::fails, 1, 2, 0.1));
  BOOST_TEST(summary.pass());
  summary.claims.push_back(report_only("remainder", "ours", Kind::observation, inf, not_a_number));
  BOOST_TEST(summary.pass());
  summary.claims.push_back(relative(Expect::holds, 1, not_a_number));
  BOOST_TEST(!summary.pass());
  const Json json = parse_json(json_text(summary.json()), "summary");
  std::string keys, claim_keys;
  for (const auto& [key, value] : json.items()) keys += key + ' ';
  BOOST_TEST(keys == "program version seed config wall_s claims ");
  for (const auto& [key, value] : json["claims"][0].items()) claim_keys += key + ' ';
  BOOST_TEST(claim_keys == "name source kind expect predicted measured error bound holds pass ");
  BOOST_TEST(json["seed"].get<std::uint64_t>() == 18446744073709551615U);
  BOOST_TEST(json["version"].get<std::string>() == INCIPIT_VERSION);
  BOOST_TEST(json["claims"][0]["kind"].get<std::string>() == "published");
  BOOST_TEST(json["claims"][0]["expect"].get<std::string>() == "fails");
  BOOST_TEST(!json["claims"][0]["holds"].get<bool>());
  BOOST_TEST(json["claims"][0]["pass"].get<bool>());
  BOOST_TEST(json["claims"][0]["measured"].get<double>() == 2.0);
  for (const char* key : {"predicted", "measured", "error", "bound"}) BOOST_TEST(json["claims"][1][key].is_null());
  BOOST_TEST(json["claims"][2]["measured"].is_null());
  BOOST_TEST(!json["claims"][2]["pass"].get<bool>());
}

BOOST_AUTO_TEST_CASE(json_numbers_round_trip_and_bad_text_is_refused_with_its_name) {
  for (const double x : {0.1, 1e-300, -1.7976931348623157e308, 5e-324})
    BOOST_TEST(parse_json(json_text(json_number(x)), "x").get<double>() == x);
  BOOST_TEST(json_text(Json("\xff"), -1) == "\"\xEF\xBF\xBD\"");
  for (const std::string& bad :
       {std::string("{"), std::string("1 2"), std::string(""), std::string("[1,]"), std::string("nan"),
        std::string(129, '[') + std::string(129, ']'), std::string(1000000, '[')})
    BOOST_CHECK_EXCEPTION(parse_json(bad, "f.json"), IoError,
                          [](const IoError& e) { return e.argument() == "f.json"; });
  BOOST_TEST(parse_json(std::string(128, '[') + std::string(128, ']'), "deep").is_array());
  BOOST_TEST(parse_json("\"" + std::string(500, '[') + "\\\"[\"", "string").get<std::string>().size() == 502U);
}

BOOST_AUTO_TEST_CASE(table_aligns_long_names_unicode_and_numbers_that_are_not_finite) {
  std::vector<Claim> claims{relative(Expect::holds, 1, 1.001), relative(Expect::fails, 1, not_a_number)};
  claims[0].name = "\xCE\xB3 = 0.8";
  claims[1].name = "a name of many words that goes on and on and on, far beyond what one line of a table can hold";
  claims[1].measured = -inf;
  std::ostringstream out;
  print_claims(out, claims);
  std::vector<std::string> lines;
  std::istringstream in(out.str());
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  BOOST_TEST_REQUIRE(lines.size() == 5U);
  const std::size_t verdict_at = lines[0].find("verdict");
  BOOST_TEST(lines[2].find("holds") == verdict_at + 1);  // gamma takes two bytes and one column
  BOOST_TEST(lines[3].find("NOT A NUMBER") == verdict_at);
  BOOST_TEST(lines[3].find("-inf") != std::string::npos);
  BOOST_TEST(lines[4].rfind("  ", 0) == 0U);
  for (const std::string& line : lines) BOOST_TEST(display_width(line) < 140U);
  TextTable table({{"a"}, {"b"}});
  BOOST_CHECK_THROW(table.add({"1"}), ShapeError);
}

BOOST_AUTO_TEST_CASE(run_names_the_assumption_that_broke_before_the_bound) {
  Run run("loss");
  run.add(0, 1, 1, 0.01, {ratio(0.1)});
  run.add(20, 1, 1.005, 0.01, {ratio(0.2)});
  BOOST_TEST(!run.first_failure().has_value());
  BOOST_TEST(run.explain() == "loss: within the bound at every step");
  run.add(37, 1, 1.008, 0.01, {ratio(0.75)});
  run.add(50, 1, 1.5, 0.01, {ratio(0.875)});
  BOOST_TEST(run.first_failure().value() == 50);
  BOOST_TEST(run.first_breach().value().step == 37);
  BOOST_TEST(run.explain() ==
             "loss: bound broken at step 50; assumption 'small initialization' broke at step 37: 0.75 > 0.5");
  BOOST_TEST(std::abs(run.largest_error() - 0.005) < 1e-15);
  BOOST_TEST(std::abs(run.largest_error(false) - 0.5) < 1e-15);
  std::ostringstream out;
  run.print(out, 2);
  BOOST_TEST(out.str().find("small initialization") != std::string::npos);
  BOOST_TEST(out.str().find("FAILS") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(run_says_when_no_assumption_explains_a_failure) {
  Run run("x");
  run.add(1, 1, not_a_number, 0.5, {ratio(0.1)});
  run.add(2, 1, 1, 0.5, {ratio(not_a_number)});
  BOOST_TEST(run.first_failure().value() == 1);
  BOOST_TEST(run.first_breach().value().step == 2);
  BOOST_TEST(run.explain().find("with every assumption intact") != std::string::npos);
  BOOST_TEST(std::isnan(run.largest_error()));
  BOOST_CHECK_THROW(run.add(2, 1, 1, 0.5), InvalidArgument);
  BOOST_CHECK_THROW(run.add(3, 1, 1, -1), InvalidArgument);
  BOOST_CHECK_THROW(run.add(3, 1, 1, not_a_number), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
