// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/probe_service.h"

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <iostream>

#include "sources/vendor_probes.h"

namespace acrf {

void report_place(const PciAddress& gpu) { std::cout << "at " << to_string(gpu) << std::endl; }

int serve_samples(const std::function<Result<ProbeAnswer>()>& sample) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (std::string request; std::getline(std::cin, request);)
    std::cout << encode_answer(sample()) << std::endl;
  return 0;
}

int run_probe(const std::string& kind, const std::string& library, const std::string& sysfs) {
  if (kind == "nvml") return run_nvml_probe(library);
  if (kind == "dcgm") return run_dcgm_probe(library);
  if (kind == "rocm-smi") return run_rocm_smi_probe(library, sysfs);
  if (kind == "level-zero") return run_level_zero_probe(library);
  std::fprintf(stderr, "acrf-healthd: no probe is called %s\n", kind.c_str());
  return 2;
}

}  // namespace acrf
