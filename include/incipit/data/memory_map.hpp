// SPDX-License-Identifier: MIT
/// @file
/// @brief One drawn memory mapping: the label of every combination of a key and memory anchors.
#pragma once

#include <incipit/core/random.hpp>
#include <incipit/data/anchor_task.hpp>

namespace incipit::inline INCIPIT_ABI::data {

/// @brief The mapping (z, a_1..a_q) -> label of the memory anchors, drawn once and then fixed for every sequence.
/// @details Combination c = tuple * N_Z + (z - first key), with the tuple index of AnchorTask::for_each_tuple. Its
/// label is lo + integer(c, n) of the stream, for the range lo..lo+n-1 of the task's rule; so no label depends on
/// another. One mapping serves every length, held-out set and vocabulary of the task.
/// @par Checked tests/data/memory_map_test.cpp
class MemoryMap {
 public:
  /// @brief Draws the mapping of `task` from `stream`.
  /// @par Errors those of AnchorTask::validate. @par Cost O(q) time and one id of memory a combination.
  MemoryMap(const AnchorTask& task, const RandomStream& stream) : task_(checked(task)) {
    labels_.reserve(static_cast<std::size_t>(task.tuples(Task::memory) * task.keys.size()));
    for_each_range([&](IdRange range) {
      const auto drawn = stream.integer(labels_.size(), static_cast<std::uint64_t>(range.size()));
      labels_.push_back(range.first + static_cast<Id>(drawn));
    });
  }

  /// @brief Takes a mapping given as labels by combination c.
  /// @par Errors those of AnchorTask::validate; ShapeError for another number of labels; IndexError naming the first
  /// label outside the range of its combination.
  MemoryMap(const AnchorTask& task, std::vector<Id> labels) : task_(checked(task)), labels_(std::move(labels)) {
    require_size("labels.size()", labels_.size(), task.tuples(Task::memory) * task.keys.size());
    std::size_t c = 0;
    for_each_range([&](IdRange range) {
      if (!range.contains(labels_[c])) [[unlikely]]
        fail<IndexError>("labels[" + std::to_string(c) + "]", labels_[c], range.text());
      ++c;
    });
  }

  /// Label of a combination; InvalidArgument if `key` is no key or `anchors` no memory tuple of the task.
  Id label(Id key, std::span<const Id> anchors) const { return label(key, task_.memory_index(anchors)); }
  /// Label of a combination by index of its tuple; InvalidArgument or IndexError if there is no such combination.
  Id label(Id key, std::int64_t tuple) const {
    require(task_.keys.contains(key), "key", key, "a key of the task");
    const std::int64_t c = tuple * task_.keys.size() + (key - task_.keys.first);
    require<IndexError>(tuple >= 0 && c < static_cast<std::int64_t>(labels_.size()), "tuple", tuple, "a memory tuple");
    return labels_[static_cast<std::size_t>(c)];
  }
  /// All labels by combination c.
  const std::vector<Id>& labels() const { return labels_; }

  /// Contract: throws InvalidArgument unless the mapping was made for these anchors, keys and this rule.
  void require_made_for(const AnchorTask& task) const {
    const bool same = task.q == task_.q && task.keys == task_.keys && task.memory == task_.memory &&
                      task.rule == task_.rule && task.group_count() == task_.group_count() &&
                      (task.rule != MemoryRule::label_range_groups ||
                       (task.groups.first == task_.groups.first && task.groups.step == task_.groups.step));
    require(same, "mapping", "one of another task", "a MemoryMap with the task's q, keys, memory anchors and rule");
  }

 private:
  static const AnchorTask& checked(const AnchorTask& task) {
    task.validate();
    return task;
  }
  template <class Visit>
  void for_each_range(Visit visit) const {
    task_.for_each_tuple(Task::memory, [&](std::int64_t, std::span<const Id> anchors) {
      for (Id key = task_.keys.first; key <= task_.keys.last; ++key) visit(task_.memory_labels(key, anchors));
    });
  }

  AnchorTask task_;
  std::vector<Id> labels_;
};

}  // namespace incipit::inline INCIPIT_ABI::data
