// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/record_dir.h"

#include <sys/stat.h>

#include <filesystem>

#include "common/file.h"

namespace acrf {

namespace fs = std::filesystem;

Result<RecordDir> RecordDir::open(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return Error{ErrorCode::kSystem, "create " + directory + ": " + error.message()};
  if (::chmod(directory.c_str(), 0700) != 0) return system_error("chmod " + directory);
  return RecordDir(directory);
}

Status RecordDir::save(const std::string& id, const std::string& text) const {
  return write_file(directory_ + "/" + id + ".json", text);
}

void RecordDir::remove(const std::string& id) const {
  std::error_code error;
  fs::remove(directory_ + "/" + id + ".json", error);
}

void RecordDir::for_each(const std::function<Status(const std::string& text)>& take,
                         std::vector<std::string>& complaints) const {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    if (entry.path().extension() != ".json") continue;
    const auto text = read_file(entry.path());
    const Status taken = text ? take(*text) : Status(text.error());
    if (taken) continue;
    complaints.push_back(entry.path().string() + ": " + taken.error().sentence);
    fs::rename(entry.path(), entry.path().string() + ".bad", error);
  }
}

}  // namespace acrf
