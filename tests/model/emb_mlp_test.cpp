// SPDX-License-Identifier: MIT
#include <incipit/core/random.hpp>
#include <incipit/model/emb_mlp.hpp>
#include <incipit/optim/adam.hpp>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/eigen.hpp>
#include <boost/test/unit_test.hpp>
#include <unsupported/Eigen/AutoDiff>

#include <support/allocation_count.hpp>

#include <cmath>
#include <tuple>
#include <vector>

using namespace incipit;

namespace {

using Float50 = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>, boost::multiprecision::et_off>;

template <class Model>
typename Model::Parameters random_parameters(Extent vocab, Extent width, Extent hidden, double scale = 0.5) {
  typename Model::Parameters p(vocab, width, hidden);
  const RandomStream root(11, "parameters");
  p.for_each_parameter([&](std::string_view name, auto& w) {
    using T = typename Model::Scalar;
    const RandomStream stream = root.child(name);
    for (Extent i = 0; i < w.size(); ++i) w.data()[i] = static_cast<T>(scale * stream.normal(static_cast<std::uint64_t>(i)));
  });
  return p;
}

struct Batch {
  Mat<Id> tokens;
  std::vector<Id> labels;
};

Batch random_batch(Extent rows, Extent length, Extent vocab, const char* name = "batch") {
  const RandomStream stream(3, name);
  Batch b{Mat<Id>(rows, length), std::vector<Id>(static_cast<std::size_t>(rows))};
  std::uint64_t at = 0;
  for (Extent i = 0; i < b.tokens.size(); ++i)
    b.tokens.data()[i] = static_cast<Id>(stream.integer(at++, static_cast<std::uint64_t>(vocab)));
  for (auto& y : b.labels) y = static_cast<Id>(stream.integer(at++, static_cast<std::uint64_t>(vocab)));
  return b;
}

// Loss and gradient by the literal formulas, forward and backward.
template <class Model, class T = typename Model::Scalar>
std::pair<T, typename Model::Parameters> literal(const typename Model::Parameters& p, const Batch& b) {
  const Model model;
  typename Model::Cache cache;
  typename Model::Parameters grad(p);
  grad.set_zero();
  const Mat<T> logits = model.forward(p, b.tokens, cache);
  Mat<T> dlogits(logits.rows(), logits.cols());
  const auto value = loss::CrossEntropy<T>{}(logits, std::span<const Id>(b.labels), dlogits);
  model.backward(p, cache, dlogits, grad);
  return {value.loss, std::move(grad)};
}

template <class Model, class T = typename Model::Scalar>
std::pair<T, typename Model::Parameters> fused(const typename Model::Parameters& p, const Batch& b, Extent chunk = 0) {
  typename Model::Workspace ws(chunk);
  typename Model::Parameters grad(p);
  grad.set_zero();
  const T value = Model{}.loss_and_gradient(p, b.tokens, loss::LabelRows<T>(std::span<const Id>(b.labels)), ws, grad);
  return {value, std::move(grad)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model_emb_mlp)

BOOST_AUTO_TEST_CASE(parameter_names_shapes_and_count_are_stable) {
  model::EmbMlp<double>::Parameters p(161, 64, 128);
  std::vector<std::string> names;
  p.for_each_parameter([&](std::string_view name, const auto&) { names.emplace_back(name); });
  BOOST_TEST(names == (std::vector<std::string>{"embedding.weight", "hidden.weight", "output.weight"}));
  BOOST_CHECK_EQUAL(p.count(), 161 * 64 + 64 * 128 + 128 * 161);
  constexpr model::EmbMlpSizes fixed{.vocab = 5, .width = 3, .hidden = 4};
  model::EmbMlp<float, fixed>::Parameters small;
  BOOST_CHECK_EQUAL(small.hidden.rows(), 3);
  BOOST_CHECK_THROW((model::EmbMlp<float, fixed>::Parameters(6, 3, 4)), ShapeError);
  BOOST_CHECK_THROW(model::EmbMlp<double>::Parameters(0, 3, 4), ShapeError);
  BOOST_CHECK_THROW(model::EmbMlp<double>::Parameters(5, 3, -1), ShapeError);
}

BOOST_AUTO_TEST_CASE(forward_is_definition_1_entry_by_entry) {
  using Model = model::EmbMlp<double, model::EmbMlpSizes{}, nn::ScaledSilu>;
  const auto p = random_parameters<Model>(7, 3, 5);
  const Batch b = random_batch(4, 3, 7);
  Model::Cache cache;
  const Mat<double> z = Model{}.forward(p, b.tokens, cache);
  for (Extent n = 0; n < 4; ++n)
    for (Extent k = 0; k < 7; ++k) {
      double want = 0;
      for (Extent j = 0; j < 5; ++j) {
        double h = 0;
        for (Extent i = 0; i < 3; ++i) {
          double x = 0;
          for (Extent l = 0; l < 3; ++l) x += p.embedding(b.tokens(n, l), i);
          h += x * p.hidden(i, j);
        }
        want += 2 * h / (1 + std::exp(-h)) * p.output(j, k);
      }
      BOOST_CHECK_SMALL(z(n, k) - want, 1e-13);
    }
}

using Activations = std::tuple<nn::Tanh, nn::ScaledSilu, nn::Sigmoid, nn::Relu, nn::Identity, nn::GeluErf>;
BOOST_AUTO_TEST_CASE_TEMPLATE(fused_step_equals_the_literal_formulas_on_both_paths, A, Activations) {
  using Model = model::EmbMlp<double, model::EmbMlpSizes{}, A>;
  const auto p = random_parameters<Model>(23, 9, 13);
  for (const Extent rows : {Extent(1), Extent(5), Extent(23), Extent(64), Extent(131)})
    for (const Extent length : {Extent(1), Extent(2), Extent(3), Extent(9)}) {
      const Batch b = random_batch(rows, length, 23);
      const auto want = literal<Model>(p, b);
      for (const Extent chunk : {Extent(0), Extent(1), Extent(7), Extent(64), Extent(1000)}) {
        const auto got = fused<Model>(p, b, chunk);
        BOOST_CHECK_SMALL(got.first - want.first, 1e-13);
        BOOST_CHECK_SMALL((got.second.flat() - want.second.flat()).cwiseAbs().maxCoeff(), 1e-13);
      }
    }
}

BOOST_AUTO_TEST_CASE(gradient_equals_automatic_differentiation) {
  using Dual = Eigen::AutoDiffScalar<Eigen::VectorXd>;
  using Plain = model::EmbMlp<double, model::EmbMlpSizes{}, nn::GeluErf>;
  using Auto = model::EmbMlp<Dual, model::EmbMlpSizes{}, nn::GeluErf>;
  const auto p = random_parameters<Plain>(5, 2, 3);
  const Batch b = random_batch(4, 3, 5);
  Auto::Parameters dual(5, 2, 3);
  const Extent n = p.flat().size();
  const auto seed = [&](const auto& from, auto& to) {
    for (Extent i = 0; i < from.size(); ++i)
      to.data()[i] = Dual(from.data()[i], Eigen::VectorXd::Unit(n, from.data() + i - p.flat().data()));
  };
  seed(p.embedding, dual.embedding), seed(p.hidden, dual.hidden), seed(p.output, dual.output);
  Auto::Cache cache;
  const Mat<Dual> z = Auto{}.forward(dual, b.tokens, cache);
  Dual total(0.0, Eigen::VectorXd::Zero(n));
  for (Extent row = 0; row < 4; ++row) {
    Dual sum(0.0, Eigen::VectorXd::Zero(n));
    for (Extent k = 0; k < 5; ++k) sum += exp(z(row, k));
    total += Dual(log(sum) - z(row, b.labels[static_cast<std::size_t>(row)])) * 0.25;
  }
  const auto got = fused<Plain>(p, b);
  BOOST_CHECK_SMALL(got.first - total.value(), 1e-14);
  BOOST_CHECK_SMALL((got.second.flat().transpose() - total.derivatives()).cwiseAbs().maxCoeff(), 1e-14);
}

BOOST_AUTO_TEST_CASE(long_double_and_fifty_digits_agree_with_double_to_its_precision) {
  using A = nn::Tanh;
  using Plain = model::EmbMlp<double, model::EmbMlpSizes{}, A>;
  using Long = model::EmbMlp<long double, model::EmbMlpSizes{}, A>;
  using Fifty = model::EmbMlp<Float50, model::EmbMlpSizes{}, A>;
  const auto p = random_parameters<Plain>(11, 4, 6);
  const Batch b = random_batch(13, 3, 11);
  Long::Parameters pl(11, 4, 6);
  Fifty::Parameters pf(11, 4, 6);
  pl.embedding = p.embedding.cast<long double>(), pf.embedding = p.embedding.cast<Float50>();
  pl.hidden = p.hidden.cast<long double>(), pf.hidden = p.hidden.cast<Float50>();
  pl.output = p.output.cast<long double>(), pf.output = p.output.cast<Float50>();
  const auto d = fused<Plain>(p, b);
  const auto l = fused<Long>(pl, b);
  const auto f = fused<Fifty>(pf, b);
  BOOST_CHECK_SMALL(d.first - static_cast<double>(f.first), 1e-15 * 8);
  BOOST_CHECK_SMALL(static_cast<double>(l.first - f.first.convert_to<long double>()), 1e-18 * 8);
  BOOST_CHECK_SMALL((d.second.hidden - f.second.hidden.cast<double>()).cwiseAbs().maxCoeff(), 1e-15);
  BOOST_CHECK_SMALL((d.second.embedding - f.second.embedding.cast<double>()).cwiseAbs().maxCoeff(), 1e-15);
  BOOST_CHECK_SMALL((d.second.output - l.second.output.cast<double>()).cwiseAbs().maxCoeff(), 1e-15);
}

BOOST_AUTO_TEST_CASE(merged_rows_with_masses_equal_the_repeated_rows) {
  using Model = model::EmbMlp<double>;
  const auto p = random_parameters<Model>(9, 4, 5);
  Batch repeated{Mat<Id>(4, 2), {1, 2, 2, 8}};
  repeated.tokens << 3, 4, 3, 4, 3, 4, 0, 7;
  const auto want = fused<Model>(p, repeated);
  Mat<Id> tokens(2, 2);
  tokens << 3, 4, 0, 7;
  const std::vector<std::size_t> begin{0, 2, 3};
  const std::vector<Id> labels{1, 2, 8};
  const std::vector<double> masses{0.25, 0.5, 0.25};
  Model::Workspace ws;
  Model::Parameters grad(9, 4, 5);
  const double value = Model{}.loss_and_gradient(p, tokens, loss::LabelRows<double>(begin, labels, masses), ws, grad);
  BOOST_CHECK_SMALL(value - want.first, 1e-15);
  BOOST_CHECK_SMALL((grad.flat() - want.second.flat()).cwiseAbs().maxCoeff(), 1e-15);
}

BOOST_AUTO_TEST_CASE(gradients_accumulate_and_a_step_allocates_nothing_after_the_first) {
  using Model = model::EmbMlp<float>;
  auto p = random_parameters<Model>(61, 16, 24);
  const Batch b = random_batch(200, 3, 61), less = random_batch(37, 3, 61, "less");
  Model::Workspace ws;
  Model::Parameters grad(61, 16, 24);
  optim::Adam<float> adam(p.flat().size(), {});
  const loss::LabelRows<float> labels{std::span<const Id>(b.labels)}, fewer{std::span<const Id>(less.labels)};
  const auto step = [&](const Batch& batch, const loss::LabelRows<float>& rows) {
    grad.set_zero();
    Model{}.loss_and_gradient(p, batch.tokens, rows, ws, grad);
    adam(p.flat(), grad.flat());
  };
  step(b, labels);
  step(less, fewer);
#ifdef EIGEN_RUNTIME_NO_MALLOC
  Eigen::internal::set_is_malloc_allowed(false);  // an assertion in builds that have them
#endif
  const test::AllocationCount before;
  for (int i = 0; i < 3; ++i) {
    step(b, labels);
    step(less, fewer);
  }
#ifdef EIGEN_RUNTIME_NO_MALLOC
  Eigen::internal::set_is_malloc_allowed(true);
#endif
  BOOST_CHECK_EQUAL(before.count(), 0);
  const Model::Parameters once = [&] { grad.set_zero(); Model{}.loss_and_gradient(p, b.tokens, labels, ws, grad); return grad; }();
  Model{}.loss_and_gradient(p, b.tokens, labels, ws, grad);
  BOOST_CHECK_SMALL((grad.flat() - 2 * once.flat()).cwiseAbs().maxCoeff(), 2e-7F * once.flat().cwiseAbs().maxCoeff());
}

BOOST_AUTO_TEST_CASE(bad_ids_labels_and_shapes_are_refused_by_name_u25) {
  using Model = model::EmbMlp<float>;
  const auto p = random_parameters<Model>(10, 2, 3);
  Model::Workspace ws;
  Model::Parameters grad(10, 2, 3);
  Mat<Id> tokens(2, 3);
  const std::vector<Id> labels{0, 9}, bad{0, 10}, three{0, 1, 2};
  const auto run = [&](const std::vector<Id>& y) {
    return Model{}.loss_and_gradient(p, tokens, loss::LabelRows<float>(std::span<const Id>(y)), ws, grad);
  };
  tokens << 0, 9, 5, 1, 2, 3;
  BOOST_CHECK_NO_THROW(run(labels));
  BOOST_CHECK_THROW(run(bad), IndexError);
  BOOST_CHECK_THROW(run(three), ShapeError);
  for (const Id stray : {-1, 10, -2147483647 - 1, 2147483647}) {
    tokens(1, 2) = stray;
    try {
      run(labels);
      BOOST_ERROR("accepted " << stray);
    } catch (const IndexError& error) {
      BOOST_CHECK_EQUAL(error.argument(), "tokens(1, 2)");
      BOOST_CHECK_EQUAL(error.value(), std::to_string(stray));
    }
  }
  BOOST_CHECK_THROW(Model::Workspace(-1), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(a_run_that_blew_up_says_so) {
  using Model = model::EmbMlp<float, model::EmbMlpSizes{}, nn::Identity>;
  const auto p = random_parameters<Model>(10, 2, 3, 1e15);
  const Batch b = random_batch(4, 2, 10);
  BOOST_CHECK_THROW(fused<Model>(p, b), NonFiniteError);
}

BOOST_AUTO_TEST_CASE(static_and_dynamic_sizes_give_the_same_bits) {
  constexpr model::EmbMlpSizes fixed{.vocab = 23, .width = 9, .hidden = 13};
  const auto pd = random_parameters<model::EmbMlp<double>>(23, 9, 13);
  const auto ps = random_parameters<model::EmbMlp<double, fixed>>(23, 9, 13);
  const Batch b = random_batch(50, 3, 23);
  const auto d = fused<model::EmbMlp<double>>(pd, b);
  const auto s = fused<model::EmbMlp<double, fixed>>(ps, b);
  BOOST_CHECK_EQUAL(d.first, s.first);
  BOOST_CHECK_EQUAL((d.second.flat() - s.second.flat()).cwiseAbs().maxCoeff(), 0.0);
}

BOOST_AUTO_TEST_SUITE_END()
