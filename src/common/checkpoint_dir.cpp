// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/checkpoint_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "common/file.h"
#include "common/unique_fd.h"
#include "core/text.h"

namespace acrf {
namespace {

struct CloseDir {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

Status sync_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return system_error("open " + path);
  if (::fsync(fd.get()) != 0) return system_error("sync " + path);
  return Done{};
}

Result<std::vector<ManifestFile>> measure_files(const std::string& directory) {
  namespace fs = std::filesystem;
  std::vector<ManifestFile> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    if (!fs::is_regular_file(at->symlink_status(error))) continue;
    const auto path = fs::relative(at->path(), directory, error).string();
    if (path == kManifestName || starts_with(path, std::string(kManifestName) + ".draft."))
      continue;
    if (path.find('\n') != std::string::npos)
      return Error{ErrorCode::kInvalid, directory + ": a file's name contains a line break"};
    if (const auto synced = sync_file(at->path()); !synced) return synced.error();
    files.push_back({at->file_size(error), path});
  }
  if (error) return Error{ErrorCode::kSystem, directory + ": " + error.message()};
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

}  // namespace

std::vector<CheckpointEntry> CheckpointDir::list() const {
  std::vector<CheckpointEntry> entries;
  const std::unique_ptr<DIR, CloseDir> directory(::opendir(path_.c_str()));
  if (!directory) return entries;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (entry->d_name[0] == '.') continue;
    struct stat status;
    if (::fstatat(::dirfd(directory.get()), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (!S_ISDIR(status.st_mode)) continue;
    entries.push_back(
        {entry->d_name, static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                            status.st_mtim.tv_nsec});
  }
  return entries;
}

std::optional<std::string> CheckpointDir::manifest_of(const std::string& checkpoint) const {
  const auto text = read_file(path_ + "/" + checkpoint + "/" + std::string(kManifestName));
  return text ? std::optional(*text) : std::nullopt;
}

std::optional<std::uint64_t> CheckpointDir::size_of(const std::string& checkpoint,
                                                    const std::string& path) const {
  struct stat status;
  const std::string full = path_ + "/" + checkpoint + "/" + path;
  if (::lstat(full.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

std::optional<std::string> newest_checkpoint(const std::string& directory) {
  const auto name = newest_complete(CheckpointDir(directory));
  return name ? std::optional(directory + "/" + *name) : std::nullopt;
}

Status seal_checkpoint(const std::string& directory) {
  const auto files = measure_files(directory);
  if (!files) return files.error();
  if (files->empty())
    return Error{ErrorCode::kInvalid, directory + ": there is no file in it to seal"};
  return write_file(directory + "/" + std::string(kManifestName), format_manifest(*files), 0644);
}

}  // namespace acrf
