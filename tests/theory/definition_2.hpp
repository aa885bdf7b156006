// SPDX-License-Identifier: MIT
// The one-layer transformer as the reference for its theory: gradients by the model, exact populations with noise.
#pragma once

#include <incipit/data/anchor_set.hpp>
#include <incipit/model/decoder.hpp>
#include <incipit/theory/attention_flow.hpp>

#include <array>

namespace incipit::test {

using Transformer = model::OneLayerTransformer<double>;

/// Sizes of a test model: D, m (the label space), k, f.
struct Shape {
  Extent D, m, k, f;
};

/// Gaussian weights of standard deviation rows^-gamma; the same draws for every gamma.
theory::TransformerMatrices draw_transformer(Shape s, double gamma, std::uint64_t seed);

/// The matrices as parameters of the model, for sequences of length L.
Transformer::Parameters parameters(const theory::TransformerMatrices& w, Extent length);

struct TransformerDescent {
  theory::TransformerMatrices down;  // minus the gradient of the mean loss
  double loss;
};

/// Mean cross entropy and minus its gradient, by the model's own forward and backward pass.
TransformerDescent descend(const data::Examples& examples, const theory::TransformerMatrices& w);

inline constexpr std::array<const char*, 7> matrix_names{"W_E", "W_Q", "W_K", "W_V", "W_O", "W_f1", "W_f2"};
inline std::array<const Mat<double>*, 7> all_matrices(const theory::TransformerMatrices& w) {
  return {&w.embedding, &w.query, &w.key, &w.value, &w.output, &w.hidden_in, &w.hidden_out};
}
/// Relative Frobenius errors of a prediction, matrix by matrix.
inline std::array<double, 7> relative_errors(const theory::TransformerMatrices& measured,
                                             const theory::TransformerMatrices& predicted) {
  std::array<double, 7> errors{};
  const auto a = all_matrices(measured), b = all_matrices(predicted);
  for (std::size_t i = 0; i < 7; ++i) errors[i] = (*a[i] - *b[i]).norm() / a[i]->norm();
  return errors;
}

/// Every place of the key and every filling with noise keys, for every allowed combination: the population of a task.
inline data::Examples noisy_population(const data::AnchorTask& task, const data::MemoryMap& mapping) {
  data::Examples all;
  all.vocab = task.vocabulary();
  std::vector<Id> flat;
  std::int64_t fillings = 1;
  for (Extent i = 0; i < task.noise(); ++i) fillings *= task.keys.size();
  for (const data::Task kind : {data::Task::memory, data::Task::reasoning})
    task.for_each_tuple(kind, [&](std::int64_t tuple, std::span<const Id> anchors) {
      for (Id z = task.keys.first; z <= task.keys.last; ++z)
        for (Extent place = 0; place < task.positions(); ++place)
          for (std::int64_t filling = 0; filling < fillings; ++filling) {
            std::int64_t rest = filling;
            for (Extent x = 0; x < task.length; ++x) {
              if (x == place) {
                flat.push_back(z);
              } else if (x > place && x <= place + task.q) {
                flat.push_back(anchors[static_cast<std::size_t>(x - place - 1)]);
              } else {
                flat.push_back(task.keys.first + static_cast<Id>(rest % task.keys.size()));
                rest /= task.keys.size();
              }
            }
            all.labels.push_back(kind == data::Task::memory ? mapping.label(z, tuple)
                                                            : task.reasoning_label(z, anchors));
          }
    });
  all.tokens = Eigen::Map<const Mat<Id>>(flat.data(), static_cast<Extent>(all.labels.size()), task.length);
  return all;
}

}  // namespace incipit::test
