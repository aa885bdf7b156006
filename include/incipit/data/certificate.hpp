// SPDX-License-Identifier: MIT
/// @file
/// @brief Proof, by reading it, that a set of anchor data is what its task says: counts, splits, labels, keys, no leak.
#pragma once

#include <incipit/data/anchor_set.hpp>

#include <cmath>
#include <map>
#include <ostream>
#include <utility>

namespace incipit::inline INCIPIT_ABI::data {

/// One line of a certificate: `found` must not exceed `allowed`.
struct CertificateLine {
  std::string name;     ///< what must hold, with the set it was read from
  double found = 0;     ///< number of offences, spread of counts, or a statistic
  double allowed = 0;   ///< largest acceptable value
  std::string where{};  ///< the first offence, empty if there is none

  /// True if the line holds.
  bool holds() const { return found <= allowed; }
};

/// @brief What was checked of a set and what was found; printable.
struct Certificate {
  std::vector<CertificateLine> lines;  ///< every check, in order

  /// True if every line holds.
  bool holds() const {
    return std::all_of(lines.begin(), lines.end(), [](const CertificateLine& line) { return line.holds(); });
  }
  /// Names of the lines that do not hold.
  std::vector<std::string> broken() const {
    std::vector<std::string> names;
    for (const CertificateLine& line : lines)
      if (!line.holds()) names.push_back(line.name);
    return names;
  }
  /// Prints one line a check: verdict, name, found, allowed and the first offence.
  friend std::ostream& operator<<(std::ostream& out, const Certificate& certificate) {
    for (const CertificateLine& line : certificate.lines) {
      out << (line.holds() ? "holds   " : "BROKEN  ") << line.name << ": found " << line.found << ", allowed "
          << line.allowed;
      if (!line.where.empty()) out << " (" << line.where << ')';
      out << '\n';
    }
    return out;
  }
};

/// @brief Mutual information of two discrete variables, in nats, beside what mere sampling gives.
struct MutualInformation {
  double value = 0;    ///< plug-in estimate, sum of p(a,b) ln(p(a,b) / (p(a) p(b)))
  double bias = 0;     ///< its mean for independent variables, to first order: (A - 1)(B - 1) / 2N
  double allowed = 0;  ///< what independent variables exceed with probability below 1e-9
};

namespace detail {
/// Chi-square of k degrees of freedom exceeds this with probability below 1e-9 (Laurent & Massart 2000, lemma 1).
inline double chi_square_bound(double k) {
  constexpr double x = 20.723265836946411;  // ln 1e9
  return k + 2 * std::sqrt(k * x) + 2 * x;
}

// Chi-square of the counts of `values` against the uniform law on 0..n-1.
inline double uniformity(const std::vector<std::int64_t>& values, Extent n) {
  std::vector<double> counts(static_cast<std::size_t>(n), 0.0);
  for (const std::int64_t v : values) counts[static_cast<std::size_t>(v)] += 1;
  const double mean = static_cast<double>(values.size()) / static_cast<double>(n);
  double chi_square = 0;
  for (const double count : counts) chi_square += (count - mean) * (count - mean) / mean;
  return chi_square;
}
}  // namespace detail

/// @brief Plug-in mutual information of paired samples with its sampling bias.
/// @details 2 N value is close to chi-square with (A-1)(B-1) degrees of freedom, A and B being the numbers of values
/// that occur. Below five samples a cell its mean may reach twice that (KL <= ln(1 + chi^2)), and `allowed` doubles
/// with it.
/// @par Errors ShapeError unless both have the same number of samples, at least 1. @par Cost O(N log N).
inline MutualInformation mutual_information(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  require_size("b.size()", b.size(), a.size());
  require<ShapeError>(!a.empty(), "a.size()", a.size(), "at least 1 sample");
  std::map<std::int64_t, double> of_a, of_b;
  std::map<std::pair<std::int64_t, std::int64_t>, double> joint;
  for (std::size_t n = 0; n < a.size(); ++n) of_a[a[n]] += 1, of_b[b[n]] += 1, joint[{a[n], b[n]}] += 1;
  const double total = static_cast<double>(a.size());
  MutualInformation out;
  for (const auto& [pair, count] : joint)
    out.value += count / total * std::log(count * total / (of_a[pair.first] * of_b[pair.second]));
  const double rows = static_cast<double>(of_a.size()), columns = static_cast<double>(of_b.size());
  const double freedom = (rows - 1) * (columns - 1);
  out.bias = freedom / (2 * total);
  out.allowed = detail::chi_square_bound(total >= 5 * rows * columns ? freedom : 2 * freedom) / (2 * total);
  return out;
}

namespace detail {
// Reads one set of sequences against its task and appends the lines of the certificate.
class SetReader {
 public:
  SetReader(const AnchorTask& task, const MemoryMap& mapping, Certificate& to)
      : task_(task), mapping_(mapping), to_(to) {}

  // Expects the tuples of `kinds` only; `tags` may be null.
  void read(const std::string& set, const Examples& examples, const std::vector<Task>* tags, std::vector<Task> kinds) {
    set_ = set;
    Counts counts;
    for (const Task kind : kinds)
      task_.for_each_tuple(kind, [&](std::int64_t, std::span<const Id> a) {
        const auto index = static_cast<std::int64_t>(counts.size());
        counts[{a.begin(), a.end()}] = {index, 0};
      });
    std::int64_t sequences = 0, foreign = 0, broken = 0, split = 0, wrong = 0, outside = 0, tagged = 0;
    std::string at_foreign, at_broken, at_split, at_wrong, at_outside, at_tagged;
    const auto offend = [](std::int64_t& count, std::string& first, Extent row, const std::string& what) {
      if (count++ == 0) first = "row " + std::to_string(row) + ": " + what;
    };
    std::vector<std::int64_t> places, keys, noise, labels, tuples;
    for (Extent n = 0; n < examples.size(); ++n) {
      const Id label = examples.labels[static_cast<std::size_t>(n)];
      if (label < 0 || label >= task_.vocabulary()) offend(outside, at_outside, n, "label " + std::to_string(label));
      Extent place = 0;
      std::int64_t strangers = 0, anchors_here = 0;
      for (Extent x = examples.length(); x-- > 0;) {
        const Id token = examples.tokens(n, x);
        if (task_.memory.contains(token) || task_.reasoning.contains(token)) {
          ++anchors_here;
          place = x - 1;
        } else if (!task_.keys.contains(token)) {
          ++strangers;
          offend(foreign, at_foreign, n, "token " + std::to_string(token));
        }
      }
      if (strangers > 0) continue;
      std::vector<Id> anchors;
      for (Extent x = 0; x < task_.q && place >= 0 && place + 1 + x < examples.length(); ++x)
        anchors.push_back(examples.tokens(n, place + 1 + x));
      if (anchors_here != task_.q || place < 0 || !is_tuple(anchors)) {
        offend(broken, at_broken, n, std::to_string(anchors_here) + " anchors");
        continue;
      }
      ++sequences;
      const Task kind = task_.kind_of(anchors);
      const auto known = counts.find(anchors);
      if (known == counts.end())
        offend(split, at_split, n, kind == Task::held_out ? "a held-out tuple" : "a tuple of training");
      else
        ++known->second.count;
      if (tags != nullptr && (*tags)[static_cast<std::size_t>(n)] != kind) offend(tagged, at_tagged, n, "another task");
      const Id key = examples.tokens(n, place);
      const Id want = kind == Task::memory ? mapping_.label(key, anchors) : AnchorTask::reasoning_label(key, anchors);
      if (label != want)
        offend(wrong, at_wrong, n, "label " + std::to_string(label) + ", the task says " + std::to_string(want));
      places.push_back(place);
      keys.push_back(key - task_.keys.first);
      labels.push_back(label);
      tuples.push_back(known == counts.end() ? -1 : known->second.index);
      for (Extent x = 0; x < examples.length(); ++x)
        if (x < place || x > place + task_.q) noise.push_back(examples.tokens(n, x) - task_.keys.first);
    }
    line("tokens that are neither keys nor anchors", foreign, 0, at_foreign);
    line("sequences without one run of q anchors of one kind behind a key", broken, 0, at_broken);
    line("labels outside the vocabulary", outside, 0, at_outside);
    line("labels that the task does not give", wrong, 0, at_wrong);
    line("tuples of the other split", split, 0, at_split);
    if (tags != nullptr) line("task tags that are wrong", tagged, 0, at_tagged);
    count_lines(counts);
    if (sequences > 0) leak_lines(places, keys, noise, labels, tuples);
  }

 private:
  struct Seen {
    std::int64_t index, count;
  };
  using Counts = std::map<std::vector<Id>, Seen>;

  bool is_tuple(const std::vector<Id>& anchors) const {
    if (static_cast<Extent>(anchors.size()) != task_.q) return false;
    const bool memory = task_.memory.contains(anchors[0]);
    IdRange range = task_.reasoning;
    if (memory)
      for (Extent g = 0; g < task_.group_count(); ++g)
        if (task_.group(g).contains(anchors[0])) range = task_.group(g);
    return std::all_of(anchors.begin(), anchors.end(), [&](Id a) { return range.contains(a); });
  }
  template <class N>
  void line(const std::string& name, N found, double allowed, std::string where = {}) {
    to_.lines.push_back({set_ + ": " + name, static_cast<double>(found), allowed, std::move(where)});
  }
  void count_lines(const Counts& counts) {
    std::int64_t missing = 0, least = (std::numeric_limits<std::int64_t>::max)(), most = 0;
    for (const auto& [tuple, seen] : counts) {
      missing += seen.count == 0;
      least = (std::min)(least, seen.count);
      most = (std::max)(most, seen.count);
    }
    line("anchor tuples that never occur", missing, 0);
    line("spread of the counts per ordered anchor tuple", counts.empty() ? 0 : most - least, 0,
         counts.empty() ? "" : std::to_string(least) + " to " + std::to_string(most) + " of each");
  }
  void leak_lines(const std::vector<std::int64_t>& places, const std::vector<std::int64_t>& keys,
                  const std::vector<std::int64_t>& noise, const std::vector<std::int64_t>& labels,
                  const std::vector<std::int64_t>& tuples) {
    const auto uniform = [&](const std::string& what, const std::vector<std::int64_t>& values, Extent n) {
      if (!values.empty())
        line(what + ", chi-square against uniform", uniformity(values, n),
             chi_square_bound(static_cast<double>(n - 1)));
    };
    uniform("places", places, task_.positions());
    uniform("keys", keys, task_.keys.size());
    uniform("noise keys", noise, task_.keys.size());
    const auto leak = [&](const std::string& what, const std::vector<std::int64_t>& values) {
      const MutualInformation leaked = mutual_information(places, values);
      std::string bias = "sampling bias " + printed(leaked.bias);
      line("mutual information of place and " + what + " in nats", leaked.value, leaked.allowed, std::move(bias));
    };
    leak("key", keys);
    leak("label", labels);
    leak("anchors", tuples);
  }
  static std::string printed(double value) {
    std::ostringstream out;
    out.precision(3);
    out << value;
    return std::move(out).str();
  }

  const AnchorTask& task_;
  const MemoryMap& mapping_;
  Certificate& to_;
  std::string set_;
};
}  // namespace detail

/// @brief Reads a whole set, sampled or population, and certifies it against its task and mapping.
/// @details Checks, for the training and the held-out set: tokens are keys or anchors; one run of q anchors of one kind
/// behind a key; labels in [0, D) and those of the task; splits disjoint as sets of ordered tuples; task tags; every
/// tuple, and all equally often; places, keys and noise uniform; mutual information of place with key, label and
/// anchors no more than its sampling bias explains (statistical lines fail for a good set with probability below 1e-9
/// each).
/// @par Errors those of AnchorTask::validate; ShapeError if a set has another length or not one label and tag a
/// sequence. A set that is merely wrong is no error: its certificate does not hold. @par Cost O(N (L + log N)).
inline Certificate certify(const AnchorTask& task, const MemoryMap& mapping, const Dataset& set) {
  task.validate();
  mapping.require_made_for(task);
  require_size("train.length()", set.train.length(), task.length);
  require_size("train.labels.size()", set.train.labels.size(), set.train.size());
  require_size("tasks.size()", set.tasks.size(), set.train.size());
  require_size("held_out.labels.size()", set.held_out.labels.size(), set.held_out.size());
  if (set.held_out.size() > 0) require_size("held_out.length()", set.held_out.length(), task.length);
  Certificate certificate;
  detail::SetReader reader(task, mapping, certificate);
  reader.read("training", set.train, &set.tasks, {Task::memory, Task::reasoning});
  reader.read("held out", set.held_out, nullptr, {Task::held_out});
  return certificate;
}

}  // namespace incipit::inline INCIPIT_ABI::data
