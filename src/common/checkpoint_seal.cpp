// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/checkpoint_seal.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "common/file.h"
#include "common/unique_fd.h"
#include "core/crc32c.h"
#include "core/text.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunk = 1 << 20;

Result<std::uint32_t> checksum_of(int fd, const std::string& path) {
  std::uint32_t checksum = 0;
  std::string bytes(kChunk, '\0');
  while (true) {
    const ssize_t n = ::read(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("read " + path);
    if (n == 0) return checksum;
    checksum = crc32c({bytes.data(), static_cast<std::size_t>(n)}, checksum);
  }
}

Result<ManifestFile> measure_file(const fs::path& root, const fs::path& path, Checksums checksums) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return system_error("open " + path.string());
  if (::fsync(fd.get()) != 0) return system_error("sync " + path.string());
  std::error_code error;
  ManifestFile file{fs::file_size(path, error), path.lexically_relative(root).string(), {}};
  if (error) return Error{ErrorCode::kSystem, path.string() + ": " + error.message()};
  if (checksums == Checksums::kAll) {
    const auto checksum = checksum_of(fd.get(), path.string());
    if (!checksum) return checksum.error();
    file.crc32c = *checksum;
  }
  return file;
}

bool is_manifest(const std::string& path) {
  return path == kManifestName || starts_with(path, std::string(kManifestName) + ".draft.");
}

Result<std::vector<ManifestFile>> measure_files(const std::string& directory, Checksums checksums) {
  std::vector<ManifestFile> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    if (!fs::is_regular_file(at->symlink_status(error))) continue;
    const auto name = at->path().lexically_relative(directory).string();
    if (is_manifest(name)) continue;
    if (name.find('\n') != std::string::npos)
      return Error{ErrorCode::kInvalid, directory + ": a file's name contains a line break"};
    auto file = measure_file(directory, at->path(), checksums);
    if (!file) return file.error();
    files.push_back(std::move(*file));
  }
  if (error) return Error{ErrorCode::kSystem, directory + ": " + error.message()};
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

}  // namespace

Result<std::string> measure_checkpoint(const std::string& directory, Checksums checksums) {
  const auto files = measure_files(directory, checksums);
  if (!files) return files.error();
  if (files->empty())
    return Error{ErrorCode::kInvalid, directory + ": there is no file in it to seal"};
  return format_manifest(*files);
}

Status write_manifest(const std::string& directory, const std::string& manifest) {
  return write_file(directory + "/" + std::string(kManifestName), manifest, 0644);
}

Status seal_checkpoint(const std::string& directory, Checksums checksums) {
  const auto manifest = measure_checkpoint(directory, checksums);
  if (!manifest) return manifest.error();
  return write_manifest(directory, *manifest);
}

}  // namespace acrf
