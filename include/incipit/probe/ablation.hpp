// SPDX-License-Identifier: MIT
/// @file
/// @brief Decoders with a part taken out, and what that does to their answers.
#pragma once

#include <incipit/probe/layer_view.hpp>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace incipit::inline INCIPIT_ABI::probe {

/// @brief A copy whose attention in `layer` is exactly the average of the prefix, A_ij = 1/i, in every head.
/// @details Zero query weights and biases make all scores equal. The other parameters, W_V and W_O among them, stay.
/// @throws IndexError for a layer that is not there. @par Source paper A, Lemma 1.
template <AnyDecoder M>
typename M::Parameters with_average_attention(const typename M::Parameters& params, Extent layer = 0) {
  require<IndexError>(layer >= 0 && layer < params.sizes.layers, "layer", layer, "0 <= layer < number of layers");
  typename M::Parameters copy = params;
  auto& query = copy.blocks[static_cast<std::size_t>(layer)].attention.query;
  query.for_each_parameter([](std::string_view, auto& slot) { slot.setZero(); });
  return copy;
}

/// @brief The configuration without norms, in the blocks and before the head.
/// @details In place, on trained weights, it only tells how much a model relies on the scale that its norms restore; a
/// post-norm model grows without them. Whether norms matter for what is learned is a question of training both
/// configurations: from one seed their common weights start equal.
constexpr model::DecoderConfig without_norms(model::DecoderConfig config) {
  config.block.place = nn::NormPlace::none;
  config.final_norm = false;
  return config;
}
/// @brief The configuration without positions. On trained weights the same as a table of zeros, learned or sinusoidal.
constexpr model::DecoderConfig without_positions(model::DecoderConfig config) {
  config.positions = model::Positions::none;
  return config;
}
/// @brief The configuration without W_O. The heads' values must then be as wide as the stream: H d_v = C.
/// @details On trained weights values arrive in a basis that nothing after them knows; as for norms, train both to see
/// whether the projection matters for what is learned.
constexpr model::DecoderConfig without_projection(model::DecoderConfig config) {
  config.block.projection = false;
  return config;
}
/// @brief The configuration whose stream is the logits, over C classes: no matrix after the last layer.
constexpr model::DecoderConfig without_head(model::DecoderConfig config) {
  config.head = model::Head::none;
  return config;
}

/// @brief Parameters brought over from another configuration.
template <AnyDecoder To>
struct Transplant {
  typename To::Parameters parameters;  ///< all of them copied
  std::vector<std::string> left_out;   ///< names of those of the donor that have no place here
};

/// @brief Copies by name the parameters of one decoder into another that has a part less.
/// @details E.g. `transplant<M, model::Decoder<T, without_norms(M::config), A>>(params)`.
/// @throws InvalidArgument naming a parameter that the donor lacks; ShapeError where sizes do not fit.
template <AnyDecoder From, AnyDecoder To>
Transplant<To> transplant(const typename From::Parameters& params) {
  static_assert(std::is_same_v<typename From::Scalar, typename To::Scalar>, "both decoders need one scalar type");
  using T = typename From::Scalar;
  Transplant<To> out{typename To::Parameters(params.sizes), {}};
  std::map<std::string, Eigen::Map<const Mat<T>>, std::less<>> donor;
  params.for_each_parameter([&](std::string_view name, const auto& slot) {
    donor.emplace(name, Eigen::Map<const Mat<T>>(slot.data(), slot.rows(), slot.cols()));
  });
  out.parameters.for_each_parameter([&](std::string_view name, auto& slot) {
    const auto found = donor.find(name);
    require(found != donor.end(), "parameter", name, "one that the donor has too");
    require_size(std::string(name) + ".rows", found->second.rows(), slot.rows());
    require_size(std::string(name) + ".cols", found->second.cols(), slot.cols());
    slot = found->second;
    donor.erase(found);
  });
  params.for_each_parameter([&](std::string_view name, const auto&) {
    if (donor.contains(name)) out.left_out.emplace_back(name);
  });
  return out;
}

/// Mean cross entropy and accuracy on a set.
struct Answers {
  double loss = 0;      ///< mean over the rows, nats
  double accuracy = 0;  ///< share of rows whose largest logit (first of equals) is the label
};

/// @brief The same questions before and after an ablation.
struct AblationEffect {
  Answers before, after;
  double agreement = 0;   ///< share of rows with the same largest logit (first of equals)
  double divergence = 0;  ///< mean Kullback-Leibler divergence of `after` from `before`, nats
};

/// @brief Runs two decoders, or one with two sets of parameters, on the same sequences.
/// @param before   parameters of `Before`. @param after parameters of `After`.
/// @param tokens   (N, T). @param labels N, or N T with Output::every, sequence by sequence.
/// @throws ShapeError for an empty set, or labels or label spaces that do not fit; IndexError for an id outside its
/// range; NonFiniteError if a loss is not finite. @par Cost two forward passes.
template <AnyDecoder Before, AnyDecoder After = Before>
AblationEffect ablation_effect(const typename Before::Parameters& before, const typename After::Parameters& after,
                               In<Mat<Id>> tokens, std::span<const Id> labels) {
  static_assert(Before::config.output == After::config.output, "both decoders must answer at the same positions");
  const Extent outputs = Before::config.output == model::Output::last ? 1 : tokens.cols();
  const Extent classes = Before::label_space(before);
  require<ShapeError>(tokens.rows() >= 1, "tokens.rows", tokens.rows(), "at least 1");
  require_size("labels", labels.size(), tokens.rows() * outputs);
  require_size("label space", After::label_space(after), classes);
  for (std::size_t n = 0; n < labels.size(); ++n)
    if (labels[n] < 0 || labels[n] >= classes) [[unlikely]]
      fail<IndexError>("labels[" + std::to_string(n) + "]", labels[n], "0 <= label < " + std::to_string(classes));

  const Extent chunk = 64;  // sequences whose logits are held at a time
  typename Before::Workspace ws_before;
  typename After::Workspace ws_after;
  AblationEffect out;
  const auto judge = [](const Row<double>& z, Id label, Answers& answers) {
    Extent best = 0;
    z.maxCoeff(&best);
    const Row<double> log_p = log_softmax(z);
    answers.loss -= log_p(label);
    answers.accuracy += best == label;
    return std::pair(best, log_p);
  };
  for (Extent first = 0; first < tokens.rows(); first += chunk) {
    const auto part = tokens.middleRows(first, (std::min)(chunk, tokens.rows() - first));
    Mat<double> logits(part.rows() * outputs, classes);
    Before{}.for_each_logits(before, part, ws_before,
                             [&](Extent n, const auto& z) { logits.row(n) = z.template cast<double>(); });
    After{}.for_each_logits(after, part, ws_after, [&](Extent n, const auto& z) {
      const Id label = labels[static_cast<std::size_t>(first * outputs + n)];
      const auto [old_best, old_log] = judge(logits.row(n), label, out.before);
      const auto [new_best, new_log] = judge(z.template cast<double>(), label, out.after);
      out.agreement += old_best == new_best;
      out.divergence += old_log.array().exp().matrix().dot(old_log - new_log);
    });
  }
  const double rows = static_cast<double>(labels.size());
  for (double* sum :
       {&out.before.loss, &out.before.accuracy, &out.after.loss, &out.after.accuracy, &out.agreement, &out.divergence})
    *sum /= rows;
  require<NonFiniteError>(is_finite(out.before.loss), "loss before", out.before.loss, "a finite number");
  require<NonFiniteError>(is_finite(out.after.loss), "loss after", out.after.loss, "a finite number");
  return out;
}

}  // namespace incipit::inline INCIPIT_ABI::probe
