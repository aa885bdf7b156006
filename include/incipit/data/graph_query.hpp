// SPDX-License-Identifier: MIT
/// @file
/// @brief Questions about a graph that stands in the sequence: rules in context, or one graph to remember.
#pragma once

#include <incipit/core/random.hpp>
#include <incipit/data/anchor_task.hpp>
#include <incipit/data/examples.hpp>

namespace incipit::inline INCIPIT_ABI::data {

/// Where the edges of a sequence come from.
enum class GraphSource : std::uint8_t {
  own,    ///< every sequence draws its own graph: the answer stands only in the sequence
  shared  ///< all sequences show edges of one permutation of the nodes: the answer can be remembered
};

/// @brief Sequences (a_1, b_1, ..., a_E, b_E, a_j) of E edges a -> b and a question; the label is b_j.
struct GraphQueries {
  IdRange nodes{21, 120};                  ///< ids of the nodes
  Extent vocab = 161;                      ///< D, above every node
  Extent edges = 4;                        ///< E, edges shown
  GraphSource source = GraphSource::own;   ///< own graph or one for all

  /// Length of a sequence, 2 E + 1.
  Extent length() const { return 2 * edges + 1; }
  /// @throws InvalidArgument naming the setting that does not fit.
  void validate() const {
    require(nodes.first >= 0, "nodes.first", nodes.first, "at least 0");
    require(edges >= 1, "edges", edges, "at least 1");
    if (nodes.size() < 2 * edges) [[unlikely]]
      fail<InvalidArgument>("nodes", nodes.text(), "at least 2 x edges = " + std::to_string(2 * edges) + " ids");
    require(vocab > nodes.last, "vocab", vocab, "above the last node");
  }
};

/// @brief Draws N sequences; the same task, graph stream and sequence stream give the same set.
/// @param task    see GraphQueries.
/// @param count   N, at least 1.
/// @param graph   the shared permutation, stream "edges" of it; unused with GraphSource::own.
/// @param stream  sequence n takes the stream child(n).
/// @details Sources are distinct. An own graph has distinct targets that are no sources, so that no answer follows from
/// anything but the edge; a shared one maps a -> pi(a) with one permutation pi without regard to that.
/// @throws InvalidArgument for wrong settings. @par Cost O(N nodes).
inline Examples sample(const GraphQueries& task, Extent count, const RandomStream& graph, const RandomStream& stream) {
  task.validate();
  require(count >= 1, "count", count, "at least 1");
  Examples out{Mat<Id>(count, task.length()), std::vector<Id>(static_cast<std::size_t>(count)), task.vocab};
  const auto node = [&](Extent i) { return task.nodes.first + static_cast<Id>(i); };
  const auto shared = graph.child("edges").permutation(task.nodes.size());
  for (Extent n = 0; n < count; ++n) {
    const RandomStream own = stream.child(static_cast<std::uint64_t>(n));
    const auto order = own.child("nodes").permutation(task.nodes.size());
    const auto asked = static_cast<Extent>(own.child("question").integer(0, static_cast<std::uint64_t>(task.edges)));
    for (Extent e = 0; e < task.edges; ++e) {
      const Extent from = order[static_cast<std::size_t>(e)];
      const Extent to = task.source == GraphSource::own ? order[static_cast<std::size_t>(task.edges + e)]
                                                        : shared[static_cast<std::size_t>(from)];
      out.tokens(n, 2 * e) = node(from);
      out.tokens(n, 2 * e + 1) = node(to);
      if (e != asked) continue;
      out.tokens(n, 2 * task.edges) = node(from);
      out.labels[static_cast<std::size_t>(n)] = node(to);
    }
  }
  return out;
}

}  // namespace incipit::inline INCIPIT_ABI::data
