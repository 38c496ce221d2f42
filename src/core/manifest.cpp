// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/manifest.h"

#include <algorithm>

#include "core/crc32c.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kSizes = "acrf-manifest 1", kChecksums = "acrf-manifest 2";
constexpr std::size_t kDigits = 8, kChunk = 1 << 20;

Error defect(std::size_t line, const std::string& what) {
  return {ErrorCode::kInvalid, "manifest line " + std::to_string(line) + ": " + what};
}

// A manifest names files inside its own checkpoint and nothing else.
bool stays_inside(std::string_view path) {
  if (path.empty() || path.front() == '/') return false;
  for (const auto part : split(path, '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return true;
}

std::string hex(std::uint32_t value) {
  std::string digits(kDigits, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, value >>= 4)
    *digit = "0123456789abcdef"[value & 15];
  return digits;
}

std::optional<std::uint32_t> take_checksum(std::string_view& line) {
  const auto value = parse_unsigned(line.substr(0, kDigits), 16);
  if (!value || line.size() <= kDigits || line[kDigits] != ' ') return std::nullopt;
  line.remove_prefix(kDigits + 1);
  return static_cast<std::uint32_t>(*value);
}

Result<ManifestFile> parse_line(std::string_view line, std::size_t number, bool has_checksum) {
  ManifestFile file;
  const auto size = take_unsigned(line);
  if (!size || !take_prefix(line, " ")) return defect(number, "expected a size and a path");
  file.size = *size;
  if (has_checksum && !(file.crc32c = take_checksum(line)))
    return defect(number, "expected a checksum of eight digits");
  if (!stays_inside(line)) return defect(number, "the path leaves the checkpoint");
  file.path = std::string(line);
  return file;
}

std::optional<std::uint32_t> checksum_of(const CheckpointFiles& files, const std::string& path) {
  std::uint32_t checksum = 0;
  for (std::uint64_t offset = 0;; offset += kChunk) {
    const auto bytes = files.read(path, offset, kChunk);
    if (!bytes) return std::nullopt;
    checksum = crc32c(*bytes, checksum);
    if (bytes->size() < kChunk) return checksum;
  }
}

Result<std::vector<ManifestFile>> read_manifest(const CheckpointFiles& files,
                                                const std::string& checkpoint) {
  const auto text = read_text(files, checkpoint + "/" + std::string(kManifestName));
  if (!text) return Error{ErrorCode::kNotFound, "no " + std::string(kManifestName)};
  return parse_manifest(*text);
}

}  // namespace

Result<std::vector<ManifestFile>> parse_manifest(std::string_view text) {
  std::vector<ManifestFile> files;
  const auto lines = split(text, '\n');
  const bool has_checksums = lines.front() == kChecksums;
  if (!has_checksums && lines.front() != kSizes)
    return defect(1, "expected '" + std::string(kChecksums) + "'");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    auto line = lines[i];
    if (take_prefix(line, "end ")) {
      if (parse_unsigned(line) != files.size()) return defect(i + 1, "the count of files is wrong");
      return files;
    }
    auto file = parse_line(line, i + 1, has_checksums);
    if (!file) return file.error();
    files.push_back(std::move(*file));
  }
  return defect(lines.size(), "the end line is missing");
}

std::string format_manifest(const std::vector<ManifestFile>& files) {
  const bool has_checksums = std::all_of(files.begin(), files.end(),
                                         [](const auto& file) { return file.crc32c.has_value(); });
  std::string text = std::string(has_checksums ? kChecksums : kSizes) + "\n";
  for (const auto& file : files) {
    text += std::to_string(file.size) + " ";
    if (has_checksums) text += hex(*file.crc32c) + " ";
    text += file.path + "\n";
  }
  return text + "end " + std::to_string(files.size()) + "\n";
}

std::optional<std::string> manifest_defect(const CheckpointFiles& files,
                                           const std::string& checkpoint) {
  const auto manifest = read_manifest(files, checkpoint);
  if (!manifest) return manifest.error().sentence;
  for (const auto& file : *manifest) {
    const auto size = files.size_of(checkpoint + "/" + file.path);
    if (!size) return file.path + " is missing";
    if (*size != file.size) {
      return file.path + " has " + std::to_string(*size) + " bytes, the manifest says " +
             std::to_string(file.size);
    }
  }
  return std::nullopt;
}

std::optional<std::string> checksum_defect(const CheckpointFiles& files,
                                           const std::string& checkpoint) {
  const auto manifest = read_manifest(files, checkpoint);
  if (!manifest) return manifest.error().sentence;
  for (const auto& file : *manifest) {
    if (!file.crc32c) continue;
    const auto checksum = checksum_of(files, checkpoint + "/" + file.path);
    if (!checksum) return file.path + " can't be read";
    if (*checksum != *file.crc32c) {
      return file.path + " has checksum " + hex(*checksum) + ", the manifest says " +
             hex(*file.crc32c);
    }
  }
  return std::nullopt;
}

}  // namespace acrf
