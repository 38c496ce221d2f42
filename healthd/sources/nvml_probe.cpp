// SPDX-License-Identifier: GPL-2.0-or-later
// The NVML side of a probe. Identity and what never changes are read once, while the GPU answers;
// the rest at each request. A call that is missing or fails leaves its readings unknown, and only
// the driver's own words make a GPU lost or in need of a reset.
#include <memory>

#include "sources/nvml_library.h"
#include "sources/nvml_readings.h"
#include "sources/probe_service.h"
#include "sources/vendor_probes.h"

namespace acrf {
namespace {

struct Device {
  acrf_nvml_device_t handle = nullptr;
  GpuSample identity;
  NvmlLinkMemory links;
};

std::string text_of(acrf_nvml_device_text* read, acrf_nvml_device_t gpu) {
  char text[256] = "";
  return read && read(gpu, text, sizeof text - 1) == ACRF_NVML_SUCCESS ? text : "";
}

class NvmlSampler {
 public:
  explicit NvmlSampler(const NvmlLibrary& nvml) : nvml_(nvml), init_code_(nvml.init()) {}

  Result<ProbeAnswer> sample() {
    unsigned count = 0;
    auto code = init_code_;
    if (code == ACRF_NVML_SUCCESS) code = nvml_.count(&count);
    if (code != ACRF_NVML_SUCCESS) return Error{ErrorCode::kUnavailable, nvml_.error_string(code)};
    if (count != devices_.size()) devices_.assign(count, {});  // indices have moved
    ProbeAnswer answer;
    char driver[128] = "";
    if (nvml_.driver_version && nvml_.driver_version(driver, sizeof driver) == ACRF_NVML_SUCCESS)
      answer.driver = driver;
    for (unsigned index = 0; index < count; ++index) answer.gpus.push_back(read_gpu(index));
    take_xids(answer.gpus);
    return answer;
  }

 private:
  GpuSample read_gpu(unsigned index) {
    Device& device = devices_[index];
    auto code = device.handle ? ACRF_NVML_SUCCESS : identify(index, device);
    GpuSample sample = device.identity;
    sample.index = index;
    sample.vendor = "nvidia";
    if (code == ACRF_NVML_SUCCESS && device.handle) {
      report_place(sample.address);
      code = read_nvml(nvml_, device.handle, device.links, sample);
    }
    sample.lost = code == ACRF_NVML_ERROR_GPU_IS_LOST;
    sample.reset_required = code == ACRF_NVML_ERROR_RESET_REQUIRED;
    return sample;
  }

  acrf_nvml_return identify(unsigned index, Device& device) {
    report_unknown_place();
    acrf_nvml_device_t handle = nullptr;
    if (const auto code = nvml_.handle_by_index(index, &handle); code != ACRF_NVML_SUCCESS)
      return code;
    device.identity.uuid = text_of(nvml_.uuid, handle);
    device.identity.serial = text_of(nvml_.serial, handle);
    device.identity.name = text_of(nvml_.name, handle);
    acrf_nvml_pci_info pci = {};
    if (!nvml_.pci || nvml_.pci(handle, &pci) != ACRF_NVML_SUCCESS) return ACRF_NVML_SUCCESS;
    device.identity.address = {pci.domain, static_cast<std::uint8_t>(pci.bus),
                               static_cast<std::uint8_t>(pci.device)};
    if (device.identity.uuid.empty()) return ACRF_NVML_SUCCESS;
    read_nvml_limits(nvml_, handle, device.identity);
    device.handle = handle;
    listen(handle);
    return ACRF_NVML_SUCCESS;
  }

  void listen(acrf_nvml_device_t handle) {
    if (!nvml_.event_set_create || !nvml_.register_events || !nvml_.event_set_wait) return;
    if (!events_ && nvml_.event_set_create(&events_) != ACRF_NVML_SUCCESS) return;
    (void)nvml_.register_events(handle, ACRF_NVML_EVENT_XID, events_);
  }

  // What has arrived since the last request, without waiting for more.
  void take_xids(std::vector<GpuSample>& gpus) {
    constexpr int kMostAtOnce = 256;
    acrf_nvml_event event = {};
    for (int i = 0; events_ && i < kMostAtOnce; ++i) {
      if (nvml_.event_set_wait(events_, &event, 0) != ACRF_NVML_SUCCESS) return;
      if (event.type != ACRF_NVML_EVENT_XID) continue;
      for (std::size_t index = 0; index < devices_.size(); ++index)
        if (devices_[index].handle == event.device) gpus[index].xids.push_back(event.data);
    }
  }

  const NvmlLibrary& nvml_;
  acrf_nvml_return init_code_;
  std::vector<Device> devices_;
  acrf_nvml_event_set_t events_ = nullptr;
};

}  // namespace

int run_nvml_probe(const std::string& library) {
  const auto nvml = NvmlLibrary::open(library);
  std::unique_ptr<NvmlSampler> sampler;
  return serve_samples([&]() -> Result<ProbeAnswer> {
    if (!nvml) return nvml.error();
    if (!sampler) sampler = std::make_unique<NvmlSampler>(*nvml);
    return sampler->sample();
  });
}

}  // namespace acrf
