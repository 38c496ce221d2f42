// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <filesystem>

#include "common/file.h"
#include "core/text.h"
#include "sources/node_readings.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;

// Fields of a mount table have blanks and the like as \040.
std::string unescape(std::string_view field) {
  std::string text;
  while (!field.empty()) {
    const auto code = field.front() == '\\' && field.size() >= 4
                          ? parse_unsigned(field.substr(1, 3), 8)
                          : std::nullopt;
    text += code ? static_cast<char>(*code) : field.front();
    field.remove_prefix(code ? 4 : 1);
  }
  return text;
}

std::optional<bool> read_clock() {
  timex state{};
  const int code = ::adjtimex(&state);
  if (code < 0) return std::nullopt;
  return code != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}

int percent_used(std::uint64_t total, std::uint64_t free) {
  return total == 0 ? 0 : static_cast<int>((total - std::min(free, total)) * 100 / total);
}

}  // namespace

MemoryReading read_memory(const std::string& root) {
  MemoryReading reading;
  const auto text = read_file(root + "/proc/meminfo");
  if (!text) return reading;
  for (const auto line : split(*text, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    auto rest = trim(line.substr(colon + 1));
    const auto name = line.substr(0, colon);
    const auto number = take_unsigned(rest);
    if (name == "MemTotal") reading.total_kb = number;
    if (name == "MemAvailable") reading.available_kb = number;
    if (name == "HardwareCorrupted") reading.corrupted_kb = number;
  }
  return reading;
}

FileSystemReading read_file_system(const std::string& path, const std::string& mounts,
                                   const std::string& root) {
  FileSystemReading reading;
  reading.mounted = false;
  for (const auto line : split(mounts, '\n')) {
    const auto fields = split(line, ' ');
    if (fields.size() < 3 || unescape(fields[1]) != path) continue;
    reading.mounted = true;
    reading.type = fields[2];  // of several mounts on one place the last is on top
  }
  if (!*reading.mounted) return reading;
  struct statvfs status;
  if (::statvfs((root + path).c_str(), &status) != 0) return reading;
  reading.writable = (status.f_flag & ST_RDONLY) == 0;
  reading.used_percent = percent_used(
      status.f_blocks, status.f_bfree > status.f_bavail ? status.f_bavail : status.f_bfree);
  reading.used_inodes_percent = percent_used(status.f_files, status.f_ffree);
  return reading;
}

NodeReader::NodeReader(NodePaths paths)
    : paths_(std::move(paths)), pci_(paths_.root, files_), processes_(paths_.root) {}

NodeReadings NodeReader::read(std::int64_t now_s) {
  NodeReadings readings;
  readings.ports = read_ports();
  readings.memory_controllers = read_memory_controllers();
  readings.pcie = read_pcie(now_s);
  readings.gpus = read_gpu_count(now_s);
  readings.memory = read_memory(paths_.root);
  processes_.read(now_s, readings);
  if (paths_.root.empty()) readings.clock_synchronized = read_clock();
  std::error_code error;
  const fs::path switches = paths_.root + "/proc/driver/nvidia-nvswitch/devices";
  if (fs::is_directory(switches, error)) readings.has_nvswitches = !fs::is_empty(switches, error);
  return readings;
}

}  // namespace acrf
