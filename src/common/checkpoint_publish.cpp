// SPDX-License-Identifier: GPL-2.0-or-later
// Checksums of a large checkpoint take minutes, so the lock is not held over them: the fence is
// looked at before, to refuse early, and again under the lock that covers the publication itself.
#include "common/checkpoint_publish.h"

#include <unistd.h>

#include <filesystem>

#include "common/directory_lock.h"
#include "common/file.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience(30);

// With the lock held.
Status pass_fence(const std::string& directory, const Fence& mine) {
  auto fences = read_fences(directory);
  if (const auto checked = check_fence(fences, mine); !checked) return checked.error();
  if (!raise_fence(fences, mine)) return Done{};
  return write_file(directory + "/" + std::string(kFenceName), format_fences(fences), 0644);
}

Result<std::string> absolute(const std::string& path) {
  std::error_code error;
  auto full = fs::absolute(path, error).lexically_normal();
  if (error) return Error{ErrorCode::kSystem, path + ": " + error.message()};
  if (!full.has_filename()) full = full.parent_path();
  return full.string();
}

Result<Publication> complete(Publication publication) {
  const auto checkpoint = absolute(publication.checkpoint);
  if (!checkpoint) return checkpoint.error();
  publication.checkpoint = *checkpoint;
  if (publication.directory.empty())
    publication.directory = fs::path(*checkpoint).parent_path().string();
  const auto directory = absolute(publication.directory);
  if (!directory) return directory.error();
  publication.directory = *directory;
  const auto& name = publication.name;
  if (name.find('/') != std::string::npos || name.starts_with("."))
    return Error{ErrorCode::kInvalid, "'" + name + "' is no name for a checkpoint"};
  return publication;
}

// Moves the checkpoint to `target`, and what is there out of the way to `replaced`.
Status move_into_place(const std::string& checkpoint, const std::string& target,
                       const std::string& replaced) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(target, error))) fs::rename(target, replaced, error);
  if (!error || error == std::errc::no_such_file_or_directory) {
    error.clear();
    fs::rename(checkpoint, target, error);
  }
  if (error) return Error{ErrorCode::kSystem, "rename " + checkpoint + ": " + error.message()};
  return Done{};
}

// The part that a later restart of the job must not fall into.
Status publish_now(const Publication& publication, const std::string& manifest,
                   const std::string& target, const std::string& replaced) {
  if (publication.fence) {
    const auto passed = pass_fence(publication.directory, *publication.fence);
    if (!passed) return passed.error();
  }
  const auto written = write_manifest(publication.checkpoint, manifest);
  if (!written || target == publication.checkpoint) return written;
  return move_into_place(publication.checkpoint, target, replaced);
}

Status refuse_early(const Publication& publication) {
  if (!publication.fence) return Done{};
  return check_fence(read_fences(publication.directory), *publication.fence);
}

}  // namespace

std::vector<Fence> read_fences(const std::string& directory) {
  const auto text = read_file(directory + "/" + std::string(kFenceName));
  return text ? parse_fences(*text) : std::vector<Fence>();
}

Status raise_fence(const std::string& directory, const Fence& fence,
                   std::chrono::milliseconds patience) {
  const auto lock = DirectoryLock::take(directory, patience);
  if (!lock) return lock.error();
  return pass_fence(directory, fence);
}

Result<std::string> publish_checkpoint(const Publication& request) {
  const auto publication = complete(request);
  if (!publication) return publication.error();
  if (const auto early = refuse_early(*publication); !early) return early.error();
  const auto manifest = measure_checkpoint(publication->checkpoint, publication->checksums);
  if (!manifest) return manifest.error();

  const auto target = publication->name.empty() ? publication->checkpoint
                                                : publication->directory + "/" + publication->name;
  const auto replaced = publication->directory + "/.acrf-replaced." + std::to_string(::getpid()) +
                        "." + publication->name;
  {
    const auto lock = DirectoryLock::take(publication->directory, kPatience);
    if (!lock && publication->fence) return lock.error();
    const auto published = publish_now(*publication, *manifest, target, replaced);
    if (!published) return published.error();
  }
  std::error_code ignored;  // what is left over is hidden and does no harm
  fs::remove_all(replaced, ignored);
  return target;
}

}  // namespace acrf
