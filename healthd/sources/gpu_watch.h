// SPDX-License-Identifier: GPL-2.0-or-later
// All GPUs of the node through all configured vendor libraries: asks each probe when it is due,
// judges the samples by the rules, and gives what they find as events. Not thread-safe.
#pragma once

#include <poll.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/config.h"
#include "core/gpu_rules.h"
#include "sources/answer_times.h"
#include "sources/gpu_inventory.h"
#include "sources/probe.h"

namespace acrf {

class GpuWatch {
 public:
  using Clock = Probe::Clock;

  // `config` has its paths expanded and outlives this. `program` is started as the probes' worker.
  GpuWatch(const Config& config, std::string boot_id, std::string program = "/proc/self/exe");

  // Nothing is due, and nothing to be polled for, before this.
  Clock::time_point next_wake() const;
  void add_poll_fds(std::vector<pollfd>& fds) const;

  // Does what is due; gives the events that are new. Boot id and time are set. Answers that may not
  // be judged yet are judged in the first call that may; their source is not asked before.
  std::vector<Event> work(Clock::time_point now, std::int64_t unix_s, bool may_judge = true);
  // Ends the workers, which hold the GPUs they look at; work() starts them again.
  void rest(Clock::time_point now);

  // Each source has answered, or said why it cannot.
  bool has_heard_all() const;

  // What the sources that have answered since the last call saw of each GPU.
  std::vector<GpuLook> take_looks() { return std::exchange(looks_, {}); }

  // The sources whose GPUs' state is unknown, each with the reason.
  std::vector<std::string> silent() const;

  // The Config has changed: libraries that are the same go on, others begin or end.
  void reload();
  void tell_again() { rules_.tell_again(); }

  // Empty while unknown.
  std::string uuid_at(const PciAddress& address) const { return gpus_.uuid_at(address); }
  std::size_t size() const { return gpus_.size(); }
  // The device at the other end of a GPU's NVLink; nothing while that is unknown.
  std::optional<PciAddress> far_end(const PciAddress& gpu, std::uint64_t link) const;

  // The last sample of each GPU, of the sources that are GPUs' own libraries.
  std::vector<const GpuSample*> samples() const;
  // DCGM's last sample of the GPU; null when there is none.
  const GpuSample* dcgm_sample(const std::string& uuid) const;

  // How long each source takes to answer.
  std::vector<std::pair<std::string, AnswerTimes>> answer_times() const;

  // NVIDIA's, as NVML names it; empty while unknown.
  const std::string& driver() const { return driver_; }

 private:
  struct Source {
    std::string name;
    std::string library;
    std::string fake_state;
    std::unique_ptr<Probe> probe;
    Clock::time_point next_sample;
    Clock::time_point asked;
    AnswerTimes times;
    HangRule hangs;
    std::string last_problem;
    std::size_t gpus = 0;
    std::vector<GpuSample> samples;  // the last; empty: a whole answer is to be asked for
    bool is_judged = true;           // those samples
    bool was_heard = false;
  };

  void add_source(const std::string& name, const std::string& library);
  void take_answer(Source& source, Clock::time_point now);
  void judge(Source& source, std::int64_t unix_s, std::vector<Event>& events);
  void end_late_probe(Source& source, Clock::time_point now, std::int64_t unix_s,
                      std::vector<Event>& events);
  void ask_when_due(Source& source, Clock::time_point now, std::int64_t unix_s,
                    std::vector<Event>& events);
  void tell_hang(Source& source, const std::string& where, std::int64_t unix_s,
                 std::vector<Event>& events);
  void tell_problem(Source& source, const std::string& problem);
  Event event_of(const Source& source, const GpuFinding& finding, std::int64_t unix_s) const;
  void remember(Clock::time_point now);

  const Config& config_;
  std::string boot_id_;
  std::string program_;
  std::string memory_path_;
  std::string remembered_;  // what memory_path_ holds
  Clock::time_point next_remember_;
  std::vector<Source> sources_;
  std::string driver_;
  GpuInventory gpus_;
  std::vector<GpuLook> looks_;
  GpuRules rules_;
};

}  // namespace acrf
