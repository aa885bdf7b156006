// SPDX-License-Identifier: MIT
#include <boost/test/unit_test.hpp>

#include <incipit/data/certificate.hpp>

#include <sstream>

#include "data/refused.hpp"

using namespace incipit;
using data::AnchorTask;
using data::Certificate;
using data::Dataset;
using data::MemoryMap;
using data::Task;
using test::check_refused;

namespace {

struct Fixture {
  AnchorTask task = AnchorTask::paper();
  MemoryMap mapping{task, RandomStream(5, "memory map")};
  Dataset set;

  explicit Fixture(Extent samples = 20'000) {
    task.samples = samples;
    set = sample(task, mapping, RandomStream(6, "set"));
  }
  Certificate certificate() const { return certify(task, mapping, set); }
  Extent place(Extent n) const {
    Extent x = 0;
    while (set.train.tokens(n, x) > 20) ++x;
    return x - 1;
  }
  Id& label(Extent n) { return set.train.labels[static_cast<std::size_t>(n)]; }
  // Moves key and anchors of a row to another place; noise keeps its order.
  void move(Extent n, Extent to) {
    std::vector<Id> row(set.train.tokens.row(n).data(), set.train.tokens.row(n).data() + 9);
    const auto from = row.begin() + place(n);
    const std::vector<Id> core(from, from + 3);
    row.erase(from, from + 3);
    row.insert(row.begin() + to, core.begin(), core.end());
    set.train.tokens.row(n) = Eigen::Map<const Row<Id>>(row.data(), 9);
  }
  // A row of training of the wanted kind.
  Extent row(Task kind, std::size_t which = 0) const { return set.rows(kind)[which]; }
};

// The spoiled set must break the named line (and no certificate with a broken line holds).
void check_found(const Certificate& certificate, const std::string& name) {
  const std::vector<std::string> broken = certificate.broken();
  BOOST_TEST(!certificate.holds());
  BOOST_TEST((std::find(broken.begin(), broken.end(), name) != broken.end()), "not found: " << name << "\n"
                                                                                            << certificate);
}
void check_holds(const Certificate& certificate) { BOOST_TEST(certificate.holds(), certificate); }
double found(const Certificate& certificate, const std::string& name) {
  for (const auto& line : certificate.lines)
    if (line.name == name) return line.found;
  BOOST_ERROR("no line " << name);
  return -1;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(data_certificate)

BOOST_AUTO_TEST_CASE(keys_in_range_and_no_leak_of_position_in_200000_samples_u53) {
  const Fixture f(200'000);
  const Certificate certificate = f.certificate();
  check_holds(certificate);
  BOOST_TEST(found(certificate, "training: tokens that are neither keys nor anchors") == 0);
  const double leak = found(certificate, "training: mutual information of place and key in nats");
  const double bias = 6.0 * 99 / (2 * 198'000.0);
  BOOST_TEST(std::abs(leak / bias - 1) < 0.3);  // only what sampling gives: sd of the ratio is sqrt(2/594)
}

BOOST_AUTO_TEST_CASE(good_sets_of_all_kinds_hold) {
  for (const Extent samples : {200, 2'000, 15'000}) check_holds(Fixture(samples).certificate());
  const AnchorTask emb = AnchorTask::emb_mlp();
  const MemoryMap mapping(emb, RandomStream(1, "memory map"));
  check_holds(certify(emb, mapping, population(emb, mapping)));
  const AnchorTask around{.q = 3,
                          .length = 6,
                          .keys = {31, 60},
                          .memory = {1, 6},
                          .reasoning = {11, 16},
                          .held_out = {{11, 12, 13}},
                          .rule = data::MemoryRule::around_sum,
                          .samples = 4'320};
  AnchorTask grouped = around;
  grouped.memory = {1, 8};
  grouped.rule = data::MemoryRule::label_range_groups;
  grouped.samples = 4 * 8 + 216;
  for (const AnchorTask& task : {around, grouped}) {
    const MemoryMap map(task, RandomStream(2, "memory map"));
    check_holds(certify(task, map, sample(task, map, RandomStream(3, "set"))));
  }
}

BOOST_AUTO_TEST_CASE(a_good_set_is_rarely_refused) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Fixture f(1'000);
    f.set = sample(f.task, f.mapping, RandomStream(seed, "many sets"));
    check_holds(f.certificate());
  }
}

BOOST_AUTO_TEST_CASE(a_swapped_label_is_found) {
  Fixture f;
  std::swap(f.label(f.row(Task::reasoning)), f.label(f.row(Task::memory)));
  check_found(f.certificate(), "training: labels that the task does not give");
  Fixture g;
  g.set.held_out.labels[3] += 1;
  check_found(g.certificate(), "held out: labels that the task does not give");
}

BOOST_AUTO_TEST_CASE(a_mapping_that_changes_within_the_set_is_found) {
  Fixture f;
  const Extent n = f.row(Task::memory, 17);
  f.label(n) = f.label(n) == 21 ? 22 : 21;
  BOOST_TEST(found(f.certificate(), "training: labels that the task does not give") == 1);
}

BOOST_AUTO_TEST_CASE(labels_outside_the_vocabulary_are_found) {
  for (const Id bad : {-1, 161, 1'000'000}) {
    Fixture f;
    f.label(0) = bad;
    check_found(f.certificate(), "training: labels outside the vocabulary");
  }
}

BOOST_AUTO_TEST_CASE(a_leaked_held_out_tuple_is_found_u51) {
  Fixture f;
  const Extent n = f.row(Task::reasoning);
  const Extent p = f.place(n);
  f.set.train.tokens(n, p + 1) = 13;
  f.set.train.tokens(n, p + 2) = 11;
  f.label(n) = f.set.train.tokens(n, p) + 24;
  check_found(f.certificate(), "training: tuples of the other split");
  Fixture g;
  g.set.held_out.tokens.row(0) = g.set.train.tokens.row(g.row(Task::reasoning));
  g.set.held_out.labels[0] = g.label(g.row(Task::reasoning));
  check_found(g.certificate(), "held out: tuples of the other split");
}

BOOST_AUTO_TEST_CASE(a_filter_by_element_instead_of_pair_is_found_u51) {
  Fixture f;
  std::vector<Extent> kept;  // drops every pair that contains 11 or 13, as array containment does
  for (Extent n = 0; n < f.set.train.size(); ++n)
    if (((f.set.train.tokens.row(n).array() == 11) || (f.set.train.tokens.row(n).array() == 13)).count() == 0)
      kept.push_back(n);
  std::vector<Task> tasks;
  for (const Extent n : kept) tasks.push_back(f.set.tasks[static_cast<std::size_t>(n)]);
  f.set.train = select(f.set.train, kept);
  f.set.tasks = tasks;
  BOOST_TEST(found(f.certificate(), "training: anchor tuples that never occur") == 100 - 2 - 64);
}

BOOST_AUTO_TEST_CASE(biased_positions_are_found_u53) {
  Fixture f;
  for (Extent n = 0; n < 2'000; ++n) f.move(n, 0);
  check_found(f.certificate(), "training: places, chi-square against uniform");
}

BOOST_AUTO_TEST_CASE(a_position_that_tells_the_key_is_found_u53) {
  Fixture f;
  for (Extent n = 0; n < f.set.train.size(); n += 10) f.move(n, f.set.train.tokens(n, f.place(n)) % 7);
  check_found(f.certificate(), "training: mutual information of place and key in nats");
}

BOOST_AUTO_TEST_CASE(a_position_that_tells_the_label_or_the_anchors_is_found) {
  Fixture f;
  for (Extent n = 0; n < f.set.train.size(); n += 10) f.move(n, f.label(n) % 7);
  check_found(f.certificate(), "training: mutual information of place and label in nats");
  Fixture g;
  for (Extent n = 0; n < g.set.train.size(); n += 5) g.move(n, g.set.train.tokens(n, g.place(n) + 1) % 7);
  check_found(g.certificate(), "training: mutual information of place and anchors in nats");
}

BOOST_AUTO_TEST_CASE(keys_outside_their_range_are_found_u53) {
  for (const Id bad : {0, 121, 160, -7}) {
    Fixture f;
    f.set.train.tokens(5, f.place(5)) = bad;
    check_found(f.certificate(), "training: tokens that are neither keys nor anchors");
    Fixture g;
    g.set.held_out.tokens(0, 0) = bad;
    check_found(g.certificate(), "held out: tokens that are neither keys nor anchors");
  }
  Fixture noise;  // an anchor as noise key
  noise.set.train.tokens(5, noise.place(5) == 0 ? 8 : 0) = 3;
  check_found(noise.certificate(), "training: sequences without one run of q anchors of one kind behind a key");
}

BOOST_AUTO_TEST_CASE(keys_that_are_not_uniform_are_found) {
  Fixture f;
  for (Extent n = 0; n < 200; ++n) {
    const Extent p = f.place(n);
    const Id old = f.set.train.tokens(n, p);
    f.set.train.tokens(n, p) = 21;
    const std::vector<Id> anchors{f.set.train.tokens(n, p + 1), f.set.train.tokens(n, p + 2)};
    f.label(n) =
        f.set.tasks[static_cast<std::size_t>(n)] == Task::memory ? f.mapping.label(21, anchors) : f.label(n) - old + 21;
  }
  BOOST_TEST((f.certificate().broken() == std::vector<std::string>{"training: keys, chi-square against uniform"}));
}

BOOST_AUTO_TEST_CASE(mixed_kinds_and_missing_anchors_are_found) {
  const std::string line = "training: sequences without one run of q anchors of one kind behind a key";
  Fixture mixed;
  const Extent n = mixed.row(Task::memory);
  mixed.set.train.tokens(n, mixed.place(n) + 2) = 15;
  check_found(mixed.certificate(), line);
  Fixture missing;
  missing.set.train.tokens.row(4).setConstant(50);
  check_found(missing.certificate(), line);
  Fixture first;  // anchors at the start have no key in front of them
  first.move(9, 0);
  const Id key = first.set.train.tokens(9, 0);
  first.set.train.tokens.row(9).head(8) = first.set.train.tokens.row(9).tail(8).eval();
  first.set.train.tokens(9, 8) = key;
  check_found(first.certificate(), line);
}

BOOST_AUTO_TEST_CASE(duplicated_tuple_counts_are_found) {
  Fixture f;
  const Extent a = f.row(Task::memory, 0);
  Extent b = f.row(Task::memory, 1);
  for (std::size_t k = 1;
       f.set.train.tokens.row(b).segment(f.place(b) + 1, 2) == f.set.train.tokens.row(a).segment(f.place(a) + 1, 2);)
    b = f.row(Task::memory, ++k);
  f.set.train.tokens.row(b) = f.set.train.tokens.row(a);
  f.label(b) = f.label(a);
  BOOST_TEST(found(f.certificate(), "training: spread of the counts per ordered anchor tuple") == 2);
  check_found(f.certificate(), "training: spread of the counts per ordered anchor tuple");
}

BOOST_AUTO_TEST_CASE(wrong_task_tags_are_found) {
  Fixture f;
  f.set.tasks[7] = f.set.tasks[7] == Task::memory ? Task::reasoning : Task::memory;
  check_found(f.certificate(), "training: task tags that are wrong");
}

BOOST_AUTO_TEST_CASE(an_empty_held_out_set_is_found) {
  Fixture f;
  f.set.held_out = select(f.set.held_out, {});
  check_found(f.certificate(), "held out: anchor tuples that never occur");
}

BOOST_AUTO_TEST_CASE(it_prints_verdict_figures_and_the_first_offence) {
  Fixture f;
  f.set.train.tokens(5, f.place(5)) = 121;
  std::ostringstream out;
  out << f.certificate();
  BOOST_TEST(
      out.str().find(
          "BROKEN  training: tokens that are neither keys nor anchors: found 1, allowed 0 (row 5: token 121)\n") !=
      std::string::npos);
  BOOST_TEST(out.str().find("holds   held out: labels that the task does not give: found 0, allowed 0\n") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(sets_of_another_shape_are_refused) {
  Fixture f;
  f.set.tasks.pop_back();
  check_refused<ShapeError>([&] { f.certificate(); }, "tasks.size()", "exactly 19800");
  Fixture g;
  g.task.length = 8;
  check_refused<ShapeError>([&] { g.certificate(); }, "train.length()", "got 9, allowed: exactly 8");
}

BOOST_AUTO_TEST_CASE(mutual_information_of_known_tables) {
  std::vector<std::int64_t> a, b, c;
  for (std::int64_t n = 0; n < 400; ++n) a.push_back(n % 4), b.push_back(n / 4 % 5), c.push_back(7 - n % 4);
  BOOST_TEST(std::abs(data::mutual_information(a, b).value) < 1e-14);  // every pair equally often
  BOOST_TEST(std::abs(data::mutual_information(a, c).value - std::log(4.0)) < 1e-14);
  BOOST_TEST(data::mutual_information(a, b).bias == 12.0 / 800);
  BOOST_TEST(data::mutual_information(a, a).allowed < std::log(4.0));
  check_refused<ShapeError>([&] { data::mutual_information(a, {}); }, "b.size()", "exactly 400");
  check_refused<ShapeError>([] { data::mutual_information({}, {}); }, "a.size()", "at least 1");
}

BOOST_AUTO_TEST_SUITE_END()
