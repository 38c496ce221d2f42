// SPDX-License-Identifier: GPL-2.0-or-later
// Megatron. Every rank writes below iter_N; after a barrier rank 0 writes N into the tracker file.
#include <algorithm>
#include <map>

#include "core/checkpoint_layouts.h"
#include "core/json_scan.h"
#include "core/tensor_file.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kRelease = "release", kIteration = "iter_", kRank = "mp_rank_";

using Rank = std::vector<std::uint64_t>;  // tensor[, pipeline[, expert]]

std::optional<Rank> rank_of(std::string_view name) {
  if (!take_prefix(name, kRank)) return std::nullopt;
  Rank rank;
  for (const auto part : split(name, '_')) {
    const auto number = parse_unsigned(part);
    if (!number) return std::nullopt;
    rank.push_back(*number);
  }
  return rank;
}

std::optional<std::string> unfinished(const std::string& name,
                                      const std::optional<std::string>& tracker) {
  const std::string file(kMegatronTracker);
  if (!tracker) return "no " + file;
  if (name == kRelease || *tracker == kRelease) {
    if (name == *tracker) return std::nullopt;
    return file + " says " + *tracker;
  }
  const auto finished = parse_unsigned(*tracker);
  if (!finished) return file + " holds no number";
  if (*step_of(name) > *finished)
    return "newer than iteration " + *tracker + " in " + file + ": not finished";
  return std::nullopt;
}

// Every rank up to the largest seen in each dimension.
bool is_full_grid(const std::map<Rank, std::string>& ranks) {
  Rank widest;
  for (const auto& [rank, name] : ranks) {
    if (rank.size() != ranks.begin()->first.size()) return false;
    widest.resize(rank.size());
    for (std::size_t i = 0; i < rank.size(); ++i) widest[i] = std::max(widest[i], rank[i]);
  }
  std::uint64_t expected = 1;
  for (const auto last : widest) {
    expected *= last + 1;
    if (expected > ranks.size()) return false;
  }
  return expected == ranks.size();
}

std::optional<std::string> ranks_defect(const CheckpointFiles& files, const std::string& path,
                                        const std::map<Rank, std::string>& ranks) {
  if (!is_full_grid(ranks)) return "model-parallel ranks are missing";
  const auto has_optimizer = [&](const auto& rank) {
    return files.size_of(path + "/" + rank.second + "/distrib_optim.pt").has_value();
  };
  const bool needs_optimizer = std::any_of(ranks.begin(), ranks.end(), has_optimizer);
  for (const auto& rank : ranks)
    for (const std::string_view file : {"model_optim_rng.pt", "distrib_optim.pt"}) {
      if (file == "distrib_optim.pt" && !needs_optimizer) continue;
      const auto full = path + "/" + rank.second + "/" + std::string(file);
      if (const auto defect = torch_save_defect(files, full))
        return defect->substr(path.size() + 1);
    }
  return std::nullopt;
}

std::optional<std::string> distributed_defect(const CheckpointFiles& files,
                                              const std::string& path) {
  if (auto defect = torch_dcp_defect(files, path)) return defect;
  if (const auto defect = torch_save_defect(files, path + "/common.pt"))
    return defect->substr(path.size() + 1);
  const auto metadata = read_text(files, path + "/metadata.json");
  if (!metadata) return "metadata.json is missing";
  if (!is_json_object(*metadata)) return "metadata.json is cut off";
  return std::nullopt;
}

}  // namespace

bool is_iteration_name(std::string_view name) {
  return take_prefix(name, kIteration) && parse_unsigned(name).has_value();
}

std::optional<std::string> megatron_defect(const CheckpointFiles& files, const std::string& path,
                                           const std::optional<std::string>& tracker) {
  if (path != kRelease && !is_iteration_name(path)) return "not named iter_N or release";
  if (auto reason = unfinished(path, tracker)) return reason;
  std::map<Rank, std::string> ranks;
  for (const auto& entry : files.list(path))
    if (auto rank = rank_of(entry.name); rank && entry.is_directory)
      ranks[std::move(*rank)] = entry.name;
  return ranks.empty() ? distributed_defect(files, path) : ranks_defect(files, path, ranks);
}

}  // namespace acrf
