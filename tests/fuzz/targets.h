// SPDX-License-Identifier: GPL-2.0-or-later
// All that reads text which somebody else wrote, one target per kind of text. A target may refuse
// its text; what it accepts must come out again as it went in, and a broken promise ends the
// program. tests/fuzz/corpus/NAME holds texts to start from.
#pragma once

#include <cstdlib>
#include <span>
#include <string_view>

namespace acrf::fuzz {

struct Target {
  std::string_view name;
  void (*feed)(std::string_view text);
};
std::span<const Target> targets();

inline void require(bool holds) {
  if (!holds) std::abort();
}

void feed_kernel_log(std::string_view text);
void feed_catalog(std::string_view text);
void feed_nvlink(std::string_view text);  // the registers of an NVLink line
void feed_config(std::string_view text);
void feed_tokens(std::string_view text);  // what ACRF writes into Slurm's records, and options
void feed_cluster_files(std::string_view text);  // gres.conf, topology.conf, host lists
void feed_samples(std::string_view text);        // of the vendor probes
void feed_records(std::string_view text);        // other JSON between processes and in files
void feed_checkpoint(std::string_view text);     // a checkpoint's own files

}  // namespace acrf::fuzz
