// SPDX-License-Identifier: MIT
#include "../../examples/common/report.hpp"

#include <boost/test/unit_test.hpp>
#include <limits>
#include <sstream>

namespace fs = std::filesystem;
using namespace incipit;
using examples::Options;

namespace {

struct Folder {
  Folder() : path(fs::temp_directory_path() / "incipit example's \"out\" $HOME") { fs::remove_all(path); }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;

  /// Parses these arguments; the status, or -1 for "go on".
  int parse(std::vector<const char*> arguments, const examples::Extra& extra = {}) {
    arguments.insert(arguments.begin(), "demo");
    const std::string folder = path.string();
    if (!own_out) arguments.insert(arguments.end(), {"--out", folder.c_str()});
    out.str("");
    err.str("");
    const auto status = examples::try_parse(static_cast<int>(arguments.size()), arguments.data(), "demo",
                                            "Shows things", options, out, err, extra);
    return status.value_or(-1);
  }
  bool own_out = false;
  Options options;
  std::ostringstream out, err;
};

compare::Claim claim(double measured, compare::Expect expect = compare::Expect::holds) {
  return compare::claim_relative("prop 1", "A, Prop. 1", compare::Kind::published, expect, 1, measured, 0.1);
}

examples::Figure figure() {
  examples::Figure f{"a 'title' with \"quotes\" and $HOME", {"step"}, {"loss", true}};
  f.series.push_back({"it's", {1, 2, 3}, {1, std::numeric_limits<double>::quiet_NaN(), 3}});
  f.levels.push_back({"floor", 2});
  return f;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(examples_common, Folder)

BOOST_AUTO_TEST_CASE(command_line_fills_the_options_and_makes_the_folder) {
  int width = 0;
  const auto extra = [&](CLI::App& app) { app.add_option("--width", width, "Width")->check(CLI::PositiveNumber); };
  BOOST_TEST(parse({"--seed", "18446744073709551615", "--threads=3", "--fast", "--width", "64"}, extra) == -1);
  BOOST_TEST(options.seed == 18446744073709551615U);
  BOOST_TEST(options.threads == 3);
  BOOST_TEST((options.preset == examples::Preset::fast));
  BOOST_TEST(options.out.string() == path.string());
  BOOST_TEST(width == 64);
  BOOST_TEST(fs::is_directory(path));
  BOOST_TEST(fs::is_empty(path));
  BOOST_TEST(err.str().empty());
}

BOOST_AUTO_TEST_CASE(help_and_version_succeed) {
  BOOST_TEST(parse({"--help"}) == 0);
  for (const char* option : {"--seed", "--out", "--threads", "--fast", "--paper"})
    BOOST_TEST(out.str().find(option) != std::string::npos);
  BOOST_TEST(parse({"--version"}) == 0);
  BOOST_TEST(out.str() == std::string(INCIPIT_VERSION) + "\n");
}

BOOST_AUTO_TEST_CASE(bad_usage_gives_two_and_a_message) {
  for (const std::vector<const char*>& bad : {std::vector<const char*>{"--bogus"},
                                              {"stray"},
                                              {"--threads", "-2"},
                                              {"--threads", "0"},
                                              {"--threads", "many"},
                                              {"--threads", "1.5"},
                                              {"--threads", "010"},
                                              {"--threads", "0x2"},
                                              {"--seed", "-1"},
                                              {"--seed", "x"},
                                              {"--seed", "18446744073709551616"},
                                              {"--seed", ""},
                                              {"--seed"},
                                              {"--fast", "--paper"}}) {
    BOOST_TEST(parse(bad) == 2);
    BOOST_TEST(!err.str().empty());
    BOOST_TEST(!fs::exists(path));
  }
}

BOOST_AUTO_TEST_CASE(folder_that_cannot_be_written_gives_two_and_its_name) {
  own_out = true;
  BOOST_TEST(parse({"--out", "/dev/null"}) == 2);
  BOOST_TEST(err.str().find("/dev/null") != std::string::npos);
  BOOST_TEST(parse({"--out", "/dev/null/inside"}) == 2);
  BOOST_TEST(parse({"--out", ""}) == 2);
}

BOOST_AUTO_TEST_CASE(report_writes_summary_data_and_exit_status) {
  BOOST_TEST_REQUIRE(parse({"--seed", "9", "--threads", "1"}) == -1);
  examples::Report report(options, "demo", out, err);
  report.config("width", 64);
  report.config("ratio", std::numeric_limits<double>::infinity());
  BOOST_TEST(report.claim(claim(1.01)).holds);
  report.claim(claim(2, compare::Expect::fails));
  report.array("matrix", Mat<double>(Mat<double>::Ones(2, 2)));
  io::CsvTable table({"step"});
  table.add(1);
  report.table("steps", table);
  BOOST_TEST(report.finish() == 0);
  BOOST_TEST(out.str().find("2 of 2 claims as expected") != std::string::npos);
  const Json json = parse_json(io::read_file(path / "summary.json"), "summary.json");
  BOOST_TEST(json["program"].get<std::string>() == "demo");
  BOOST_TEST(json["seed"].get<int>() == 9);
  BOOST_TEST(json["config"]["preset"].get<std::string>() == "standard");
  BOOST_TEST(json["config"]["threads"].get<int>() == 1);
  BOOST_TEST(json["config"]["width"].get<int>() == 64);
  BOOST_TEST(json["config"]["ratio"].is_null());
  BOOST_TEST(json["wall_s"].get<double>() >= 0);
  BOOST_TEST(json["claims"].size() == 2U);
  BOOST_TEST(io::load_npy<double>(path / "matrix.npy").values.size() == 4U);
  BOOST_TEST(io::read_file(path / "steps.csv") == "step\r\n1\r\n");
  report.claim(claim(2));
  BOOST_TEST(report.finish() == 1);
}

BOOST_AUTO_TEST_CASE(missing_gnuplot_is_told_once_and_leaves_script_and_data) {
  BOOST_TEST_REQUIRE(parse({}) == -1);
  examples::Report report(options, "demo", out, err);
  report.gnuplot = "no-such-program-anywhere";
  report.plot("loss", figure());
  const std::string note = err.str();
  BOOST_TEST(note.find("gnuplot") != std::string::npos);
  report.plot("maps", examples::HeatMaps{"t", "anchor", {{"one", Mat<double>::Identity(3, 3)}}});
  BOOST_TEST(err.str() == note);
  for (const char* file : {"loss.gp", "loss.dat", "maps.gp", "maps.dat"}) BOOST_TEST(fs::exists(path / file));
  BOOST_TEST(report.finish() == 0);
}

BOOST_AUTO_TEST_CASE(failing_gnuplot_is_told_and_never_fails_the_run) {
  BOOST_TEST_REQUIRE(parse({}) == -1);
  examples::Report report(options, "demo", out, err);
  report.gnuplot = "false";
  report.plot("loss", figure());
  BOOST_TEST(err.str().find("could not draw loss") != std::string::npos);
  report.gnuplot = "true";
  err.str("");
  report.plot("loss", figure());
  BOOST_TEST(err.str().empty());
  BOOST_TEST(report.finish() == 0);
}

BOOST_AUTO_TEST_CASE(pictures_are_drawn_in_a_folder_with_any_name) {
  const auto probe = examples::run_gnuplot(fs::temp_directory_path(), "--version");
  if (!probe.started) {
    BOOST_TEST_MESSAGE("no gnuplot here: nothing to draw with");
    return;
  }
  BOOST_TEST_REQUIRE(parse({}) == -1);
  examples::Report report(options, "demo", out, err);
  report.plot("loss", figure());
  examples::HeatMaps maps{
      "cosines", "anchor", {{"measured", Mat<double>::Identity(3, 3)}, {"predicted", Mat<double>::Ones(2, 4)}}};
  report.plot("maps", maps);
  maps.low = 0.5;
  report.plot("narrow", maps);
  BOOST_TEST(err.str() == "");
  for (const std::string stem : {"loss", "maps", "narrow"}) {
    BOOST_TEST(io::read_file(path / (stem + ".png")).substr(1, 3) == "PNG");
    BOOST_TEST(io::read_file(path / (stem + ".svg")).find("</svg>") != std::string::npos);
  }
  BOOST_TEST(io::read_file(path / "loss.svg").find("it's") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(plots_with_bad_names_or_lengths_are_refused) {
  for (const char* stem : {"", "a b", "../x", "x.y", "-x", "a'b"})
    BOOST_CHECK_THROW(examples::plot_files(stem, figure()), InvalidArgument);
  examples::Figure f = figure();
  f.series[0].y.pop_back();
  BOOST_CHECK_THROW(examples::plot_files("x", f), ShapeError);
  f = figure();
  f.series[0].low = {0, 0};
  BOOST_CHECK_THROW(examples::plot_files("x", f), ShapeError);
  examples::HeatMaps maps{"t", "l"};
  maps.low = maps.high;
  BOOST_CHECK_THROW(examples::plot_files("x", maps), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(scripts_hold_text_as_literals_and_skip_what_is_not_a_number) {
  examples::Figure f = figure();
  f.levels.push_back({"nowhere", std::numeric_limits<double>::quiet_NaN()});
  f.series.push_back({"empty", {}, {}});
  const auto files = examples::plot_files("loss", f);
  BOOST_TEST(files.script.find("title 'it''s'") != std::string::npos);
  BOOST_TEST(files.script.find("'a ''title'' with \"quotes\" and $HOME'") != std::string::npos);
  BOOST_TEST(files.script.find("nowhere") == std::string::npos);
  BOOST_TEST(files.script.find("empty") == std::string::npos);
  BOOST_TEST(files.data.find(" NaN\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(exceptions_end_a_program_with_status_two) {
  BOOST_TEST(examples::guarded("demo", [] { return 1; }) == 1);
  BOOST_TEST(examples::guarded("demo", []() -> int { throw IoError("f", "nothing", "something"); }) == 2);
}

BOOST_AUTO_TEST_SUITE_END()
