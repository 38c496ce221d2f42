// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a fault is the program's or the hardware's is often seen only when it comes again. This
// remembers a day of faults per GPU and gives a later one a stronger verdict: faults of programs
// when they repeat on one GPU from different jobs and users, or right after a hardware fault of the
// GPU; hangs and timeouts when they repeat at all. What cannot be attributed is never held against
// the hardware where the attribution is the proof. A GPU is its UUID, wherever it sits and through
// reboots; while that is unknown, and for all other parts, it is the place in this boot.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/fault.h"

namespace acrf {

class FaultHistory {
 public:
  // Records the event and strengthens its verdict and rank where the past asks for it. Old events
  // and, in a flood, the oldest places are forgotten: memory is bounded.
  void judge(Event& event);

  // For a restart, as lines of text. Nothing of a damaged line is taken over.
  std::string to_text() const;
  void take_text(std::string_view text);

 private:
  struct Past {
    std::int64_t unix_s = 0;
    std::string label;
    std::string location;
    std::optional<std::uint64_t> job, user;
  };
  using Place = std::deque<Past>;

  void adopt_place(const Event& event);
  void bound_places();
  static void forget_old(Place& place, std::int64_t now);
  void record(const Event& event);
  bool job_is_on_many_gpus(std::uint64_t job, std::int64_t now) const;
  bool comes_from_many_users(const Event& event) const;
  bool follows_hardware(const Event& event) const;
  bool repeats(const Event& event, const std::string& label, std::size_t times,
               std::int64_t window_s, std::int64_t apart_s) const;
  const Place* place(const Event& event) const;

  std::map<std::string, Place> places_;           // by UUID, or boot and place
  std::map<std::string, std::int64_t> hardware_;  // time of the last PCIe or SPI fault of a place
};

}  // namespace acrf
