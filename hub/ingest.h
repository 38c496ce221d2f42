// SPDX-License-Identifier: GPL-2.0-or-later
// Takes in POST /v1/report: who sent it, whether it is whole, and what of it is news. Thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "common/munge.h"
#include "hub/model.h"
#include "hub/store.h"

namespace acrf::hub {

struct Answer {
  int status = 200;
  std::string body;  // JSON
};

class Ingest {
 public:
  // `slurm_user`: may send for any node, as root may.
  Ingest(Model& model, Store& store, Seals seals, std::uint32_t slurm_user)
      : model_(model), store_(store), seals_(std::move(seals)), slurm_user_(slurm_user) {}

  // `authorization`: the header's value. `peer`: the connection's numeric address.
  Answer take(const std::string& authorization, const std::string& body, const std::string& peer,
              std::int64_t now_ms);

 private:
  Answer refuse(int status, const std::string& sentence);
  // Nothing: it is of the node that it names, sent from there.
  Status check_seal(const std::string& authorization, const std::string& body, std::string& node);
  Status check_address(const std::string& node, const std::string& peer);

  Model& model_;
  Store& store_;
  const Seals seals_;
  const std::uint32_t slurm_user_;
  std::mutex addresses_mutex_;
  std::unordered_map<std::string, std::vector<std::string>> addresses_;  // of host names
};

std::string sha256_hex(std::string_view text);

}  // namespace acrf::hub
