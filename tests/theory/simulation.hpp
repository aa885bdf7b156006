// SPDX-License-Identifier: MIT
// Emb-MLP once more, in plain loops over samples: what the predictions are compared with. Shares no code with them.
#pragma once

#include <cmath>
#include <cstdint>
#include <incipit/core/random.hpp>
#include <incipit/data/examples.hpp>
#include <incipit/data/memory_map.hpp>

namespace incipit::test {

/// An activation with the derivative and the facts at zero.
struct Curve {
  double (*value)(double);
  double (*derivative)(double);
};
inline constexpr Curve tanh_curve{[](double x) { return std::tanh(x); },
                                  [](double x) { return 1 - std::tanh(x) * std::tanh(x); }};
inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }
/// 2 x sigmoid(x): value 0, slope 1, curvature 1 at zero.
inline constexpr Curve double_silu{[](double x) { return 2 * x * logistic(x); },
                                   [](double x) { return 2 * logistic(x) * (1 + x * (1 - logistic(x))); }};
/// sigmoid(x) - 1/2: value 0, slope 1/4, curvature 0 at zero.
inline constexpr Curve centred_sigmoid{[](double x) { return logistic(x) - 0.5; },
                                       [](double x) { return logistic(x) * (1 - logistic(x)); }};
/// sigmoid(x): value 1/2, slope 1/4, curvature 0 at zero.
inline constexpr Curve plain_sigmoid{[](double x) { return logistic(x); },
                                     [](double x) { return logistic(x) * (1 - logistic(x)); }};

struct Weights {
  Mat<double> embedding, hidden, output;
};

/// Gaussian weights of standard deviation rows^-gamma; the same draws for every gamma.
inline Weights draw(Extent D, Extent m, Extent f, double gamma, std::uint64_t seed) {
  const auto filled = [&](Extent rows, Extent cols, const char* name) {
    Mat<double> w(rows, cols);
    const RandomStream stream(seed, name);
    const double deviation = std::pow(static_cast<double>(rows), -gamma);
    for (Extent i = 0; i < w.size(); ++i) w.data()[i] = deviation * stream.normal(static_cast<std::uint64_t>(i));
    return w;
  };
  return {filled(D, m, "embedding"), filled(m, f, "hidden"), filled(f, D, "output")};
}

struct Descent {
  Weights down;  // minus the gradient of the mean loss
  double loss;
};

/// Mean cross entropy and minus its gradient, sample by sample, by the chain rule written out.
inline Descent descend(const data::Examples& examples, const Weights& w, Curve act) {
  const Extent D = w.embedding.rows(), m = w.hidden.rows(), f = w.hidden.cols();
  Descent out{{Mat<double>::Zero(D, m), Mat<double>::Zero(m, f), Mat<double>::Zero(f, D)}, 0};
  const double weight = 1 / static_cast<double>(examples.size());
  for (Extent n = 0; n < examples.size(); ++n) {
    const Id label = examples.labels[static_cast<std::size_t>(n)];
    Row<double> sum = Row<double>::Zero(m), pre = Row<double>::Zero(f), post(f), logits = Row<double>::Zero(D);
    for (Extent i = 0; i < examples.length(); ++i) sum += w.embedding.row(examples.tokens(n, i));
    for (Extent a = 0; a < m; ++a) pre += sum[a] * w.hidden.row(a);
    for (Extent j = 0; j < f; ++j) post[j] = act.value(pre[j]);
    for (Extent j = 0; j < f; ++j) logits += post[j] * w.output.row(j);
    double partition = 0;
    for (Extent k = 0; k < D; ++k) partition += std::exp(logits[k]);
    out.loss += weight * (std::log(partition) - logits[label]);
    Row<double> pull(D);
    for (Extent k = 0; k < D; ++k) pull[k] = weight * ((k == label ? 1.0 : 0.0) - std::exp(logits[k]) / partition);
    Row<double> back(f);
    for (Extent j = 0; j < f; ++j) {
      out.down.output.row(j) += post[j] * pull;
      back[j] = act.derivative(pre[j]) * w.output.row(j).dot(pull);
    }
    for (Extent a = 0; a < m; ++a) {
      out.down.hidden.row(a) += sum[a] * back;
      const double down = w.hidden.row(a).dot(back);
      for (Extent i = 0; i < examples.length(); ++i) out.down.embedding(examples.tokens(n, i), a) += down;
    }
  }
  return out;
}

/// Every allowed (key, ordered tuple) of a task without noise, once.
inline data::Examples whole_population(const data::AnchorTask& task, const data::MemoryMap& mapping) {
  data::Examples all;
  all.vocab = task.vocabulary();
  std::vector<Id> flat;
  for (const data::Task kind : {data::Task::memory, data::Task::reasoning})
    task.for_each_tuple(kind, [&](std::int64_t tuple, std::span<const Id> anchors) {
      for (Id z = task.keys.first; z <= task.keys.last; ++z) {
        flat.push_back(z);
        flat.insert(flat.end(), anchors.begin(), anchors.end());
        all.labels.push_back(kind == data::Task::memory ? mapping.label(z, tuple) : task.reasoning_label(z, anchors));
      }
    });
  all.tokens = Eigen::Map<const Mat<Id>>(flat.data(), static_cast<Extent>(all.labels.size()), task.q + 1);
  return all;
}

/// C = E[(sum_x e_x)^T (y - u)], counted.
inline Mat<double> counted_correlation(const data::Examples& examples) {
  const double weight = 1 / static_cast<double>(examples.size()), u = 1 / static_cast<double>(examples.vocab);
  Mat<double> c = Mat<double>::Zero(examples.vocab, examples.vocab);
  for (Extent n = 0; n < examples.size(); ++n)
    for (Extent i = 0; i < examples.length(); ++i)
      for (Extent k = 0; k < examples.vocab; ++k)
        c(examples.tokens(n, i), k) += weight * ((k == examples.labels[static_cast<std::size_t>(n)] ? 1.0 : 0.0) - u);
  return c;
}

/// A task small enough for loops: D = 34, 240 inputs, two tuples held out.
inline data::AnchorTask small_task() {
  data::AnchorTask task;
  task.length = 3;
  task.keys = {9, 16};
  task.memory = {1, 4};
  task.reasoning = {5, 8};
  task.vocab = 34;
  task.held_out = {{5, 7}, {7, 5}};
  return task;
}

}  // namespace incipit::test
