// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/tensor_file.h"

#include <algorithm>
#include <string_view>

#include "core/json_scan.h"

namespace acrf {
namespace {

using namespace std::string_view_literals;

constexpr auto kLocalHeader = "PK\x03\x04"sv, kDirectoryEntry = "PK\x01\x02"sv,
               kEnd = "PK\x05\x06"sv, kEnd64 = "PK\x06\x06"sv, kLocator64 = "PK\x06\x07"sv;
constexpr std::size_t kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20;
constexpr std::uint64_t kSee64 = 0xffffffff;

std::uint64_t little_endian(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

bool has_at(const CheckpointFiles& files, const std::string& path, std::uint64_t offset,
            std::string_view magic) {
  return files.read(path, offset, magic.size()) == std::string(magic);
}

// The directory of a zip archive, and where what comes after it begins.
struct ZipDirectory {
  std::uint64_t offset = 0, size = 0, limit = 0;

  bool fits() const { return offset <= limit && size <= limit - offset; }
};

std::optional<ZipDirectory> find_directory64(const CheckpointFiles& files, const std::string& path,
                                             std::uint64_t size) {
  if (size < kEndSize + kLocator64Size) return std::nullopt;
  const auto locator = files.read(path, size - kEndSize - kLocator64Size, kLocator64Size);
  if (!locator || locator->substr(0, 4) != kLocator64) return std::nullopt;
  const auto at = little_endian(*locator, 8, 8);
  const auto end = files.read(path, at, kEnd64Size);
  if (!end || end->size() < kEnd64Size || end->substr(0, 4) != kEnd64) return std::nullopt;
  return ZipDirectory{little_endian(*end, 48, 8), little_endian(*end, 40, 8), at};
}

std::optional<ZipDirectory> find_directory(const CheckpointFiles& files, const std::string& path,
                                           std::uint64_t size) {
  if (size < kEndSize) return std::nullopt;
  const auto end = files.read(path, size - kEndSize, kEndSize);
  if (!end || end->size() < kEndSize || end->substr(0, 4) != kEnd) return std::nullopt;
  const ZipDirectory directory{little_endian(*end, 16, 4), little_endian(*end, 12, 4),
                               size - kEndSize};
  if (directory.offset == kSee64 || directory.size == kSee64)
    return find_directory64(files, path, size);
  return directory;
}

}  // namespace

std::optional<std::string> zip_defect(const CheckpointFiles& files, const std::string& path) {
  const auto size = files.size_of(path);
  if (!size) return path + " is missing";
  if (*size == 0) return path + " is empty";
  if (!has_at(files, path, 0, kLocalHeader)) return path + " is no zip archive";
  const auto directory = find_directory(files, path, *size);
  if (!directory) return path + " is cut off: the archive's end is missing";
  if (!directory->fits() || !has_at(files, path, directory->offset, kDirectoryEntry))
    return path + " is damaged: the archive's directory is not where its end says";
  return std::nullopt;
}

std::optional<std::string> torch_save_defect(const CheckpointFiles& files,
                                             const std::string& path) {
  const auto size = files.size_of(path);
  if (!size) return path + " is missing";
  if (*size == 0) return path + " is empty";
  return has_at(files, path, 0, kLocalHeader) ? zip_defect(files, path) : std::nullopt;
}

std::optional<std::string> zip_stream_defect(const CheckpointFiles& files,
                                             const std::string& path) {
  const auto size = files.size_of(path);
  if (!size) return path + " is missing";
  if (*size == 0) return path + " is empty";
  if (!has_at(files, path, 0, kLocalHeader)) return std::nullopt;
  if (*size < kEndSize || !has_at(files, path, *size - kEndSize, kEnd))
    return path + " is cut off: the last archive's end is missing";
  return std::nullopt;
}

std::optional<std::string> safetensors_defect(const CheckpointFiles& files,
                                              const std::string& path) {
  constexpr std::uint64_t kPrefix = 8, kLongestHeader = 100'000'000;  // the format's own limit
  const auto size = files.size_of(path);
  if (!size) return path + " is missing";
  const auto prefix = files.read(path, 0, kPrefix);
  if (!prefix || prefix->size() < kPrefix) return path + " is cut off: it has no header";
  const auto length = little_endian(*prefix, 0, kPrefix);
  if (length > kLongestHeader || length > *size - kPrefix)
    return path + " is cut off or damaged: its header is longer than the file";
  const auto header = files.read(path, kPrefix, static_cast<std::size_t>(length));
  if (!header || !is_json_object(*header)) return path + " is damaged: its header is no JSON";
  std::uint64_t end = 0;
  for (const auto& offsets : json_pairs(*header, "data_offsets"))
    end = std::max(end, offsets.second);
  if (*size - kPrefix - length != end) {
    return path + " has " + std::to_string(*size) + " bytes, its header says " +
           std::to_string(kPrefix + length + end);
  }
  return std::nullopt;
}

}  // namespace acrf
