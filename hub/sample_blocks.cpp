// SPDX-License-Identifier: GPL-2.0-or-later
// A row of the journal is a sequence of records: the kind ('b' begin of a block, 's' further
// sample, 'x' the node's block was sealed), then the node and the length of what follows as 32-bit
// numbers of this machine, then the bytes that the block grew by.
#include "hub/sample_blocks.h"

#include <algorithm>
#include <cstring>

namespace acrf::hub {
namespace {

struct RecordHead {
  std::uint32_t node = 0, size = 0;
};

void put_record(std::string& journal, char kind, int node, std::string_view bytes) {
  const RecordHead head{static_cast<std::uint32_t>(node), static_cast<std::uint32_t>(bytes.size())};
  journal += kind;
  journal.append(reinterpret_cast<const char*>(&head), sizeof head);
  journal += bytes;
}

std::vector<std::int32_t> flat(const std::vector<GpuValues>& gpus) {
  std::vector<std::int32_t> numbers;
  numbers.reserve(gpus.size() * kGpuMetrics.size());
  for (const auto& gpu : gpus) numbers.insert(numbers.end(), gpu.begin(), gpu.end());
  return numbers;
}

std::string pack(const std::vector<SeriesRow>& rows) {
  if (rows.empty()) return "";
  SeriesBlock block(rows.front().numbers.size());
  for (const auto& row : rows) block.append(row.ms, row.numbers);
  return block.bytes();
}

}  // namespace

SealedBlock SampleBlocks::seal(int node, const Open& open) const {
  SealedBlock sealed{node, open.begin_ms, open.block.bytes(), ""};
  if (const auto rows = read_series(sealed.raw)) sealed.minutes = pack(roll_up(*rows, kMinute_ms));
  return sealed;
}

void SampleBlocks::add(int node, std::int64_t ms, const std::vector<GpuValues>& gpus,
                       std::string& journal, std::vector<SealedBlock>& sealed) {
  const auto numbers = flat(gpus);
  if (numbers.empty() || ms < 0) return;
  const auto begin = ms - ms % kBlock_ms;
  auto found = open_.find(node);
  if (found != open_.end() &&
      (found->second.begin_ms != begin || found->second.block.width() != numbers.size())) {
    sealed.push_back(seal(node, found->second));
    put_record(journal, 'x', node, "");
    open_.erase(found);
    found = open_.end();
  }
  const bool is_new = found == open_.end();
  if (is_new) {
    found = open_.emplace(node, Open{begin, -1, SeriesBlock(numbers.size())}).first;
    begun_.push_back(node);
  }
  const auto bytes = found->second.block.append(ms, numbers);
  put_record(journal, is_new ? 'b' : 's', node, bytes);
}

void SampleBlocks::seal_older(std::int64_t begin_ms, std::string& journal,
                              std::vector<SealedBlock>& sealed) {
  for (auto open = open_.begin(); open != open_.end();) {
    if (open->second.begin_ms >= begin_ms) {
      ++open;
      continue;
    }
    sealed.push_back(seal(open->first, open->second));
    put_record(journal, 'x', open->first, "");
    open = open_.erase(open);
  }
}

Status SampleBlocks::replay(std::int64_t row, std::string_view journal) {
  while (!journal.empty()) {
    RecordHead head;
    if (journal.size() < 1 + sizeof head) return Error{ErrorCode::kInvalid, "damaged journal"};
    const char kind = journal.front();
    std::memcpy(&head, journal.data() + 1, sizeof head);
    journal.remove_prefix(1 + sizeof head);
    if (journal.size() < head.size) return Error{ErrorCode::kInvalid, "damaged journal"};
    const auto bytes = journal.substr(0, head.size);
    journal.remove_prefix(head.size);
    const int node = static_cast<int>(head.node);
    const auto found = open_.find(node);
    if (kind == 'b') {
      auto block = SeriesBlock::resume(std::string(bytes));
      if (!block) return block.error();
      const auto begin = block->last_ms() - block->last_ms() % kBlock_ms;
      open_.insert_or_assign(node, Open{begin, row, std::move(*block)});
    } else if (found == open_.end()) {
      continue;  // its block's begin is gone: it was sealed
    } else if (kind == 'x') {
      open_.erase(found);
    } else if (const auto grown = found->second.block.extend(bytes); !grown) {
      return grown;
    }
  }
  return Done{};
}

std::string SampleBlocks::open_block(int node) const {
  const auto found = open_.find(node);
  return found == open_.end() ? "" : found->second.block.bytes();
}

std::int64_t SampleBlocks::written(std::int64_t row) {
  for (const int node : begun_)
    if (const auto found = open_.find(node); found != open_.end() && found->second.row < 0)
      found->second.row = row;
  begun_.clear();
  auto needed = row + 1;
  for (const auto& [node, open] : open_)
    if (open.row >= 0) needed = std::min(needed, open.row);
  return needed;
}

}  // namespace acrf::hub
