// SPDX-License-Identifier: GPL-2.0-or-later
// Incidents on disk, one file each, written before every act: what a killed daemon was about to do,
// the next one finds here and finishes.
#pragma once

#include <string>
#include <vector>

#include "common/record_dir.h"
#include "core/incident.h"

namespace acrf {

class IncidentStore {
 public:
  // Creates the directory, readable by its owner only.
  static Result<IncidentStore> open(const std::string& directory);

  Status save(const Incident& incident) const;

  // Unreadable files are set aside as *.bad and named in `complaints`.
  std::vector<Incident> load_all(std::vector<std::string>& complaints) const;

  // What is written here outlasts a restart, whoever writes the incident's record meanwhile:
  // nothing is to be begun for it any more.
  Status withdraw(const std::string& id) const;
  bool is_withdrawn(const std::string& id) const;

  // Removes finished incidents but the newest `keep`.
  void prune(std::size_t keep) const;

 private:
  IncidentStore(std::string directory, RecordDir records)
      : directory_(std::move(directory)), records_(std::move(records)) {}
  std::string withdrawal_path(const std::string& id) const;
  std::string directory_;
  RecordDir records_;
};

std::string to_json(const Incident& incident);
Result<Incident> incident_from_json(const std::string& text);

}  // namespace acrf
