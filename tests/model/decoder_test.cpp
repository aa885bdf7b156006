// SPDX-License-Identifier: MIT
#include <incipit/check/layer.hpp>
#include <incipit/model/decoder.hpp>
#include <incipit/optim/adam.hpp>
#include <incipit/train/trainer.hpp>

#include <boost/test/unit_test.hpp>

#include <support/allocation_count.hpp>

#include <tuple>

using namespace incipit;
using model::Head, model::Output, model::Positions;

namespace {

constexpr model::DecoderSizes small{.vocab = 7, .width = 4, .layers = 2, .heads = 2, .key = 3, .hidden = 5, .length = 3};

constexpr model::DecoderConfig pre{.eps = 0.1};
constexpr model::DecoderConfig post_every{.block = {.place = nn::NormPlace::post, .bias = false}, .output = Output::every, .eps = 0.1};
constexpr model::DecoderConfig tied{.positions = Positions::sinusoidal, .head = Head::tied, .eps = 0.1};
constexpr model::DecoderConfig rms_bare{.block = {.norm = nn::NormKind::rms, .bias = false}, .positions = Positions::none,
                                        .head = Head::tied, .final_norm = false, .output = Output::every, .eps = 0.1};

Mat<Id> some_tokens(Extent rows = 4, Extent length = 3, std::uint64_t vocab = 7) {
  Mat<Id> ids(rows, length);
  const RandomStream stream(1, "tokens");
  for (Extent i = 0; i < ids.size(); ++i) ids.data()[i] = static_cast<Id>(stream.integer(static_cast<std::uint64_t>(i), vocab));
  return ids;
}
std::vector<Id> some_labels(Extent rows, std::uint64_t classes) {
  std::vector<Id> labels(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<Id>(RandomStream(2, "labels").integer(i, classes));
  return labels;
}

template <class Model>
void battery(const model::DecoderSizes& sizes, const std::vector<std::string>& idle) {
  typename Model::Parameters params(sizes);
  check::fill_parameters(params, RandomStream(3, "decoder"), 0.4);
  const auto report = check::check_layer(Model{}, params, some_tokens(), {.rows_independent = false, .idle = idle});
  BOOST_CHECK_MESSAGE(report.passed(), report);
}

const std::vector<std::string> key_biases{"blocks.0.attention.key.bias", "blocks.1.attention.key.bias"};

}  // namespace

BOOST_AUTO_TEST_SUITE(model_decoder)

BOOST_AUTO_TEST_CASE(every_style_passes_the_battery) {
  battery<model::Decoder<double, pre, nn::Tanh>>(small, key_biases);
  battery<model::Decoder<double, post_every, nn::Tanh>>(small, {});
  battery<model::Decoder<double, tied, nn::GeluTanh>>(small, key_biases);
  battery<model::Decoder<double, rms_bare, nn::Silu>>(small, {});
}

BOOST_AUTO_TEST_CASE(definition_2_passes_the_battery_and_follows_the_paper) {
  using Model = model::OneLayerTransformer<double>;
  const model::DecoderSizes sizes{.vocab = 7, .width = 9, .layers = 1, .heads = 1, .key = 3, .hidden = 5, .length = 3};
  battery<Model>(sizes, {});
  Model::Parameters w(sizes);
  check::fill_parameters(w, RandomStream(4, "definition 2"), 0.5);
  Model::Cache cache;
  const Mat<Id> tokens = some_tokens(5);
  const Mat<double> logits = Model{}.forward(w, tokens, cache);
  const auto& block = w.blocks[0];
  for (Extent n = 0; n < 5; ++n) {
    Mat<double> x(3, 9);
    for (Extent t = 0; t < 3; ++t) x.row(t) = w.embedding.weight.row(tokens(n, t));
    const Mat<double> scores = x * block.attention.query.weight * block.attention.key.weight.transpose() * x.transpose() / std::sqrt(3.0);
    Row<double> a = (scores.row(2).array() - scores.row(2).maxCoeff()).exp();
    a /= a.sum();
    const Row<double> v = a * x * block.attention.value.weight * block.attention.output.weight + x.row(2);
    const Row<double> f = (v * block.hidden.in.weight).array().tanh().matrix() * block.hidden.out.weight + v;
    BOOST_CHECK_SMALL((logits.row(n) - f).cwiseAbs().maxCoeff(), 1e-13);
  }
}

BOOST_AUTO_TEST_CASE(last_output_is_the_last_of_all_outputs) {
  constexpr model::DecoderConfig every{.output = Output::every, .eps = 0.1};
  using Last = model::Decoder<double, pre>;
  using Every = model::Decoder<double, every>;
  Last::Parameters a(small);
  Every::Parameters b(small);
  check::fill_parameters(a, RandomStream(5, "w"), 0.4);
  check::fill_parameters(b, RandomStream(5, "w"), 0.4);
  Last::Cache ca;
  Every::Cache cb;
  const Mat<double> last = Last{}.forward(a, some_tokens(), ca), all = Every{}.forward(b, some_tokens(), cb);
  for (Extent n = 0; n < 4; ++n) BOOST_CHECK_SMALL((last.row(n) - all.row(3 * n + 2)).cwiseAbs().maxCoeff(), 1e-13);
  // A shorter sequence than the longest is allowed, and its outputs are those of the prefix.
  const Mat<double> prefix = Every{}.forward(b, some_tokens().leftCols(2), cb);
  for (Extent n = 0; n < 4; ++n)
    for (Extent t = 0; t < 2; ++t) BOOST_CHECK_SMALL((prefix.row(2 * n + t) - all.row(3 * n + t)).cwiseAbs().maxCoeff(), 1e-13);
}

BOOST_AUTO_TEST_CASE(loss_and_gradient_are_those_of_the_whole_batch_for_every_chunk_size) {
  const auto run = [](auto model, Extent outputs) {
    using Model = decltype(model);
    typename Model::Parameters params(small), want(small);
    check::fill_parameters(params, RandomStream(6, "w"), 0.4);
    const Mat<Id> tokens = some_tokens(10);
    const auto labels = some_labels(10 * outputs, 7);
    typename Model::Cache cache;
    Mat<double> logits = model.forward(params, tokens, cache);
    Mat<double> dlogits(logits.rows(), logits.cols());
    const double loss = loss::CrossEntropy<double>{}(logits, labels, dlogits).loss;
    model.backward(params, cache, dlogits, want);
    for (const Extent chunk : {Extent(0), Extent(1), Extent(3), Extent(10), Extent(100)}) {
      typename Model::Workspace ws(chunk);
      typename Model::Parameters grad(small);
      BOOST_CHECK_SMALL(model.loss_and_gradient(params, tokens, loss::LabelRows<double>(labels), ws, grad) - loss, 1e-13);
      BOOST_CHECK_SMALL((grad.flat() - want.flat()).cwiseAbs().maxCoeff(), 1e-13);
      Mat<double> visited(logits.rows(), logits.cols());
      model.for_each_logits(params, tokens, ws, [&](Extent n, const auto& z) { visited.row(n) = z; });
      BOOST_CHECK_SMALL((visited - logits).cwiseAbs().maxCoeff(), 1e-13);
    }
  };
  run(model::Decoder<double, pre>{}, 1);
  run(model::Decoder<double, post_every, nn::Relu>{}, 3);
}

BOOST_AUTO_TEST_CASE(parameters_have_stable_names_and_the_expected_shapes) {
  using Model = model::Decoder<float, pre>;
  Model::Parameters params(small);
  std::vector<std::string> names;
  params.for_each_parameter([&](std::string_view name, const auto&) { names.emplace_back(name); });
  BOOST_REQUIRE_EQUAL(names.size(), 2 + 2 * 16 + 2 + 1);
  BOOST_CHECK_EQUAL(names[0], "embedding.weight");
  BOOST_CHECK_EQUAL(names[1], "positions.weight");
  BOOST_CHECK_EQUAL(names[2], "blocks.0.norm_1.gain");
  BOOST_CHECK_EQUAL(names[4], "blocks.0.attention.query.weight");
  BOOST_CHECK_EQUAL(names.back(), "head.weight");
  const Extent attention = 3 * (4 * 6 + 6) + 6 * 4 + 4, hidden = 4 * 5 + 5 + 5 * 4 + 4;
  BOOST_CHECK_EQUAL(params.count(), 7 * 4 + 3 * 4 + 2 * (4 * 4 + attention + hidden) + 2 * 4 + 4 * 7);
  model::Decoder<float, tied>::Parameters shared(small);
  shared.for_each_parameter([](std::string_view name, const auto&) { BOOST_CHECK(name != "head.weight" && name != "positions.weight"); });
}

BOOST_AUTO_TEST_CASE(initialization_has_the_fan_in_of_each_weight) {
  using Model = model::Decoder<double, model::paper_transformer, nn::Relu>;
  const model::DecoderSizes sizes{.vocab = 161, .width = 64, .layers = 2, .heads = 1, .key = 32, .hidden = 128, .length = 9};
  Model::Parameters w(sizes);
  Model::initialize(w, init::Gamma{0.8}, 1);
  const auto std_of = [](const auto& m) { return std::sqrt(m.array().square().mean()); };
  const auto near = [&](const auto& m, double fan) {
    const double error = 4.5 / std::sqrt(2.0 * static_cast<double>(m.size()));
    BOOST_CHECK_SMALL(std_of(m) / std::pow(fan, -0.8) - 1, error);
  };
  near(w.embedding.weight, 161);
  near(w.positions.weight, 161);  // as embeddings: the two are added
  near(w.blocks[1].attention.query.weight, 64);
  near(w.blocks[1].attention.output.weight, 32);
  near(w.blocks[0].hidden.out.weight, 128);
  near(w.head.weight, 64);
  BOOST_CHECK_EQUAL((w.blocks[0].norm_1.gain.array() - 1).abs().maxCoeff(), 0.0);
  model::Decoder<double, pre>::Parameters biased(small);
  model::Decoder<double, pre>::initialize(biased, init::Gamma{0.5}, 1);
  BOOST_CHECK_EQUAL(biased.blocks[0].hidden.in.bias.cwiseAbs().maxCoeff(), 0.0);
  BOOST_CHECK_GT(biased.blocks[0].hidden.in.weight.cwiseAbs().maxCoeff(), 0.0);
}

BOOST_AUTO_TEST_CASE(training_steps_allocate_nothing_after_the_first) {
  using Model = model::Decoder<float, pre>;
  Model::Parameters params(small), grad(small);
  Model::initialize(params, init::Gamma{0.5}, 1);
  optim::Adam<float> adam(params.flat().size(), {.step = 1e-3});
  Model::Workspace ws;
  const Mat<Id> big = some_tokens(200), odd = some_tokens(130);
  const auto big_labels = some_labels(200, 7), odd_labels = some_labels(130, 7);
  const auto step = [&](const Mat<Id>& tokens, const std::vector<Id>& labels) {
    grad.set_zero();
    Model{}.loss_and_gradient(params, tokens, loss::LabelRows<float>(labels), ws, grad);
    adam(params.flat(), grad.flat());
  };
  step(big, big_labels);
  const test::AllocationCount count;
  step(big, big_labels);
  step(odd, odd_labels);
  step(big, big_labels);
  BOOST_CHECK_EQUAL(count.count(), 0U);
}

BOOST_AUTO_TEST_CASE(a_trainer_teaches_it_to_repeat_the_first_token) {
  using Model = model::Decoder<float, pre>;
  Model::Parameters params(small);
  Model::initialize(params, init::Gamma{0.5}, 1);
  train::Trainer<Model, optim::Adam<float>> trainer(params, optim::Adam<float>(params.flat().size(), {.step = 1e-2}));
  const Mat<Id> tokens = some_tokens(300);
  std::vector<Id> labels;
  for (Extent n = 0; n < tokens.rows(); ++n) labels.push_back(tokens(n, 0));
  float first = 0, last = 0;
  for (int k = 0; k < 150; ++k) {
    last = trainer.step(tokens, loss::LabelRows<float>(labels));
    if (k == 0) first = last;
  }
  BOOST_CHECK_GT(first, 1.5F);
  BOOST_CHECK_LT(last, 0.1F);
}

BOOST_AUTO_TEST_CASE(wrong_sizes_and_ids_are_refused_by_name) {
  using Model = model::Decoder<float, pre>;
  auto none = small;
  none.layers = 0;
  BOOST_CHECK_THROW(Model::Parameters{none}, ShapeError);
  constexpr model::DecoderConfig fixed{.sizes = small};
  model::Decoder<float, fixed>::Parameters all_static;
  BOOST_CHECK_EQUAL(all_static.sizes.width, 4);
  auto wide = small;
  wide.width = 5;
  BOOST_CHECK_THROW((model::Decoder<float, fixed>::Parameters{wide}), ShapeError);
  Model::Parameters params(small), other(wide);
  Model::Cache cache;
  BOOST_CHECK_THROW(Model{}.forward(params, some_tokens(2, 4), cache), ShapeError);
  BOOST_CHECK_THROW(Model{}.forward(params, Mat<Id>(2, 0), cache), ShapeError);
  BOOST_CHECK_THROW(Model{}.forward(params, Mat<Id>::Constant(2, 3, 7), cache), IndexError);
  Model{}.forward(params, some_tokens(2), cache);
  BOOST_CHECK_THROW(Model{}.backward(params, cache, Mat<float>::Zero(2, 7), other), ShapeError);
  BOOST_CHECK_THROW(Model{}.backward(params, cache, Mat<float>::Zero(3, 7), params), ShapeError);
  Model::Workspace ws;
  const auto labels = some_labels(3, 7);
  BOOST_CHECK_THROW(Model{}.loss_and_gradient(params, some_tokens(2), loss::LabelRows<float>(labels), ws, params), ShapeError);
  BOOST_CHECK_THROW(Model::Workspace(-1), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()
