// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/checkpoint.h"

#include <algorithm>
#include <tuple>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kHeader = "acrf-manifest 1";

Error defect(int line, const std::string& what) {
  return {ErrorCode::kInvalid, "manifest line " + std::to_string(line) + ": " + what};
}

// A manifest names files inside its own checkpoint and nothing else.
bool stays_inside(std::string_view path) {
  if (path.empty() || path.front() == '/') return false;
  for (const auto part : split(path, '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return true;
}

std::optional<std::uint64_t> step_of(std::string_view name) {
  const auto last = name.find_last_not_of("0123456789");
  return parse_unsigned(last == std::string_view::npos ? name : name.substr(last + 1));
}

}  // namespace

Result<std::vector<ManifestFile>> parse_manifest(std::string_view text) {
  std::vector<ManifestFile> files;
  const auto lines = split(text, '\n');
  if (lines.front() != kHeader) return defect(1, "expected '" + std::string(kHeader) + "'");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    auto line = lines[i];
    const int number = static_cast<int>(i) + 1;
    if (take_prefix(line, "end ")) {
      if (parse_unsigned(line) != files.size())
        return defect(number, "the count of files is wrong");
      return files;
    }
    const auto size = take_unsigned(line);
    if (!size || !take_prefix(line, " ")) return defect(number, "expected a size and a path");
    if (!stays_inside(line)) return defect(number, "the path leaves the checkpoint");
    files.push_back({*size, std::string(line)});
  }
  return defect(static_cast<int>(lines.size()), "the end line is missing");
}

std::string format_manifest(const std::vector<ManifestFile>& files) {
  std::string text = std::string(kHeader) + "\n";
  for (const auto& file : files) text += std::to_string(file.size) + " " + file.path + "\n";
  return text + "end " + std::to_string(files.size()) + "\n";
}

void sort_newest_first(std::vector<CheckpointEntry>& entries) {
  const auto rank = [](const CheckpointEntry& entry) {
    const auto step = step_of(entry.name);
    return std::tuple(step.has_value(), step.value_or(0), entry.modified_ns,
                      std::string_view(entry.name));
  };
  std::sort(entries.begin(), entries.end(),
            [&](const auto& a, const auto& b) { return rank(a) > rank(b); });
}

std::optional<std::string> find_defect(const CheckpointFiles& files,
                                       const std::string& checkpoint) {
  const auto text = files.manifest_of(checkpoint);
  if (!text) return "no " + std::string(kManifestName);
  const auto manifest = parse_manifest(*text);
  if (!manifest) return manifest.error().sentence;
  for (const auto& file : *manifest) {
    const auto size = files.size_of(checkpoint, file.path);
    if (!size) return file.path + " is missing";
    if (*size != file.size) {
      return file.path + " has " + std::to_string(*size) + " bytes, the manifest says " +
             std::to_string(file.size);
    }
  }
  return std::nullopt;
}

std::optional<std::string> newest_complete(const CheckpointFiles& files) {
  auto entries = files.list();
  sort_newest_first(entries);
  for (const auto& entry : entries)
    if (!find_defect(files, entry.name)) return entry.name;
  return std::nullopt;
}

}  // namespace acrf
