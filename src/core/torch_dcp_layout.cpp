// SPDX-License-Identifier: GPL-2.0-or-later
// PyTorch's distributed checkpoint. .metadata is a pickle; the names of the shards stand in it as
// plain strings, so they are found without unpickling, which could run code.
#include <algorithm>
#include <set>

#include "core/checkpoint_layouts.h"
#include "core/tensor_file.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kSuffix = ".distcp";
constexpr std::size_t kChunk = 1 << 20, kLongestName = 64;
constexpr char kPickleStop = '.';

// "__RANK_NUMBER" at the end of `text`; empty when there is none.
std::string_view shard_at_end(std::string_view text) {
  const auto begin = text.find_last_not_of("0123456789_");
  auto name = begin == std::string_view::npos ? text : text.substr(begin + 1);
  const auto mark = name.rfind("__");
  if (mark == std::string_view::npos) return {};
  name.remove_prefix(mark);
  const auto numbers = split(name.substr(2), '_');
  if (numbers.size() != 2 || !parse_unsigned(numbers[0]) || !parse_unsigned(numbers[1])) return {};
  return name;
}

void collect_shards(std::string_view bytes, std::set<std::string>& shards) {
  for (auto at = bytes.find(kSuffix); at != std::string_view::npos;
       at = bytes.find(kSuffix, at + 1)) {
    const auto from = at > kLongestName ? at - kLongestName : 0;
    const auto name = shard_at_end(bytes.substr(from, at - from));
    if (!name.empty()) shards.insert(std::string(name) + std::string(kSuffix));
  }
}

// Piece by piece: the metadata of a large model has hundreds of megabytes.
std::set<std::string> named_shards(const CheckpointFiles& files, const std::string& path,
                                   std::uint64_t size) {
  std::set<std::string> shards;
  for (std::uint64_t offset = 0; offset < size; offset += kChunk - 2 * kLongestName) {
    const auto bytes = files.read(path, offset, kChunk);
    if (!bytes) return {};
    collect_shards(*bytes, shards);
  }
  return shards;
}

}  // namespace

std::optional<std::string> torch_dcp_defect(const CheckpointFiles& files, const std::string& path) {
  const auto metadata = path + "/.metadata";
  const auto size = files.size_of(metadata);
  if (!size) return "no .metadata";
  if (*size == 0 || files.read(metadata, *size - 1, 1) != std::string(1, kPickleStop))
    return ".metadata is cut off";
  const auto shards = named_shards(files, metadata, *size);
  if (shards.empty()) return ".metadata names no shard";
  for (const auto& shard : shards)
    if (const auto defect = zip_stream_defect(files, path + "/" + shard))
      return defect->substr(path.size() + 1);
  return std::nullopt;
}

}  // namespace acrf
