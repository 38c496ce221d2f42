// SPDX-License-Identifier: GPL-2.0-or-later
// A directory that is gone with the test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace acrf {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "acrf-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string path(const std::string& below = "") const {
    return below.empty() ? path_ : path_ + "/" + below;
  }

  // Makes the directories on the way.
  void write(const std::string& below, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(below)).parent_path());
    std::ofstream(path(below), std::ios::binary) << text;
  }

 private:
  std::string path_;
};

}  // namespace acrf
