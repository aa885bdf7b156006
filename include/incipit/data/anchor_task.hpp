// SPDX-License-Identifier: MIT
/// @file
/// @brief The composite anchor task: what a sequence of keys and anchors means, before any of it is drawn.
#pragma once

#include <incipit/core/matrix.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace incipit::inline INCIPIT_ABI::data {

/// @brief Consecutive ids first..last, both ends included.
struct IdRange {
  Id first = 0;  ///< smallest id
  Id last = -1;  ///< largest id; smaller than `first` when the range is empty

  /// Number of ids.
  constexpr Extent size() const { return Extent{last} - first + 1; }
  /// True if `id` is one of them.
  constexpr bool contains(Id id) const { return first <= id && id <= last; }
  /// True if the two ranges share an id.
  constexpr bool overlaps(IdRange other) const { return first <= other.last && other.first <= last; }
  /// Same ends.
  friend constexpr bool operator==(IdRange, IdRange) = default;
  /// "21..120".
  std::string text() const { return std::to_string(first) + ".." + std::to_string(last); }
};

/// What the label of an example rests on.
enum class Task : std::uint8_t {
  memory,     ///< memory anchors: a drawn label, fixed for every sequence with the same combination
  reasoning,  ///< reasoning anchors: key plus the sum of the anchors
  held_out    ///< reasoning anchors whose ordered tuple never occurs in training
};

/// How the label of a memory combination (z, a_1..a_q) is drawn, once.
enum class MemoryRule : std::uint8_t {
  uniform_keys,       ///< F_mem1: uniform on the keys
  around_sum,         ///< F_mem2: uniform on {z - sum a .. z + sum a}
  label_range_groups  ///< anchors of one of G groups; group i = 1..G: uniform on {first .. first - 1 + step i}
};

/// Shape of MemoryRule::label_range_groups: memory anchors split by order into groups that never mix in a
/// sequence, of equal size or the first ones larger by one.
struct LabelGroups {
  Extent count = 4;  ///< G
  Id first = 30;     ///< smallest label of every group
  Id step = 20;      ///< group i = 1..G has step * i labels
};

/// The tokens by role, as ranges of rows of an embedding.
struct TokenGroups {
  IdRange memory, reasoning, keys;
};

/// @brief A composite anchor task: q consecutive anchors behind a key, all other tokens keys that mean nothing.
/// @details A sequence of length L holds z_p, a_1..a_q at positions p..p+q (1-based, 1 <= p <= L - q). The label
/// depends on (z_p, a_1..a_q) alone: z_p + sum a_i for reasoning anchors, a drawn one for memory anchors; the kinds
/// never mix.
/// @par Source composite anchor functions, appendices A.1 and A.6-A.8 of the paper. @par Checked
/// tests/data/anchor_task_test.cpp
struct AnchorTask {
  Extent q = 2;                                ///< anchors in a sequence, 1 to 64
  Extent length = 9;                           ///< L >= q + 1
  IdRange keys{21, 120};                       ///< Z
  IdRange memory{1, 10};                       ///< memory anchors
  IdRange reasoning{11, 20};                   ///< reasoning anchors
  std::vector<std::vector<Id>> held_out{};     ///< ordered reasoning tuples that training never shows
  MemoryRule rule = MemoryRule::uniform_keys;  ///< how memory labels are drawn
  LabelGroups groups{};                        ///< read for MemoryRule::label_range_groups only
  Extent vocab = 0;                            ///< D; 0: the smallest that fits every token and label
  Extent samples = 200'000;                    ///< size of a sampled set, held-out sequences included

  /// Most (key, ordered tuple) combinations of one kind that a task may have.
  static constexpr std::int64_t max_combinations = std::int64_t{1} << 28;

  /// @brief The setting of the paper: q = 2, L = 9, held-out {(11,13), (13,11)}, 200 000 sequences, D = 161.
  static constexpr AnchorTask paper() {
    AnchorTask task;
    task.held_out = {{11, 13}, {13, 11}};
    return task;
  }
  /// @brief The same without noise (p = 1, L = q + 1): 19 800 training inputs and 200 held-out ones.
  static constexpr AnchorTask emb_mlp() {
    AnchorTask task = paper();
    task.length = task.q + 1;
    return task;
  }

  /// D: `vocab`, or the smallest vocabulary that holds every token and every label (161 in the paper).
  constexpr Extent vocabulary() const { return vocab != 0 ? vocab : Extent{1} + largest_id(); }
  /// The tokens by role.
  constexpr TokenGroups token_groups() const { return {memory, reasoning, keys}; }
  /// Noise keys in a sequence: L - q - 1.
  constexpr Extent noise() const { return length - q - 1; }
  /// Places where the key z_p may stand: L - q.
  constexpr Extent positions() const { return length - q; }

  /// Ordered anchor tuples of a kind: all memory ones, the reasoning ones shown in training, or the held-out ones.
  std::int64_t tuples(Task kind) const {
    if (kind == Task::held_out) return static_cast<std::int64_t>(held_out.size());
    if (kind == Task::reasoning) return power(reasoning.size()) - static_cast<std::int64_t>(held_out.size());
    std::int64_t n = 0;
    for (Extent g = 0; g < group_count(); ++g) n += power(group(g).size());
    return n;
  }
  /// All ordered anchor tuples, the held-out ones too.
  std::int64_t all_tuples() const { return tuples(Task::memory) + power(reasoning.size()); }

  /// @brief Visits the ordered tuples of a kind in ascending order (held-out ones as listed): `visit(index, anchors)`.
  /// @details The index counts from 0 within the kind and addresses MemoryMap for Task::memory. @par Cost O(q) a tuple.
  template <class Visit>
  void for_each_tuple(Task kind, Visit visit) const {
    std::int64_t index = 0;
    if (kind == Task::held_out) {
      for (const std::vector<Id>& anchors : held_out) visit(index++, std::span<const Id>(anchors));
      return;
    }
    std::vector<std::vector<Id>> skipped;
    if (kind == Task::reasoning) skipped = held_out;
    std::sort(skipped.begin(), skipped.end());
    auto skip = skipped.cbegin();
    const Extent groups_here = kind == Task::memory ? group_count() : 1;
    for (Extent g = 0; g < groups_here; ++g) {
      const IdRange range = kind == Task::memory ? group(g) : reasoning;
      std::vector<Id> anchors(static_cast<std::size_t>(q), range.first);
      do {
        if (skip != skipped.cend() && anchors == *skip)
          ++skip;
        else
          visit(index++, std::span<const Id>(anchors));
      } while (advance(anchors, range));
    }
  }

  /// @brief Index of a memory tuple in the order of for_each_tuple; InvalidArgument if it is none.
  std::int64_t memory_index(std::span<const Id> anchors) const {
    require_size("anchors.size()", anchors.size(), q);
    require(memory.contains(anchors[0]), "anchors[0]", anchors[0], "a memory anchor, " + memory.text());
    const IdRange range = group(group_of(anchors[0]));
    std::int64_t index = 0, before = 0;
    for (Extent g = 0; g < group_of(anchors[0]); ++g) before += power(group(g).size());
    for (const Id a : anchors) {
      require(range.contains(a), "anchors", a, "a memory anchor, " + range.text() + " in this tuple");
      index = index * range.size() + (a - range.first);
    }
    return before + index;
  }

  /// Kind of an ordered tuple; InvalidArgument if its anchors are of no kind or mixed.
  Task kind_of(std::span<const Id> anchors) const {
    require_size("anchors.size()", anchors.size(), q);
    if (memory.contains(anchors[0])) {
      memory_index(anchors);
      return Task::memory;
    }
    for (const Id a : anchors) require(reasoning.contains(a), "anchors", a, "a reasoning anchor, " + reasoning.text());
    const auto same = [&](const std::vector<Id>& tuple) {
      return std::equal(tuple.begin(), tuple.end(), anchors.begin());
    };
    return std::any_of(held_out.begin(), held_out.end(), same) ? Task::held_out : Task::reasoning;
  }

  /// Label of a reasoning (or held-out) combination: z + sum a.
  static Id reasoning_label(Id key, std::span<const Id> anchors) {
    for (const Id a : anchors) key += a;
    return key;
  }
  /// Range on which the label of a memory combination is drawn uniformly.
  IdRange memory_labels(Id key, std::span<const Id> anchors) const {
    switch (rule) {
      case MemoryRule::uniform_keys:
        return keys;
      case MemoryRule::around_sum: {
        const Id sum = reasoning_label(0, anchors);
        return {key - sum, key + sum};
      }
      case MemoryRule::label_range_groups:
        break;
    }
    require_size("anchors.size()", anchors.size(), q);
    require(memory.contains(anchors[0]), "anchors[0]", anchors[0], "a memory anchor, " + memory.text());
    return {groups.first, groups.first - 1 + groups.step * static_cast<Id>(group_of(anchors[0]) + 1)};
  }

  /// @brief Refuses every setting that is no task, with the reason.
  /// @par Errors InvalidArgument: q outside 1..64, L < q + 1, an empty or negative range, ranges that overlap, ids or
  /// labels beyond D, labels of F_mem2 below 0, more groups than memory anchors, held-out tuples of the
  /// wrong length, with anchors that are not reasoning anchors, or listed twice, all reasoning tuples held out, more
  /// than `max_combinations` combinations, a negative number of samples, more token entries than an Extent of 2^31 - 1
  /// counts.
  void validate() const {
    require(q >= 1 && q <= 64, "q", q, "1 to 64 anchors");
    require(length >= q + 1, "length", length, "at least q + 1 = " + std::to_string(q + 1) + ": a key and its anchors");
    require(length < max_entries, "length", length, "less than " + std::to_string(max_entries));
    require_range("keys", keys);
    require_range("memory", memory);
    require_range("reasoning", reasoning);
    require_apart("memory", memory, "keys", keys);
    require_apart("reasoning", reasoning, "keys", keys);
    require_apart("memory", memory, "reasoning", reasoning);
    require_rule();
    require_vocabulary();
    require_counts("memory", memory);
    require_counts("reasoning", reasoning);
    require_held_out();
    require(samples >= 0 && samples <= max_entries / length, "samples", samples,
            "0 to " + std::to_string(max_entries / length) + " sequences of this length");
  }

  /// Number of groups of memory anchors that never mix: G for MemoryRule::label_range_groups, else 1.
  constexpr Extent group_count() const { return rule == MemoryRule::label_range_groups ? groups.count : 1; }
  /// Memory anchors of group g = 0..G-1.
  constexpr IdRange group(Extent g) const {
    const Extent size = memory.size() / group_count(), larger = memory.size() % group_count();
    const Id first = memory.first + static_cast<Id>(g * size + (std::min)(g, larger));
    return {first, first + static_cast<Id>(size + (g < larger)) - 1};
  }

 private:
  static constexpr Extent max_entries = (std::numeric_limits<std::int32_t>::max)();

  constexpr Extent group_of(Id anchor) const {
    const Extent size = memory.size() / group_count(), larger = memory.size() % group_count(), at = anchor - memory.first;
    return at < larger * (size + 1) ? at / (size + 1) : (at - larger) / size;
  }
  std::int64_t power(Extent base) const {
    std::int64_t n = 1;
    for (Extent i = 0; i < q; ++i) n *= base;
    return n;
  }
  static bool advance(std::vector<Id>& anchors, IdRange range) {
    for (std::size_t i = anchors.size(); i-- > 0;) {
      if (anchors[i] < range.last) {
        ++anchors[i];
        return true;
      }
      anchors[i] = range.first;
    }
    return false;
  }
  constexpr std::int64_t largest_memory_label() const {
    switch (rule) {
      case MemoryRule::uniform_keys:
        return keys.last;
      case MemoryRule::around_sum:
        return std::int64_t{keys.last} + q * std::int64_t{memory.last};
      case MemoryRule::label_range_groups:
        break;
    }
    return std::int64_t{groups.first} - 1 + std::int64_t{groups.step} * groups.count;
  }
  constexpr std::int64_t largest_reasoning_label() const { return keys.last + q * std::int64_t{reasoning.last}; }
  constexpr std::int64_t largest_id() const {
    return (std::max)({std::int64_t{keys.last}, std::int64_t{memory.last}, std::int64_t{reasoning.last},
                       largest_memory_label(), largest_reasoning_label()});
  }

  static void require_range(const char* name, IdRange range) {
    require(range.first >= 0, name, range.text(), "ids from 0");
    require(range.first <= range.last, name, range.text(), "a range that is not empty, first <= last");
  }
  static void require_apart(const char* name, IdRange range, const std::string& other_name, IdRange other) {
    require(!range.overlaps(other), name, range.text(),
            "no id of " + other_name + " (" + other.text() + "): ranges overlap");
  }
  void require_rule() const {
    if (rule == MemoryRule::around_sum) {
      const std::int64_t smallest = std::int64_t{keys.first} - q * std::int64_t{memory.last};
      require(smallest >= 0, "F_mem2 (around_sum) smallest label z - sum a", smallest,
              "at least 0: F_mem2 leaves [0, D)");
    } else if (rule == MemoryRule::label_range_groups) {
      require(groups.count >= 1 && groups.count <= memory.size(), "groups.count", groups.count,
              "1 to the number of memory anchors, " + std::to_string(memory.size()));
      require(groups.first >= 0, "groups.first", groups.first, "at least 0");
      require(groups.step >= 1, "groups.step", groups.step, "at least 1 label");
    } else {
      require(rule == MemoryRule::uniform_keys, "rule", static_cast<int>(rule), "a MemoryRule");
    }
  }
  void require_vocabulary() const {
    require(vocab >= 0 && vocab <= max_entries, "vocab", vocab, "0 (smallest) to " + std::to_string(max_entries));
    require(largest_id() < max_entries, "largest label", largest_id(), "less than " + std::to_string(max_entries));
    const auto below = [&](const char* name, std::int64_t id) {
      require(id < vocabulary(), name, id, "less than vocab = " + std::to_string(vocabulary()));
    };
    below("keys.last", keys.last);
    below("memory.last", memory.last);
    below("reasoning.last", reasoning.last);
    below("largest reasoning label", largest_reasoning_label());
    below(rule == MemoryRule::around_sum ? "F_mem2 (around_sum) largest label z + sum a" : "largest memory label",
          largest_memory_label());
  }
  void require_counts(const char* name, IdRange range) const {
    std::int64_t n = keys.size();
    for (Extent i = 0; i <= q; ++i) {
      require(n <= max_combinations, name, range.text() + " with q = " + std::to_string(q),
              "at most " + std::to_string(max_combinations) + " combinations of a key and " + std::to_string(q) +
                  " anchors");
      n *= i < q ? std::int64_t{range.size()} : 1;
    }
  }
  void require_held_out() const {
    std::vector<std::vector<Id>> sorted = held_out;
    for (const std::vector<Id>& tuple : held_out) {
      require(static_cast<Extent>(tuple.size()) == q, "held_out", text(tuple),
              "tuples of q = " + std::to_string(q) + " anchors");
      for (const Id a : tuple)
        require(reasoning.contains(a), "held_out", text(tuple), "tuples of reasoning anchors, " + reasoning.text());
    }
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) fail<InvalidArgument>("held_out", text(*twice), "every tuple once");
    require(tuples(Task::reasoning) >= 1, "held_out", held_out.size(), "not all reasoning tuples: training needs one");
  }
  static std::string text(const std::vector<Id>& tuple) {
    std::string out = "(";
    for (const Id a : tuple) {
      if (out.size() > 1) out += ',';
      out += std::to_string(a);
    }
    return out + ")";
  }
};

}  // namespace incipit::inline INCIPIT_ABI::data
