// SPDX-License-Identifier: GPL-2.0-or-later
// What one hub is still to get. Items get their numbers when they are first sent and are kept until
// the hub says that they are durable there, so that a hub that was killed gets them again and knows
// those that it has. Samples that a hub does not take go to disk, into files that are streams of
// their own; when these are too many, the oldest are dropped. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace acrf {

class Outbox {
 public:
  struct Bounds {
    std::size_t samples_in_memory = 12;
    std::size_t file_bytes = 256 << 10;
    std::size_t total_bytes = 64 << 20;
    std::size_t items = 200;  // in a parcel
    std::size_t parcel_bytes = 512 << 10;
  };

  // What stands for an incident's or an audit entry's place in its own record; empty: none.
  struct Item {
    bool is_sample = false;
    std::string text;    // JSON without its number
    std::string record;  // given back by acknowledge() when it is durable
    std::uint64_t seq = 0;
  };

  // What is sent at once.
  struct Parcel {
    std::string stream;
    std::uint64_t first = 0;  // the lowest number that is still here
    std::vector<std::string> items;
    bool from_disk = false;
  };

  // `directory` is made when it is needed; what an earlier run left there is sent, too. `stream`:
  // a name that nobody had before.
  Outbox(std::string directory, std::string stream, Bounds bounds);
  Outbox(std::string directory, std::string stream) : Outbox(directory, stream, Bounds()) {}

  void add(Item item);
  // Of the items that are not sent yet, the ones with this record give way to the new one.
  void replace(Item item);

  // Something of the present is to be sent.
  bool has_news() const;
  // Something that lies on disk is to be sent, or asked about.
  bool has_old() const { return !files_.empty(); }
  std::uint64_t accepted() const { return accepted_; }
  std::size_t waiting() const { return unsent_.size() + sent_.size(); }

  // The next parcel: of the present, perhaps without items, or from disk.
  Parcel news();
  std::optional<Parcel> old();

  // The hub's answer to a parcel. The records that are durable now.
  std::vector<std::string> acknowledge(const Parcel& parcel, std::uint64_t accepted,
                                       std::uint64_t durable);

  // The hub takes nothing: samples go to disk.
  Status spill();
  // The end: what was sent and is not durable goes there, too.
  Status close();

  std::uint64_t dropped() const { return dropped_; }

 private:
  struct File {
    std::string path;
    std::size_t bytes = 0;
  };
  Status spill_all();
  Status begin_file(const std::vector<Item>& items, const std::string& stream);
  Status grow_file(const std::vector<Item>& items);
  void forget_oldest();
  bool load();

  const std::string directory_, stream_;
  const Bounds bounds_;
  std::deque<Item> unsent_, sent_;
  std::uint64_t next_seq_ = 1, accepted_ = 0;
  std::size_t samples_ = 0;  // in unsent_

  std::deque<File> files_;  // oldest first
  unsigned next_file_ = 1;
  std::string growing_;            // path of the file that is appended to; empty: none
  std::uint64_t growing_seq_ = 0;  // the last number in it
  // The oldest file, when it is being sent.
  struct Loaded {
    std::string path, stream;
    std::vector<std::pair<std::uint64_t, std::string>> items;
    std::uint64_t accepted = 0;
  };
  std::optional<Loaded> loaded_;
  std::uint64_t dropped_ = 0;
};

}  // namespace acrf
