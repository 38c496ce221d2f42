// SPDX-License-Identifier: GPL-2.0-or-later
// The ROCm SMI side of a probe. A card that sleeps is not asked: the driver would wake it, and its
// error counts jump.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "common/rocm_smi_abi.h"
#include "core/text.h"
#include "sources/probe_service.h"
#include "sources/shared_library.h"
#include "sources/vendor_probes.h"

namespace acrf {
namespace {

// In the order of their bits.
constexpr const char* kBlocks[] = {"umc",      "sdma", "gfx",       "mmhub", "athub",
                                   "pcie_bif", "hdp",  "xgmi_wafl", "df",    "smn",
                                   "sem",      "mp0",  "mp1",       "fuse"};

struct RocmSmi {
  static Result<RocmSmi> open(const std::string& name) {
    const auto library = SharedLibrary::open(name);
    if (!library) return library.error();
    RocmSmi rsmi;
    library->load("rsmi_init", rsmi.init);
    library->load("rsmi_status_string", rsmi.status_string);
    library->load("rsmi_num_monitor_devices", rsmi.count);
    library->load("rsmi_dev_pci_id_get", rsmi.pci_id);
    library->load("rsmi_dev_unique_id_get", rsmi.unique_id);
    library->load("rsmi_dev_serial_number_get", rsmi.serial);
    library->load("rsmi_dev_name_get", rsmi.name);
    library->load("rsmi_dev_temp_metric_get", rsmi.temperature);
    library->load("rsmi_dev_power_ave_get", rsmi.power);
    library->load("rsmi_dev_power_cap_get", rsmi.power_cap);
    library->load("rsmi_dev_busy_percent_get", rsmi.busy);
    library->load("rsmi_dev_ecc_enabled_get", rsmi.ecc_enabled);
    library->load("rsmi_dev_ecc_count_get", rsmi.errors);
    library->load("rsmi_dev_xgmi_error_status", rsmi.xgmi);
    library->load("rsmi_dev_pci_replay_counter_get", rsmi.replays);
    library->load("rsmi_dev_memory_reserved_pages_get", rsmi.pages);
    if (rsmi.init && rsmi.count && rsmi.pci_id) return rsmi;
    return Error{ErrorCode::kUnavailable, name + " lacks the functions of ROCm SMI"};
  }

  Error error(acrf_rsmi_status status) const {
    const char* text = nullptr;
    if (status_string) (void)status_string(status, &text);
    return {ErrorCode::kUnavailable,
            text ? text : fmt::format("ROCm SMI error {}", static_cast<unsigned>(status))};
  }

  acrf_rsmi_init* init = nullptr;
  acrf_rsmi_status_string* status_string = nullptr;
  acrf_rsmi_count* count = nullptr;
  acrf_rsmi_device_number* pci_id = nullptr;
  acrf_rsmi_device_number* unique_id = nullptr;
  acrf_rsmi_device_serial* serial = nullptr;
  acrf_rsmi_device_name* name = nullptr;
  acrf_rsmi_device_temperature* temperature = nullptr;
  acrf_rsmi_device_power* power = nullptr;
  acrf_rsmi_device_power* power_cap = nullptr;
  acrf_rsmi_device_percent* busy = nullptr;
  acrf_rsmi_device_number* ecc_enabled = nullptr;
  acrf_rsmi_device_errors* errors = nullptr;
  acrf_rsmi_device_xgmi* xgmi = nullptr;
  acrf_rsmi_device_number* replays = nullptr;
  acrf_rsmi_device_pages* pages = nullptr;
};

// True when the function is there and succeeds.
template <typename Function, typename... Arguments>
bool call(Function* function, Arguments... arguments) {
  return function && function(arguments...) == ACRF_RSMI_SUCCESS;
}

// "16.0", in GT/s, is generation 4.
Reading generation_of(std::string_view speed) {
  constexpr std::string_view kSpeeds[] = {"2.5", "5.0", "8.0", "16.0", "32.0", "64.0"};
  for (std::size_t i = 0; i < std::size(kSpeeds); ++i)
    if (speed == kSpeeds[i]) return i + 1;
  return std::nullopt;
}

struct Device {
  GpuSample identity;
  std::uint64_t blocks = ~0ull;  // those that count errors; all while unknown
};

class RocmSmiSampler {
 public:
  RocmSmiSampler(const RocmSmi& rsmi, std::string sysfs)
      : rsmi_(rsmi), sysfs_(std::move(sysfs)), init_status_(rsmi.init(0)) {}

  Result<ProbeAnswer> sample() {
    uint32_t count = 0;
    auto status = init_status_;
    if (status == ACRF_RSMI_SUCCESS) status = rsmi_.count(&count);
    if (status != ACRF_RSMI_SUCCESS) return rsmi_.error(status);
    if (count != devices_.size()) devices_.assign(count, {});
    ProbeAnswer answer;
    for (uint32_t index = 0; index < count; ++index)
      answer.gpus.push_back(read_gpu(index, devices_[index]));
    return answer;
  }

 private:
  GpuSample read_gpu(uint32_t index, Device& device) const {
    GpuSample& identity = device.identity;
    // The address comes from the file system and wakes nobody; the rest may.
    if (identity.address == PciAddress{}) {
      report_unknown_place();
      read_address(index, identity);
    }
    identity.suspended = is_suspended(identity.address);
    if (identity.suspended) return identity;
    report_place(identity.address);
    if (identity.uuid.empty()) identify(index, device);
    GpuSample sample = identity;
    read(index, device.blocks, sample);
    return sample;
  }

  void read_address(uint32_t device, GpuSample& identity) const {
    uint64_t id = 0;
    identity.vendor = "amd";
    identity.index = device;
    if (!call(rsmi_.pci_id, device, &id)) return;
    identity.address = {static_cast<std::uint32_t>(id >> 32), static_cast<std::uint8_t>(id >> 8),
                        static_cast<std::uint8_t>(id >> 3 & 0x1f)};
  }

  void identify(uint32_t device, Device& known) const {
    GpuSample& identity = known.identity;
    uint64_t id = 0;
    char text[256] = "";
    if (call(rsmi_.serial, device, text, static_cast<uint32_t>(sizeof text - 1)))
      identity.serial = text;
    if (call(rsmi_.name, device, text, sizeof text - 1)) identity.name = text;
    if (call(rsmi_.unique_id, device, &id) && id != 0) identity.uuid = fmt::format("{:016x}", id);
    const auto limit = [&](acrf_rsmi_temperature_sensor sensor) {
      return temperature(device, sensor, ACRF_RSMI_TEMPERATURE_CRITICAL);
    };
    identity.slowdown_c = limit(ACRF_RSMI_JUNCTION);
    if (!identity.slowdown_c) identity.slowdown_c = limit(ACRF_RSMI_EDGE);
    identity.memory_max_c = limit(ACRF_RSMI_MEMORY);
    if (!call(rsmi_.ecc_enabled, device, &known.blocks)) known.blocks = ~0ull;
  }

  // The first word of a file of the card's; reading it wakes nobody.
  std::string card_file(const PciAddress& address, const char* name) const {
    std::ifstream file(sysfs_ + "/bus/pci/devices/" + to_string(address) + ".0/" + name);
    std::string word;
    file >> word;
    return word;
  }

  bool is_suspended(const PciAddress& address) const {
    const auto status = card_file(address, "power/runtime_status");
    return status == "suspended" || status == "suspending";
  }

  void read_link(GpuSample& sample) const {
    sample.pcie_generation = generation_of(card_file(sample.address, "current_link_speed"));
    sample.pcie_generation_max = generation_of(card_file(sample.address, "max_link_speed"));
    sample.pcie_width = parse_unsigned(card_file(sample.address, "current_link_width"));
    sample.pcie_width_max = parse_unsigned(card_file(sample.address, "max_link_width"));
  }

  Reading temperature(uint32_t device, acrf_rsmi_temperature_sensor sensor,
                      acrf_rsmi_temperature_metric metric) const {
    int64_t millidegrees = 0;
    if (!call(rsmi_.temperature, device, uint32_t{sensor}, metric, &millidegrees)) return {};
    return millidegrees < 0 ? Reading() : static_cast<std::uint64_t>(millidegrees / 1000);
  }

  void read(uint32_t device, std::uint64_t blocks, GpuSample& sample) const {
    sample.temperature_c = temperature(device, ACRF_RSMI_JUNCTION, ACRF_RSMI_TEMPERATURE_CURRENT);
    if (!sample.temperature_c)
      sample.temperature_c = temperature(device, ACRF_RSMI_EDGE, ACRF_RSMI_TEMPERATURE_CURRENT);
    sample.memory_temperature_c =
        temperature(device, ACRF_RSMI_MEMORY, ACRF_RSMI_TEMPERATURE_CURRENT);
    uint64_t value = 0;
    if (call(rsmi_.power, device, 0u, &value)) sample.power_mw = value / 1000;
    if (call(rsmi_.power_cap, device, 0u, &value)) sample.power_limit_mw = value / 1000;
    if (call(rsmi_.replays, device, &value)) sample.pcie_replays = value;
    uint32_t percent = 0;
    if (call(rsmi_.busy, device, &percent)) sample.utilization_percent = percent;
    auto xgmi = ACRF_RSMI_XGMI_NO_ERRORS;
    if (call(rsmi_.xgmi, device, &xgmi)) sample.xgmi_error = static_cast<unsigned>(xgmi);
    read_link(sample);
    read_blocks(device, blocks, sample);
    read_pages(device, sample);
  }

  void read_blocks(uint32_t device, std::uint64_t blocks, GpuSample& sample) const {
    for (unsigned bit = 0; bit < std::size(kBlocks); ++bit) {
      const acrf_rsmi_block block = 1ull << bit;
      if ((blocks & block) == 0) continue;
      acrf_rsmi_error_count count = {};
      if (call(rsmi_.errors, device, block, &count))
        sample.blocks.push_back({kBlocks[bit], count.corrected, count.uncorrected});
    }
  }

  void read_pages(uint32_t device, GpuSample& sample) const {
    uint32_t count = 0;
    if (!call(rsmi_.pages, device, &count, static_cast<acrf_rsmi_page*>(nullptr))) return;
    std::vector<acrf_rsmi_page> pages(count);
    if (count > 0 && !call(rsmi_.pages, device, &count, pages.data())) return;
    pages.resize(std::min<std::size_t>(count, pages.size()));
    sample.retired_pages = pages.size();
    std::uint64_t pending = 0;
    std::uint64_t failed = 0;
    for (const auto& page : pages) {
      pending += page.status == ACRF_RSMI_PAGE_PENDING ? 1 : 0;
      failed += page.status == ACRF_RSMI_PAGE_UNRESERVABLE ? 1 : 0;
    }
    sample.retired_pages_pending = pending;
    sample.retired_pages_failed = failed;
  }

  const RocmSmi& rsmi_;
  std::string sysfs_;
  acrf_rsmi_status init_status_;
  std::vector<Device> devices_;
};

}  // namespace

int run_rocm_smi_probe(const std::string& library, const std::string& sysfs) {
  const auto rsmi = RocmSmi::open(library);
  std::unique_ptr<RocmSmiSampler> sampler;
  return serve_samples([&]() -> Result<ProbeAnswer> {
    if (!rsmi) return rsmi.error();
    if (!sampler) sampler = std::make_unique<RocmSmiSampler>(*rsmi, sysfs);
    return sampler->sample();
  });
}

}  // namespace acrf
