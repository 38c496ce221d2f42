// SPDX-License-Identifier: GPL-2.0-or-later
// All sampling rules on all GPUs of a node. What a rule holds against a GPU becomes a finding once,
// and again only after it has not held for ten minutes, or the driver has taken it back. Everything
// is kept under the GPU's UUID and serial number: a swapped GPU starts anew, a moved one keeps its
// past.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu_rule.h"

namespace acrf {

struct GpuFinding {
  Verdict verdict;
  PciAddress gpu;
  std::string gpu_uuid;
  std::string evidence;
  std::optional<int> xid = std::nullopt;
};

// What the last look at a GPU saw.
struct GpuLook {
  PciAddress address;
  std::string uuid;
  bool lost = false;  // it does not answer, though it is listed
  bool hot = false;   // too hot, or held down by the hardware, for long enough
  Reading power_limit_mw;
  std::vector<Verdict> held;  // what holds against it now, told already or not
};

class GpuRules {
 public:
  // One answer of one source, which names all GPUs that the source sees.
  std::vector<GpuFinding> look(const std::string& source, const std::vector<GpuSample>& samples,
                               std::int64_t now_s);

  void set_heat_times(const HeatTimes& times) { heat_times_ = times; }

  // What holds at the next look is told again, though it was told before.
  void tell_again() { last_held_.clear(); }
  // The GPUs that the source listed when it last answered.
  const std::vector<GpuLook>& looks(const std::string& source) { return looks_[source]; }

  // What a restart must not forget, as lines of text: what was told in this boot, and when
  // uncorrectable errors came. Nothing of a damaged line is taken over.
  std::string to_text(std::string_view boot_id) const;
  void take_text(std::string_view text, std::string_view boot_id);

 private:
  struct Gpu {
    PciAddress address;
    std::string uuid;  // empty: known from an earlier run only
    PresenceRule presence;
    MemoryRule memory;
    NvlinkRule nvlink;
    PcieReplayRule pcie;
    ThermalRule thermal;
    RecoveryActionRule recovery;
    BlockErrorRule blocks;
    XidRule xids;
    HealthWatchRule watches;
    Persistent missing{30};
  };
  using Latch = std::pair<std::string, std::string>;  // source and GPU's identity, class

  void take_line(std::string_view line, bool same_boot);
  Charges charges_of(Gpu& gpu, const GpuSample& sample, std::int64_t now_s);
  void latch(const std::string& key, const Gpu& gpu, const Charges& charges, std::int64_t now_s,
             std::vector<GpuFinding>& findings);
  void look_for_missing(const std::string& source, const std::set<std::string>& seen,
                        std::int64_t now_s, std::vector<GpuFinding>& findings);

  HeatTimes heat_times_;
  std::map<std::string, Gpu> gpus_;                    // by source and identity
  std::map<std::string, std::vector<GpuLook>> looks_;  // by source
  std::map<Latch, std::int64_t> last_held_;  // what was told and has not been over for long
};

}  // namespace acrf
