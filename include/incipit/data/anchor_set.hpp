// SPDX-License-Identifier: MIT
/// @file
/// @brief Anchor data: sampled sets with equal counts per anchor tuple, and the exact full population.
#pragma once

#include <incipit/data/examples.hpp>
#include <incipit/data/memory_map.hpp>

namespace incipit::inline INCIPIT_ABI::data {

/// @brief A training set and its reasoning test set.
struct Dataset {
  Examples train;           ///< memory and reasoning sequences
  std::vector<Task> tasks;  ///< (N) task of every training sequence, so that losses can be measured by task
  Examples held_out;        ///< sequences of held-out tuples only, all of Task::held_out; no rows if none are held out
  TokenGroups groups;       ///< tokens by role

  /// Rows of `train` that are of one task, ascending.
  std::vector<Extent> rows(Task task) const {
    std::vector<Extent> found;
    for (std::size_t n = 0; n < tasks.size(); ++n)
      if (tasks[n] == task) found.push_back(static_cast<Extent>(n));
    return found;
  }
  /// The sequences of one task: the held-out set, or those rows of `train`.
  Examples of(Task task) const { return task == Task::held_out ? held_out : select(train, rows(task)); }
};

namespace detail {
inline Dataset empty_dataset(const AnchorTask& task, std::int64_t per_tuple) {
  const Extent held = static_cast<Extent>(task.tuples(Task::held_out) * per_tuple);
  const Extent rows = static_cast<Extent>(task.all_tuples() * per_tuple) - held;
  const auto room = [&](Extent n) {
    return Examples{Mat<Id>(n, task.length), std::vector<Id>(static_cast<std::size_t>(n)), task.vocabulary()};
  };
  return {room(rows), std::vector<Task>(static_cast<std::size_t>(rows)), room(held), task.token_groups()};
}
inline Id anchor_label(const AnchorTask& task, const MemoryMap& mapping, Task kind, std::int64_t tuple, Id key,
                       std::span<const Id> anchors) {
  return kind == Task::memory ? mapping.label(key, tuple) : task.reasoning_label(key, anchors);
}
}  // namespace detail

/// @brief Draws a set: `task.samples` sequences, equally many of every ordered anchor tuple, held-out tuples apart.
/// @details Key, noise keys and the place of the key are uniform and independent; sequence i of the unshuffled order
/// takes number i of the streams "key" and "position" and number i (L-q-1) + j of "noise"; "shuffle" and "shuffle
/// held-out" then give the order of the rows. Another stream with the same mapping gives a fresh set of the same task.
/// @par Errors those of AnchorTask::validate; InvalidArgument if the tuples do not divide `task.samples`, or the
/// mapping is not the task's. @par Cost O(samples L).
inline Dataset sample(const AnchorTask& task, const MemoryMap& mapping, const RandomStream& stream) {
  task.validate();
  mapping.require_made_for(task);
  require(task.samples >= 1 && task.samples % task.all_tuples() == 0, "samples", task.samples,
          "a positive multiple of the number of ordered anchor tuples, " + std::to_string(task.all_tuples()));
  const std::int64_t per_tuple = task.samples / task.all_tuples();
  Dataset set = detail::empty_dataset(task, per_tuple);
  const auto train_order = stream.child("shuffle").permutation(set.train.size());
  const auto held_out_order = stream.child("shuffle held-out").permutation(set.held_out.size());
  const RandomStream keys = stream.child("key"), places = stream.child("position"), noises = stream.child("noise");
  const auto any_key = [&](const RandomStream& from, std::uint64_t index) {
    return task.keys.first + static_cast<Id>(from.integer(index, static_cast<std::uint64_t>(task.keys.size())));
  };
  std::uint64_t i = 0, noise = 0;
  std::size_t train_row = 0, held_out_row = 0;
  for (const Task kind : {Task::memory, Task::reasoning, Task::held_out})
    task.for_each_tuple(kind, [&](std::int64_t tuple, std::span<const Id> anchors) {
      for (std::int64_t repeat = 0; repeat < per_tuple; ++repeat, ++i) {
        const bool held_out = kind == Task::held_out;
        Examples& to = held_out ? set.held_out : set.train;
        const Extent n = held_out ? held_out_order[held_out_row++] : train_order[train_row++];
        const Id key = any_key(keys, i);
        const auto place = static_cast<Extent>(places.integer(i, static_cast<std::uint64_t>(task.positions())));
        for (Extent x = 0; x < task.length; ++x) {
          const Extent behind_key = x - place;
          if (behind_key == 0)
            to.tokens(n, x) = key;
          else if (behind_key >= 1 && behind_key <= task.q)
            to.tokens(n, x) = anchors[static_cast<std::size_t>(behind_key - 1)];
          else
            to.tokens(n, x) = any_key(noises, noise++);
        }
        to.labels[static_cast<std::size_t>(n)] = detail::anchor_label(task, mapping, kind, tuple, key, anchors);
        if (!held_out) set.tasks[static_cast<std::size_t>(n)] = kind;
      }
    });
  return set;
}

/// @brief The full population without noise (L = q + 1): every key with every ordered tuple, once, unshuffled.
/// @details Memory tuples come first, then reasoning ones, keys ascending within a tuple.
/// @par Errors those of AnchorTask::validate; InvalidArgument for L > q + 1, whose noise cannot be enumerated (its
/// exact law is `population_statistics`), for more than 2^31 - 1 token entries, or if the mapping is not the task's.
/// @par Cost O(N L) for N = N_Z (all tuples).
inline Dataset population(const AnchorTask& task, const MemoryMap& mapping) {
  task.validate();
  mapping.require_made_for(task);
  require(task.noise() == 0, "length", task.length,
          "q + 1 = " + std::to_string(task.q + 1) + ": noise keys are not enumerated, use population_statistics");
  require(task.all_tuples() * task.keys.size() <= (std::numeric_limits<std::int32_t>::max)() / task.length,
          "combinations", task.all_tuples() * task.keys.size(), "a population of less than 2^31 token entries");
  Dataset set = detail::empty_dataset(task, task.keys.size());
  Extent train_row = 0, held_out_row = 0;
  for (const Task kind : {Task::memory, Task::reasoning, Task::held_out})
    task.for_each_tuple(kind, [&](std::int64_t tuple, std::span<const Id> anchors) {
      for (Id key = task.keys.first; key <= task.keys.last; ++key) {
        const bool held_out = kind == Task::held_out;
        Examples& to = held_out ? set.held_out : set.train;
        const Extent n = held_out ? held_out_row++ : train_row++;
        to.tokens(n, 0) = key;
        for (Extent a = 0; a < task.q; ++a) to.tokens(n, a + 1) = anchors[static_cast<std::size_t>(a)];
        to.labels[static_cast<std::size_t>(n)] = detail::anchor_label(task, mapping, kind, tuple, key, anchors);
        if (!held_out) set.tasks[static_cast<std::size_t>(n)] = kind;
      }
    });
  return set;
}

}  // namespace incipit::inline INCIPIT_ABI::data
