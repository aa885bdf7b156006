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

#include "../common/part.hpp"

#include <optional>

namespace verify {

using namespace examples;
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
