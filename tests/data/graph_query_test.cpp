// SPDX-License-Identifier: MIT
#include <incipit/data/graph_query.hpp>

#include <boost/test/unit_test.hpp>

#include <map>
#include <set>

using namespace incipit;
using data::GraphQueries;
using data::GraphSource;

namespace {

data::Examples drawn(const GraphQueries& task, Extent count, std::uint64_t seed = 1) {
  return data::sample(task, count, RandomStream(7, "graph"), RandomStream(seed, "set"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(data_graph_query)

BOOST_AUTO_TEST_CASE(the_question_has_one_answer_and_it_stands_in_the_sequence) {
  for (const GraphSource source : {GraphSource::own, GraphSource::shared}) {
    const GraphQueries task{{3, 22}, 30, 5, source};
    const auto set = drawn(task, 500);
    set.validate();
    BOOST_CHECK_EQUAL(set.length(), 11);
    std::array<int, 5> asked{};
    for (Extent n = 0; n < set.size(); ++n) {
      std::set<Id> sources, nodes;
      for (Extent e = 0; e < 5; ++e) {
        BOOST_CHECK(task.nodes.contains(set.tokens(n, 2 * e)) && task.nodes.contains(set.tokens(n, 2 * e + 1)));
        sources.insert(set.tokens(n, 2 * e));
        nodes.insert({set.tokens(n, 2 * e), set.tokens(n, 2 * e + 1)});
        if (set.tokens(n, 2 * e) != set.tokens(n, 10)) continue;
        ++asked[static_cast<std::size_t>(e)];
        BOOST_CHECK_EQUAL(set.labels[static_cast<std::size_t>(n)], set.tokens(n, 2 * e + 1));
      }
      BOOST_CHECK_EQUAL(sources.size(), 5u);
      if (source == GraphSource::own) BOOST_CHECK_EQUAL(nodes.size(), 10u);
    }
    for (const int count : asked) BOOST_CHECK(count > 60 && count < 140);  // 100 each, 4.5 standard errors: 40
  }
}

BOOST_AUTO_TEST_CASE(a_shared_graph_gives_every_source_one_target_and_an_own_graph_many) {
  const auto targets = [](GraphSource source) {
    const auto set = drawn({{0, 19}, 20, 3, source}, 2000);
    std::map<Id, std::set<Id>> seen;
    for (Extent n = 0; n < set.size(); ++n) seen[set.tokens(n, 6)].insert(set.labels[static_cast<std::size_t>(n)]);
    std::pair<std::size_t, std::size_t> range{seen.begin()->second.size(), 0};
    for (const auto& [from, to] : seen) range = {(std::min)(range.first, to.size()), (std::max)(range.second, to.size())};
    return range;
  };
  BOOST_CHECK(targets(GraphSource::shared) == std::pair(std::size_t{1}, std::size_t{1}));
  BOOST_CHECK_GE(targets(GraphSource::own).first, 15u);  // of 19; 100 questions for each source
}

BOOST_AUTO_TEST_CASE(a_fresh_set_shares_the_graph_and_a_longer_one_begins_alike) {
  const GraphQueries task{{0, 19}, 20, 3, GraphSource::shared};
  const auto first = drawn(task, 300), fresh = drawn(task, 300, 2), longer = drawn(task, 400);
  std::map<Id, Id> map;
  for (Extent n = 0; n < 300; ++n) map[first.tokens(n, 6)] = first.labels[static_cast<std::size_t>(n)];
  for (Extent n = 0; n < 300; ++n) BOOST_CHECK_EQUAL(fresh.labels[static_cast<std::size_t>(n)], map[fresh.tokens(n, 6)]);
  BOOST_CHECK(first.tokens != fresh.tokens);
  BOOST_CHECK(first.tokens == longer.tokens.topRows(300));
}

BOOST_AUTO_TEST_CASE(wrong_settings_are_refused_with_the_reason) {
  const auto refused = [](GraphQueries task, std::string_view word) {
    BOOST_CHECK_EXCEPTION(drawn(task, 1), InvalidArgument, [&](const Error& e) { return std::string_view(e.what()).find(word) != std::string_view::npos; });
  };
  refused({{-1, 20}, 30, 2}, "nodes.first");
  refused({{0, 6}, 30, 4}, "nodes");
  refused({{0, 20}, 20, 4}, "vocab");
  refused({{0, 20}, 30, 0}, "edges");
  BOOST_CHECK_THROW(drawn({}, 0), InvalidArgument);
  BOOST_CHECK_EQUAL(drawn({{0, 1}, 2, 1}, 3).length(), 3);  // the smallest
}

BOOST_AUTO_TEST_SUITE_END()
