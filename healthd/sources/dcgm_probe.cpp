// SPDX-License-Identifier: GPL-2.0-or-later
// The DCGM side of a probe: what its health watches and policies hold against the GPUs, and what it
// counts. A host engine on this node is used when there is one; otherwise DCGM runs inside this
// process. DCGM's last Xid is not read: it keeps only one, and a burst loses its root.
#include <algorithm>
#include <memory>

#include "sources/dcgm_fields.h"
#include "sources/dcgm_library.h"
#include "sources/dcgm_policy.h"
#include "sources/probe_service.h"
#include "sources/vendor_probes.h"

namespace acrf {
namespace {

constexpr char kHostEngine[] = "127.0.0.1";
constexpr unsigned kConnectTimeout_ms = 1000;
constexpr unsigned kAllSystems = 0xffffffff;
constexpr long long kUpdateEvery_us = 10'000'000;
constexpr double kKeep_s = 600;

// In the order of their bits.
constexpr const char* kSystems[] = {"pcie",   "nvlink", "pmu",      "mcu",
                                    "memory", "sm",     "inforom",  "thermal",
                                    "power",  "driver", "nvswitch", "nvswitch"};

std::string system_name(unsigned system) {
  for (unsigned bit = 0; bit < std::size(kSystems); ++bit)
    if (system == 1u << bit) return kSystems[bit];
  return "other";
}

class DcgmSampler {
 public:
  explicit DcgmSampler(const DcgmLibrary& dcgm) : dcgm_(dcgm), policies_(dcgm), fields_(dcgm) {}

  Result<ProbeAnswer> sample() {
    report_unknown_place();
    if (ready_) {
      const auto listed = list();  // when it has changed, the engine is asked to watch the others
      if (!listed || *listed != ids_) leave_engine();
    }
    if (!ready_) {
      if (const auto started = start(); !started) return started.error();
      ready_ = true;
    }
    ProbeAnswer answer;
    answer.gpus = gpus_;
    auto code = check<acrf_dcgm_health_v5>(5, answer.gpus);
    if (code != 0) code = check<acrf_dcgm_health_v4>(4, answer.gpus);
    if (code != 0) {
      leave_engine();  // it may have gone: start over
      return dcgm_.error("DCGM health check", code);
    }
    policies_.take(answer.gpus);
    for (auto& gpu : answer.gpus) {
      report_place(gpu.address);
      fields_.read(handle_, gpu);
    }
    return answer;
  }

 private:
  Status start() {
    if (const auto code = dcgm_.init(); code != 0) return dcgm_.error("DCGM", code);
    acrf_dcgm_connect_params params = {};
    params.version = ACRF_DCGM_VERSION(acrf_dcgm_connect_params, 2);
    params.timeout_ms = kConnectTimeout_ms;
    acrf_dcgm_return code = -1;
    if (dcgm_.connect) code = dcgm_.connect(kHostEngine, &params, &handle_);
    embedded_ = code != 0;
    if (embedded_ && dcgm_.start_embedded)
      code = dcgm_.start_embedded(ACRF_DCGM_MODE_AUTO, &handle_);
    if (code != 0) return dcgm_.error("neither a DCGM host engine nor an embedded one", code);
    acrf_dcgm_health_params watches = {};
    watches.version = ACRF_DCGM_VERSION(acrf_dcgm_health_params, 2);
    watches.group = ACRF_DCGM_ALL_GPUS;
    watches.systems = kAllSystems;
    watches.update_interval_us = kUpdateEvery_us;
    watches.max_keep_age_s = kKeep_s;
    if (code = dcgm_.health_set(handle_, &watches); code != 0)
      return dcgm_.error("DCGM health watches", code);
    return identify();
  }

  // Groups and registrations go with the connection.
  void leave_engine() {
    ready_ = false;
    auto* leave = embedded_ ? dcgm_.stop_embedded : dcgm_.disconnect;
    if (leave) (void)leave(handle_);
  }

  // DCGM's own numbers.
  Result<std::vector<unsigned>> list() const {
    unsigned ids[ACRF_DCGM_MAX_GPUS] = {};
    int count = 0;
    if (const auto code = dcgm_.devices(handle_, ids, &count); code != 0)
      return dcgm_.error("DCGM's list of GPUs", code);
    return std::vector<unsigned>(ids, ids + std::clamp(count, 0, ACRF_DCGM_MAX_GPUS));
  }

  Status identify() {
    auto listed = list();
    if (!listed) return listed.error();
    ids_ = std::move(*listed);
    gpus_.clear();
    for (const auto id : ids_)
      if (auto gpu = identity(id)) gpus_.push_back(std::move(*gpu));
    policies_.start(handle_, gpus_);
    if (!ids_.empty()) fields_.learn(handle_, ids_.front());
    return Done{};
  }

  std::optional<GpuSample> identity(unsigned id) const {
    acrf_dcgm_entity entity = {ACRF_DCGM_ENTITY_GPU, id};
    unsigned short fields[] = {ACRF_DCGM_FIELD_UUID, ACRF_DCGM_FIELD_SERIAL, ACRF_DCGM_FIELD_NAME,
                               ACRF_DCGM_FIELD_PCI_BUS_ID};
    std::vector<acrf_dcgm_field_value> values(std::size(fields));
    for (auto& value : values) value.version = ACRF_DCGM_VERSION(acrf_dcgm_field_value, 2);
    if (dcgm_.latest_values(handle_, &entity, 1, fields, std::size(fields), ACRF_DCGM_LIVE_DATA,
                            values.data()) != 0)
      return std::nullopt;
    const auto text = [&](std::size_t i) {
      auto& value = values[i].value.text;
      value[sizeof value - 1] = '\0';
      return std::string(values[i].status == 0 ? value : "");
    };
    GpuSample gpu;
    gpu.vendor = "nvidia";
    gpu.index = id;
    gpu.uuid = text(0);
    gpu.serial = text(1);
    gpu.name = text(2);
    const auto pci = text(3);
    std::string_view rest = pci;
    const auto address = take_pci_address(rest);
    if (!address) return std::nullopt;
    gpu.address = *address;
    return gpu;
  }

  template <typename Response>
  acrf_dcgm_return check(int version, std::vector<GpuSample>& gpus) const {
    const auto response = std::make_unique<Response>();  // too large for a stack
    response->version = ACRF_DCGM_VERSION(Response, version);
    if (const auto code = dcgm_.health_check(handle_, ACRF_DCGM_ALL_GPUS, response.get());
        code != 0)
      return code;
    const auto count = std::min<std::size_t>(response->count, std::size(response->incidents));
    for (std::size_t i = 0; i < count; ++i) add(response->incidents[i], gpus);
    return 0;
  }

  static void add(acrf_dcgm_incident& incident, std::vector<GpuSample>& gpus) {
    if (incident.entity.group != ACRF_DCGM_ENTITY_GPU || incident.health < ACRF_DCGM_RESULT_WARN)
      return;
    auto& message = incident.error.message;
    message[sizeof message - 1] = '\0';
    for (auto& gpu : gpus)
      if (gpu.index == incident.entity.id)
        gpu.incidents.push_back({system_name(incident.system),
                                 incident.health >= ACRF_DCGM_RESULT_FAIL, incident.error.code,
                                 message});
  }

  const DcgmLibrary& dcgm_;
  DcgmPolicyWatch policies_;
  DcgmFields fields_;
  bool ready_ = false;
  bool embedded_ = false;
  acrf_dcgm_handle_t handle_ = 0;
  std::vector<unsigned> ids_;  // as DCGM listed them
  std::vector<GpuSample> gpus_;
};

}  // namespace

int run_dcgm_probe(const std::string& library) {
  const auto dcgm = DcgmLibrary::open(library);
  std::unique_ptr<DcgmSampler> sampler;
  return serve_samples([&]() -> Result<ProbeAnswer> {
    if (!dcgm) return dcgm.error();
    if (!sampler) sampler = std::make_unique<DcgmSampler>(*dcgm);
    return sampler->sample();
  });
}

}  // namespace acrf
