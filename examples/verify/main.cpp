// SPDX-License-Identifier: MIT
// verify: says in closed form how Emb-MLP begins to learn, then trains it and compares.
//
// Model       Emb-MLP, G(X) = act((sum of embeddings) W_1) W_2, weights drawn with standard deviation d_in^-gamma.
// Quantities  velocities at initialization (Proposition 1 and companions, remainder law), steps at which the plateau is left
//             (three-layer flow), directions of Adam's first moves (arcsine law), cosines of memory anchors (quenched law), the
//             floor of the memory task, and the order in which memory and reasoning are learned.
// Source      paper A, Definition 1, Proposition 1, A.1-A.8, and results of this library (docs/derivations).
//
// Without data options it runs on the composite anchor task of the paper; --data and --text run the same check on the user's.
#include "parts.hpp"

#include "../common/run.hpp"
#include "../studies/first_steps.hpp"
#include "../studies/label_distribution.hpp"
#include "../studies/phase_map.hpp"
#include "../studies/statements.hpp"
#include "../studies/studies.hpp"

#include <incipit/data/text.hpp>
#include <incipit/io/jsonl_examples.hpp>

namespace {

using namespace verify;

struct DataOptions {
  std::string jsonl, text;
  Extent context = 3, limit = 200000;
};

Subject subject_of(const DataOptions& data, std::uint64_t seed) {
  if (!data.jsonl.empty()) return Subject(data.jsonl, io::read_jsonl_examples(data.jsonl));
  if (!data.text.empty()) {
    auto text = data::read_text_examples(data.text, data.context, data.limit);
    return Subject(data.text + ", " + std::to_string(data.context) + " characters predict the next", std::move(text.examples));
  }
  return anchor_subject(seed);
}

/// Gradient descent that takes the pace of the data: step 2 at gamma 0.8 for the anchor data, in proportion elsewhere.
std::vector<EscapeSetting> escape_settings(const Subject& subject, std::uint64_t seed) {
  if (subject.anchors) return {{0.8, StepSize{2.0}}, {1.0, StepSize{4.0}}};
  const double unit = 2.0 * 0.0216 / subject.top_singular_value;  // 0.0216: that of the anchor data
  return {paced(subject, {0.8, StepSize{unit}}, seed), paced(subject, {1.0, StepSize{2 * unit}}, seed)};
}

std::vector<Part> parts_of(const Subject& subject, const Scale& scale, std::uint64_t seed) {
  const auto settings = escape_settings(subject, seed);
  std::vector<Part> parts;
  parts.push_back(first_order(subject, scale, seed));
  if (subject.anchors) {
    parts.push_back(quenched(subject, seed));
    parts.push_back(memory_floor(subject, scale, seed));
  }
  for (std::size_t i = 0; i < settings.size(); ++i)
    parts.push_back(escape(subject, settings[i], "escape_" + std::to_string(i + 1), seed));
  parts.push_back(step_size_law(subject, settings[0], seed));
  parts.push_back(arcsine(subject, scale, seed));
  parts.push_back(subject.anchors ? anchor_training(subject, scale, seed) : plain_training(subject, scale, seed));
  return parts;
}

/// Every study of transformers, for --all.
struct Transformers {
  studies::AnchorRuns runs;
  studies::LabelRuns labels;
  studies::PhaseMap map;
  studies::StatementRuns statements;

  explicit Transformers(const Options& options)
      : runs(studies::RunScale::of(options.preset), options.seed),
        labels(studies::RunScale::of(options.preset), options.seed),
        map(options.preset, options.seed),
        statements(runs, options.seed) {}
  std::vector<Part> parts() {
    std::vector<Part> all;
    for (auto some : {runs.parts(), labels.parts(), map.parts(), statements.parts()}) all.insert(all.end(), some.begin(), some.end());
    return all;
  }
  std::vector<Outcome> conclusions() const {
    auto all = studies::conclusions(runs);
    all.push_back(studies::label_distribution(labels, runs.transformers[0][2]));
    all.push_back(map.conclude());
    all.push_back(statements.conclude());
    return all;
  }
};

}  // namespace

int main(int argc, char** argv) {
  DataOptions data;
  bool all = false;
  const auto options = examples::parse(
      argc, argv, "verify", "Predicts in closed form how Emb-MLP begins to learn, trains it, and compares.", [&](CLI::App& app) {
        auto* jsonl = app.add_option("--data", data.jsonl, "JSON lines {\"tokens\": [...], \"label\": k} instead of the anchor task")->check(CLI::ExistingFile);
        auto* text = app.add_option("--text", data.text, "Text file: K characters predict the next")->excludes(jsonl)->check(CLI::ExistingFile);
        app.add_flag("--all", all, "Transformers too: every study of the anchor task, in one table")->excludes(jsonl)->excludes(text);
        app.add_option("--context", data.context, "K for --text")->needs(text)->capture_default_str()->check(examples::whole_number(1, 64));
        app.add_option("--limit", data.limit, "Bytes read of --text; 0: all")->needs(text)->capture_default_str()->check(examples::whole_number(0, 1 << 30));
      });
  return examples::guarded("verify", [&] {
    examples::Report report(options, "verify");
    const Scale scale = Scale::of(options.preset);
    const Subject subject = subject_of(data, options.seed);
    report.config("data", subject.name);
    report.config("examples", subject.train.size());
    report.config("vocab", subject.vocab());
    std::vector<Part> parts = parts_of(subject, scale, options.seed);
    std::optional<Transformers> transformers;
    if (all) {
      for (auto& part : studies::first_steps(options.preset, options.seed)) parts.push_back(std::move(part));
      transformers.emplace(options);
      for (auto& part : transformers->parts()) parts.push_back(std::move(part));
    }
    std::cout << "Subject: " << subject.name << ": " << subject.train.size() << " examples of " << subject.train.length()
              << " tokens, D = " << subject.vocab() << '\n';
    print_predictions(parts);
    deliver(report, run_parts("verify", parts, options.threads));
    if (transformers) deliver(report, transformers->conclusions());
    return report.finish();
  });
}
