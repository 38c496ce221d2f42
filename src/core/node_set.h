// SPDX-License-Identifier: GPL-2.0-or-later
// A set of nodes as one bit each, so that "all free nodes below this switch" is a count over a
// range of words. Positions are those of a Topology.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace acrf {

// Positions first to end - 1, as the words and bits of a set.
struct NodeRange {
  NodeRange(int from, int to);
  int first, end;
  std::uint32_t low = 0, high = 0;   // the first and the last word
  std::uint64_t head = 0, tail = 0;  // the bits in them; of one word, all in head
};

class NodeSet {
 public:
  NodeSet() = default;
  explicit NodeSet(int size) : size_(size), words_((static_cast<std::size_t>(size) + 63) / 64) {}

  int size() const { return size_; }
  bool test(int position) const { return words_[word(position)] >> (position & 63) & 1; }
  void set(int position) { words_[word(position)] |= std::uint64_t{1} << (position & 63); }
  void clear(int position) { words_[word(position)] &= ~(std::uint64_t{1} << (position & 63)); }
  void put(int position, bool value) { value ? set(position) : clear(position); }
  void reset() { words_.assign(words_.size(), 0); }
  std::vector<std::uint64_t>& words() { return words_; }
  const std::vector<std::uint64_t>& words() const { return words_; }

  NodeSet& operator&=(const NodeSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    return *this;
  }
  NodeSet& operator|=(const NodeSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  NodeSet& subtract(const NodeSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
    return *this;
  }

  bool empty() const {
    for (const auto word : words_)
      if (word) return false;
    return true;
  }
  int count() const { return count(0, size_); }
  // Members with first <= position < end.
  int count(int first, int end) const;
  // The same for many ranges at once.
  void count(const std::vector<NodeRange>& ranges, std::vector<int>& counts) const;

  // Calls visit(position) for the members in [first, end) in order, until it returns false.
  template <typename Visit>
  void each(int first, int end, Visit visit) const {
    for (int at = first; at < end; at = (at | 63) + 1) {
      std::uint64_t rest = words_[word(at)] & (~std::uint64_t{0} << (at & 63));
      for (; rest; rest &= rest - 1) {
        const int position = (at & ~63) + std::countr_zero(rest);
        if (position >= end || !visit(position)) return;
      }
    }
  }
  // Calls visit(position) for the first `most` members in [first, end), in order. Returns how many
  // there were. Nodes mostly lie side by side, and a loop over those is the quickest.
  template <typename Visit>
  int each_of_first(int first, int end, int most, Visit visit) const {
    int left = most;
    for (int at = first; at < end && left > 0; at = (at | 63) + 1) {
      const int base = at & ~63;
      std::uint64_t rest = words_[word(at)] & (~std::uint64_t{0} << (at & 63));
      if (end - base < 64) rest &= (std::uint64_t{1} << (end - base)) - 1;
      if (rest == 0) continue;
      const int start = std::countr_zero(rest), run = std::countr_one(rest >> start);
      if (run >= left || rest >> start == ~std::uint64_t{0} >> (64 - run)) {
        const int count = std::min(run, left);
        for (int i = 0; i < count; ++i) visit(base + start + i);
        left -= count;
      } else {
        for (; rest && left > 0; rest &= rest - 1, --left) visit(base + std::countr_zero(rest));
      }
    }
    return most - left;
  }
  template <typename Visit>
  void each(Visit visit) const {
    each(0, size_, visit);
  }

 private:
  static std::size_t word(int position) { return static_cast<std::size_t>(position) >> 6; }

  int size_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace acrf
