// SPDX-License-Identifier: MIT
#include <incipit/init/initialize.hpp>
#include <incipit/model/emb_mlp.hpp>
#include <incipit/optim/adam.hpp>
#include <incipit/optim/gradient_descent.hpp>
#include <incipit/train/minibatches.hpp>
#include <incipit/train/trainer.hpp>

#include <boost/test/unit_test.hpp>

#include <support/allocation_count.hpp>

#include <set>

using namespace incipit;
using Model = model::EmbMlp<double>;

namespace {

// 23 rows; tokens (a, b) and (b, a) are the same input for a sum, with labels that may differ.
data::Examples some_examples() {
  const RandomStream stream(1, "examples");
  data::Examples set{Mat<Id>(23, 2), std::vector<Id>(23), 7};
  for (Extent n = 0; n < 23; ++n) {
    const auto i = static_cast<std::uint64_t>(n);
    set.tokens(n, 0) = static_cast<Id>(stream.integer(2 * i, 4));
    set.tokens(n, 1) = static_cast<Id>(stream.integer(2 * i + 1, 4));
    set.labels[static_cast<std::size_t>(n)] = static_cast<Id>(stream.child("labels").integer(i, 7));
  }
  return set;
}

Model::Parameters start() {
  Model::Parameters p(7, 4, 5);
  init::initialize(p, init::Gamma{0.3}, 2);
  return p;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(train_trainer)

BOOST_AUTO_TEST_CASE(every_epoch_visits_every_row_once_in_an_order_of_its_own) {
  train::EpochOrder order(23, 5, RandomStream(3, "order"));
  BOOST_CHECK_EQUAL(order.per_epoch(), 5);
  std::vector<std::vector<Extent>> epochs(2);
  for (long long k = 0; k < 10; ++k) {
    const auto rows = order(k);
    BOOST_CHECK_EQUAL(rows.size(), k % 5 == 4 ? 3U : 5U);
    epochs[static_cast<std::size_t>(k / 5)].insert(epochs[static_cast<std::size_t>(k / 5)].end(), rows.begin(), rows.end());
  }
  for (const auto& epoch : epochs) BOOST_CHECK_EQUAL(std::set<Extent>(epoch.begin(), epoch.end()).size(), 23U);
  BOOST_CHECK(epochs[0] != epochs[1]);
}

BOOST_AUTO_TEST_CASE(a_resumed_run_gets_the_same_batches) {
  const auto set = some_examples();
  train::Minibatches straight(set, 5, RandomStream(3, "order")), resumed(set, 5, RandomStream(3, "order"));
  for (long long k = 0; k < 8; ++k) straight(k);
  const data::Examples a = straight(8), b = resumed(8);
  BOOST_CHECK((a.tokens.array() == b.tokens.array()).all() && a.labels == b.labels);
  BOOST_CHECK_THROW(train::Minibatches(set, 0, RandomStream(3, "order")), InvalidArgument);
  BOOST_CHECK_THROW(train::Minibatches(set, 24, RandomStream(3, "order")), InvalidArgument);
  BOOST_CHECK_THROW(straight(-1), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(merged_full_batch_has_the_loss_and_gradient_of_the_set) {
  const auto set = some_examples();
  const train::FullBatch<double> batch(set);
  BOOST_CHECK_LT(batch.tokens().rows(), set.size());
  train::Trainer<Model, optim::GradientDescent<double>> merged(start(), {StepSize{0.1}}), plain(start(), {StepSize{0.1}});
  const double a = merged.step(batch), b = plain.step(set);
  BOOST_CHECK_SMALL(a - b, 1e-14);
  BOOST_CHECK_SMALL((merged.parameters.flat() - plain.parameters.flat()).cwiseAbs().maxCoeff(), 1e-15);
  BOOST_CHECK_SMALL((plain.parameters.flat() - (start().flat() - 0.1 * plain.gradient.flat())).cwiseAbs().maxCoeff(), 1e-16);
}

BOOST_AUTO_TEST_CASE(merged_minibatches_average_to_the_full_gradient) {
  const auto set = some_examples();
  const train::FullBatch<double> batch(set);
  const auto parameters = start();
  Model::Workspace ws;
  Model::Parameters full(7, 4, 5), sum(7, 4, 5);
  Model{}.loss_and_gradient(parameters, batch.tokens(), batch.labels(), ws, full);
  train::MergedMinibatches<double> batches(batch, 1, RandomStream(4, "merged"));
  const Extent inputs = batch.tokens().rows();
  for (long long k = 0; k < inputs; ++k) {
    batches.draw(k);
    Model{}.loss_and_gradient(parameters, batches.tokens(), batches.labels(), ws, sum);
  }
  BOOST_CHECK_SMALL((sum.flat() / static_cast<double>(inputs) - full.flat()).cwiseAbs().maxCoeff(), 1e-15);
}

BOOST_AUTO_TEST_CASE(training_with_short_last_batches_allocates_nothing_after_an_epoch) {
  const auto set = some_examples();
  const train::FullBatch<double> batch(set);
  train::Trainer<Model, optim::Adam<double>> trainer(start(), optim::Adam<double>(start().flat().size(), {}));
  train::Minibatches batches(set, 5, RandomStream(3, "order"));
  train::MergedMinibatches<double> merged(batch, 3, RandomStream(3, "merged"));
  const auto epochs = [&](long long from, long long to) {
    for (long long k = from; k < to; ++k) {
      trainer.step(batches(k));
      merged.draw(k);
      trainer.step(merged.tokens(), merged.labels());
    }
  };
  epochs(0, 10);
  const test::AllocationCount before;
  epochs(10, 40);
  BOOST_CHECK_EQUAL(before.count(), 0U);
}

BOOST_AUTO_TEST_CASE(evaluation_is_the_mean_loss_and_the_share_of_hits) {
  const auto set = some_examples();
  const auto parameters = start();
  Model::Workspace ws;
  Model::Cache cache;
  const Mat<double> z = Model{}.forward(parameters, set.tokens, cache);
  double loss = 0, hits = 0;
  for (Extent n = 0; n < set.size(); ++n) {
    const Id y = set.labels[static_cast<std::size_t>(n)];
    loss += std::log(z.row(n).array().exp().sum()) - z(n, y);
    hits += z(n, y) == z.row(n).maxCoeff();
  }
  const auto score = train::evaluate<Model>(parameters, set, ws);
  BOOST_CHECK_CLOSE_FRACTION(score.loss, loss / 23, 1e-14);
  BOOST_CHECK_CLOSE_FRACTION(score.accuracy + 1, hits / 23 + 1, 1e-15);
}

BOOST_AUTO_TEST_CASE(one_workspace_serves_models_of_other_sizes) {
  Model::Workspace ws;
  for (const auto& [vocab, width, hidden] : {std::tuple{11, 4, 5}, std::tuple{7, 4, 5}, std::tuple{13, 2, 5}, std::tuple{7, 4, 9}}) {
    Model::Parameters p(vocab, width, hidden), a(vocab, width, hidden), b(vocab, width, hidden);
    init::initialize(p, init::Gamma{0.3}, 2);
    const auto set = some_examples();
    const loss::LabelRows<double> labels{std::span<const Id>(set.labels)};
    Model::Workspace fresh;
    Model{}.loss_and_gradient(p, set.tokens, labels, ws, a);
    Model{}.loss_and_gradient(p, set.tokens, labels, fresh, b);
    BOOST_CHECK_EQUAL((a.flat() - b.flat()).cwiseAbs().maxCoeff(), 0.0);
    Model::Parameters other(vocab, width, hidden + 1);
    BOOST_CHECK_THROW(Model{}.loss_and_gradient(p, set.tokens, labels, ws, other), ShapeError);
  }
}

BOOST_AUTO_TEST_SUITE_END()
