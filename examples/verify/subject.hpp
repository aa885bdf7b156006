// SPDX-License-Identifier: MIT
// What is verified: a set of examples with its counted statistics, and for the anchor task what is known beyond them.
#pragma once

#include <incipit/data/anchor_set.hpp>
#include <incipit/data/statistics.hpp>
#include <incipit/init/initialize.hpp>
#include <incipit/measure/cosine.hpp>
#include <incipit/model/emb_mlp.hpp>
#include <incipit/theory/proposition_1.hpp>
#include <incipit/theory/remainder_law.hpp>
#include <incipit/train/trainer.hpp>

#include "../common/preset.hpp"
#include "../common/plot.hpp"

#include <incipit/compare/claim.hpp>
#include <incipit/compare/table.hpp>
#include <incipit/io/csv.hpp>

#include <functional>
#include <optional>
#include <variant>

namespace verify {

using namespace incipit;
using compare::Claim;
using compare::Expect;
using compare::Kind;
using theory::LayerMatrices;

/// The anchor task behind a subject, with its one drawn mapping.
struct AnchorTruth {
  data::AnchorTask task;
  data::MemoryMap mapping;
  data::Dataset set;
};

/// The data that theory and training share, and nothing else.
struct Subject {
  std::string name;
  data::Examples train;
  data::TokenStatistics statistics;          // counted on `train`
  theory::RemainderStatistics remainder;     // counted on `train`
  train::FullBatch<double> batch;            // `train`, identical inputs merged
  std::vector<Id> compared;                  // tokens whose directions are compared: all anchors, or all that occur
  double top_singular_value;                 // of C: sets the pace of the escape
  std::optional<AnchorTruth> anchors{};

  Subject(std::string label, data::Examples examples);
  Extent vocab() const { return train.vocab; }
  /// Rows of a (D, x) matrix for the compared tokens.
  Mat<double> rows(const Mat<double>& of, const std::vector<Id>& tokens) const {
    Mat<double> out(static_cast<Extent>(tokens.size()), of.cols());
    for (std::size_t i = 0; i < tokens.size(); ++i) out.row(static_cast<Extent>(i)) = of.row(tokens[i]);
    return out;
  }
};

/// The anchor population of the paper, memory labels drawn once from the seed.
Subject anchor_subject(std::uint64_t seed);

/// The sizes of a preset.
struct Scale {
  Extent width = 200, hidden = 400;                // first order
  int seeds = 2;                                   // of the remainder law
  Extent arcsine_width = 400, arcsine_hidden = 800;
  Extent train_width = 200, train_hidden = 200;    // training pictures
  int train_seeds = 1;
  bool floor_run = true;
  long long text_steps = 2000;                     // training on a user's data

  static Scale of(examples::Preset preset) {
    Scale s;
    if (preset == examples::Preset::fast) {
      s.seeds = 1;
      s.arcsine_width = 200, s.arcsine_hidden = 400;
      s.floor_run = false;
      s.text_steps = 500;
    } else if (preset == examples::Preset::paper) {
      s.width = 400, s.hidden = 800;
      s.seeds = s.train_seeds = 5;
      s.arcsine_width = 800, s.arcsine_hidden = 1600;
      s.text_steps = 10000;
    }
    return s;
  }
};

/// A table, array or picture of the report, written when all parts are done.
struct File {
  std::string stem;
  std::variant<io::CsvTable, Mat<double>, examples::Figure, examples::HeatMaps> content;
};

/// What a part of the verification brings home.
struct Outcome {
  std::vector<Claim> claims;
  std::vector<std::string> notes;  // printed before the table
  std::vector<File> files;
};

/// A line of the table printed before anything is trained.
struct Prediction {
  std::string what, value;
};

/// Counts units of work done, from any thread.
class Ticker {
 public:
  explicit Ticker(std::function<void()> on_tick) : on_tick_(std::move(on_tick)) {}
  void operator()() const { on_tick_(); }

 private:
  std::function<void()> on_tick_;
};

/// One part: what it predicts, known before `run` trains anything, and how much work it is.
struct Part {
  std::vector<Prediction> predictions;
  std::int64_t units = 1;
  std::function<Outcome(const Ticker&)> run;
};

/// Lists what the part's last prediction rests on.
inline void add_assumptions(Part& part, const std::vector<theory::Assumption>& assumptions) {
  for (const auto& a : assumptions)
    part.predictions.push_back({"  it assumes: " + a.name + " <= " + compare::short_number(a.limit),
                                compare::short_number(a.value) + (a.holds() ? "" : "  (does not hold)")});
}

/// The parameters of a model as theory sees them.
template <class Parameters>
LayerMatrices matrices(const Parameters& p) {
  return {p.embedding.template cast<double>(), p.hidden.template cast<double>(), p.output.template cast<double>()};
}

/// Emb-MLP parameters at standard deviation d_in^-gamma; the same normal numbers for every gamma and scalar.
template <class Model>
typename Model::Parameters initial(Extent vocab, Extent width, Extent hidden, double gamma, std::uint64_t seed) {
  typename Model::Parameters p(vocab, width, hidden);
  init::initialize(p, init::Gamma{gamma}, seed);
  return p;
}

/// "0.8", "1.5": a gamma in a name.
inline std::string text(double x) { return compare::short_number(x); }

/// A claim about an error that theory says is zero up to `bound`.
inline Claim error_claim(std::string name, std::string source, Kind kind, Expect expect, double error, double bound) {
  return compare::claim_absolute(std::move(name), std::move(source), kind, expect, 0.0, error, bound);
}

/// Cosines between the given rows of a (D, m) matrix; a row of zeros has no direction and is an error.
inline Mat<double> cosines_of(const Subject& subject, const Mat<double>& of) {
  auto cosines = measure::cosine_matrix(subject.rows(of, subject.compared));
  require(cosines.zero_rows.empty(), "compared tokens", "one that did not move", "a direction for each");
  return std::move(cosines.values);
}

/// Relative Frobenius distance of `measured` from `predicted`.
inline double relative_distance(const Mat<double>& measured, const Mat<double>& predicted) {
  return (measured - predicted).norm() / predicted.norm();
}

}  // namespace verify
