// SPDX-License-Identifier: MIT
// The program verify as a user meets it: exit status, summary.json, files, hostile input.
#include <incipit/core/json.hpp>
#include <incipit/io/text.hpp>

#include <boost/test/unit_test.hpp>

#include <support/shared_data.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace incipit;

namespace {

struct Ran {
  int status;
  std::string out, err;
};

std::filesystem::path fresh_folder(const std::string& name) {
  auto folder = std::filesystem::temp_directory_path() / ("incipit_verify_test_" + std::to_string(::getpid()) + "_" + name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

Ran run(const std::string& arguments, const std::filesystem::path& folder) {
  const auto out = folder / "stdout", err = folder / "stderr";
  const std::string command =
      "'" INCIPIT_VERIFY "' " + arguments + " > '" + out.string() + "' 2> '" + err.string() + "' < /dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, io::read_file(out), io::read_file(err)};
}

Json summary_of(const std::filesystem::path& folder) { return parse_json(io::read_file(folder / "summary.json"), "summary.json"); }

void check_claims(const Json& summary, const std::vector<std::string>& words) {
  for (const char* key : {"program", "version", "seed", "config", "wall_s", "claims"}) BOOST_CHECK(summary.contains(key));
  for (const auto& word : words) {
    bool found = false;
    for (const auto& claim : summary["claims"]) found = found || claim["name"].get<std::string>().find(word) != std::string::npos;
    BOOST_CHECK_MESSAGE(found, "no claim about " << word);
  }
  for (const auto& claim : summary["claims"]) {
    for (const char* key : {"name", "source", "kind", "expect", "predicted", "measured", "error", "bound", "holds", "pass"})
      BOOST_CHECK_MESSAGE(claim.contains(key), key << " is missing");
    BOOST_CHECK_MESSAGE(claim["pass"].get<bool>(), claim["name"].get<std::string>() << ": error " << claim["error"] << ", bound " << claim["bound"]);
  }
}

std::string write(const std::filesystem::path& folder, const std::string& text) {
  io::write_file(folder / "data.jsonl", text);
  return "'" + (folder / "data.jsonl").string() + "'";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(examples_verify)

BOOST_AUTO_TEST_CASE(fast_run_confirms_every_claim_and_leaves_its_files) {
  const auto folder = fresh_folder("fast");
  const bool all = std::getenv("INCIPIT_EVERYTHING") != nullptr;  // minutes of training: not with every change
  const Ran ran = run(std::string(all ? "--all " : "") + "--fast --out '" + folder.string() + "'", folder);
  BOOST_CHECK_EQUAL(ran.status, 0);
  BOOST_CHECK_LT(ran.out.find("Predicted before any training"), ran.out.find("verdict"));
  std::vector<std::string> words{"prop", "remainder", "quenched", "floor", "escape", "arcsine", "held-out", "memory"};
  std::vector<std::string> files{"losses.csv", "remainder.csv", "escape_1.csv", "anchor_cosines_predicted.npy", "arcsine_measured.npy", "losses.gp"};
  if (all) {
    words.insert(words.end(), {"lemma 1", "proposition 2", "proposition 3", "theorem 1", "last position"});
    files.insert(files.end(), {"transformer_losses.csv", "attention.csv", "label_groups.csv", "phase_map.csv", "first_order_errors.csv", "theorem_1.csv"});
  }
  check_claims(summary_of(folder), words);
  for (const auto& file : files) BOOST_CHECK_MESSAGE(std::filesystem::file_size(folder / file) > 0, file);
  BOOST_CHECK_MESSAGE(ran.err.empty(), ran.err);  // standard error is no terminal: no progress bar
}

BOOST_AUTO_TEST_CASE(real_text_confirms_every_claim) {
  if (test::skip_without("tinyshakespeare/input.txt")) return;
  const auto folder = fresh_folder("text");
  const auto text = test::shared_file("tinyshakespeare/input.txt")->string();
  const Ran ran = run("--fast --text '" + text + "' --context 3 --out '" + folder.string() + "'", folder);
  BOOST_CHECK_EQUAL(ran.status, 0);
  check_claims(summary_of(folder), {"prop", "remainder", "floor", "escape", "arcsine"});
}

BOOST_AUTO_TEST_CASE(input_that_is_none_is_refused_with_its_place) {
  const auto folder = fresh_folder("hostile");
  const auto refused = [&](const std::string& arguments, const std::string& word) {
    const Ran ran = run("--fast --out '" + folder.string() + "' " + arguments, folder);
    BOOST_CHECK_EQUAL(ran.status, 2);
    BOOST_CHECK_MESSAGE(ran.err.find(word) != std::string::npos, arguments << ": " << ran.err);
  };
  refused("--data /nowhere.jsonl", "/nowhere.jsonl");
  refused("--text /nowhere.txt", "/nowhere.txt");
  refused("--data " + write(folder, ""), "data.jsonl");
  refused("--data " + write(folder, "{\"tokens\": [1, 2], \"label\": 0}\n{\"tokens\": [1], \"label\": 0}\n"), "2");
  refused("--data " + write(folder, "{\"tokens\": [1, -2], \"label\": 0}\n"), "1");
  refused("--data " + write(folder, "{\"tokens\": [1, 2]}\n"), "label");
  refused("--data " + write(folder, "{\"tokens\": [0, 1], \"label\": 0}\n{\"tokens\": [0, 1], \"label\": 1}\n"), "label");
  refused("--data ''", "--data");
  refused("--text '" + folder.string() + "'", "--text");
  refused("--text '" + (folder / "data.jsonl").string() + "' --limit 1e3", "--limit");
  refused("--threads -1", "--threads");
  refused("--seed x", "--seed");
  refused("--context 3", "--text");
  refused("--fast --paper", "--paper");
  refused("--all --data " + write(folder, "{\"tokens\": [1, 2], \"label\": 0}\n"), "--all");
  refused("--unknown", "--unknown");
}

BOOST_AUTO_TEST_CASE(a_single_telling_token_leaves_nothing_to_compare) {
  const auto folder = fresh_folder("single");
  const auto data = write(folder, "{\"tokens\": [1, 1], \"label\": 0}\n{\"tokens\": [1, 1], \"label\": 1}\n"
                                  "{\"tokens\": [1, 1], \"label\": 1}\n{\"tokens\": [1, 1], \"label\": 2}\n");
  const Ran ran = run("--fast --out '" + folder.string() + "' --data " + data, folder);
  BOOST_CHECK(ran.status == 0 || ran.status == 1);
  BOOST_CHECK(ran.out.find("fewer than two tokens") != std::string::npos);
  for (const auto& claim : summary_of(folder)["claims"])
    BOOST_CHECK(claim["name"].get<std::string>().find("arcsine") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
