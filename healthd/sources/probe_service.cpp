// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/probe_service.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <optional>

#include "sources/probe.h"
#include "sources/vendor_probes.h"

namespace acrf {
namespace {

int answers = -1;  // the pipe to the daemon

// Vendor libraries print: what they have to say is not an answer.
void keep_output_for_answers() {
  answers = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

// A daemon that is gone takes this process with it: there is nobody to complain to.
void send_line(std::string line) {
  line += '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t n = ::write(answers, line.data() + sent, line.size() - sent);
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

void tell_place(const std::string& place) {
  const std::string line = place + "\n";
  (void)!::write(kPlaceFd, line.data(), line.size());
}

}  // namespace

// Nothing waits for room: a place that cannot be told is one that nobody reads.
void report_place(const PciAddress& gpu) { tell_place(to_string(gpu)); }
void report_unknown_place() { tell_place(""); }

int serve_samples(const std::function<Result<ProbeAnswer>()>& sample) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::optional<ProbeAnswer> told;
  for (std::string request; std::getline(std::cin, request);) {
    auto answer = sample();
    send_line(encode_answer(answer, told && request == kChangesRequest ? &*told : nullptr));
    if (answer)
      told = std::move(*answer);
    else
      told.reset();
  }
  return 0;
}

int run_probe(const std::string& kind, const std::string& library, const std::string& sysfs) {
  keep_output_for_answers();
  if (kind == "nvml") return run_nvml_probe(library);
  if (kind == "dcgm") return run_dcgm_probe(library);
  if (kind == "rocm-smi") return run_rocm_smi_probe(library, sysfs);
  if (kind == "level-zero") return run_level_zero_probe(library);
  std::fprintf(stderr, "acrf-healthd: no probe is called %s\n", kind.c_str());
  return 2;
}

}  // namespace acrf
