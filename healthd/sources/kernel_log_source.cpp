// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/kernel_log_source.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "common/file.h"
#include "core/text.h"

namespace acrf {
namespace {

// "BOOT-ID PLACE"
SavedPlace load_place(const std::string& path, const std::string& boot_id) {
  const auto text = read_file(path);
  if (!text) return {};
  const auto line = trim(*text);
  const auto blank = line.find(' ');
  if (blank == std::string_view::npos) return {};
  if (line.substr(0, blank) != boot_id) return {"", true};
  return {std::string(trim(line.substr(blank))), false};
}

OpenedKernelLog open_reader(const std::string& path, const std::string& boot_id,
                            const SavedPlace& place) {
  if (path == "journal") return read_kernel_journal("", boot_id, place);
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return system_error("open " + path);
  struct stat status;
  if (::fstat(fd.get(), &status) != 0) return system_error("stat " + path);
  return S_ISCHR(status.st_mode) ? read_kernel_log_device(std::move(fd), path, place)
                                 : follow_kernel_log_file(std::move(fd), path, place);
}

}  // namespace

Result<std::string> read_boot_id(const std::string& root) {
  constexpr char kPath[] = "/proc/sys/kernel/random/boot_id";
  auto text = read_file(root + kPath);
  if (!text && !root.empty()) text = read_file(kPath);
  if (!text) return text.error();
  return std::string(trim(*text));
}

Result<KernelLogSource> KernelLogSource::open(const std::string& path,
                                              const std::string& cursor_path,
                                              const std::string& boot_id) {
  KernelLogSource source(cursor_path, boot_id);
  const auto place = load_place(cursor_path, boot_id);
  source.saved_place_ = place.text;
  auto reader = open_reader(path, boot_id, place);
  if (!reader) return reader.error();
  source.reader_ = std::move(*reader);
  // A full disk must not stop the watch: who saves the place next says that it can't be saved.
  static_cast<void>(source.save_place());
  return source;
}

Status KernelLogSource::save_place() {
  const auto place = reader_->place();
  if (place.empty() || place == saved_place_) return Done{};
  const auto saved = write_file(cursor_path_, boot_id_ + " " + place + "\n");
  if (saved) saved_place_ = place;
  return saved;
}

}  // namespace acrf
