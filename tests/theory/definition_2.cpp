// SPDX-License-Identifier: MIT
// The model of definition_2.hpp, compiled once for all tests of its theory.
#include <theory/definition_2.hpp>

namespace incipit::test {

theory::TransformerMatrices draw_transformer(Shape s, double gamma, std::uint64_t seed) {
  const auto filled = [&](Extent rows, Extent cols, const char* name) {
    Mat<double> w(rows, cols);
    const RandomStream stream(seed, name);
    const double deviation = std::pow(static_cast<double>(rows), -gamma);
    stream.normals(0, {w.data(), static_cast<std::size_t>(w.size())});
    w *= deviation;
    return w;
  };
  return {filled(s.D, s.m, "embedding"), filled(s.m, s.k, "query"), filled(s.m, s.k, "key"), filled(s.m, s.k, "value"),
          filled(s.k, s.m, "output"),    filled(s.m, s.f, "in"),    filled(s.f, s.m, "out")};
}

Transformer::Parameters parameters(const theory::TransformerMatrices& w, Extent length) {
  Transformer::Parameters p(model::DecoderSizes{.vocab = w.embedding.rows(),
                                                .width = w.embedding.cols(),
                                                .layers = 1,
                                                .heads = 1,
                                                .key = w.query.cols(),
                                                .hidden = w.hidden_in.cols(),
                                                .length = length});
  p.embedding.weight = w.embedding;
  auto& block = p.blocks[0];
  block.attention.query.weight = w.query;
  block.attention.key.weight = w.key;
  block.attention.value.weight = w.value;
  block.attention.output.weight = w.output;
  block.hidden.in.weight = w.hidden_in;
  block.hidden.out.weight = w.hidden_out;
  return p;
}

TransformerDescent descend(const data::Examples& examples, const theory::TransformerMatrices& w) {
  const Transformer::Parameters p = parameters(w, examples.length());
  Transformer::Parameters g = p;
  g.flat().setZero();
  Transformer::Workspace workspace;
  const double loss =
      Transformer{}.loss_and_gradient(p, examples.tokens, loss::LabelRows<double>(examples.labels), workspace, g);
  const auto& block = g.blocks[0];
  return {
      {-g.embedding.weight, -block.attention.query.weight, -block.attention.key.weight, -block.attention.value.weight,
       -block.attention.output.weight, -block.hidden.in.weight, -block.hidden.out.weight},
      loss};
}

}  // namespace incipit::test
