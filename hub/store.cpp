// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/store.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>

#include "common/audit_file.h"

namespace acrf::hub {
namespace {

constexpr std::size_t kRecentIncidents = 1000;
constexpr std::size_t kHoursPerTurn = 200;
constexpr std::int64_t kTidyEvery_ms = 10'000;
constexpr std::int64_t kTrimJournalEvery_ms = 15'000;
constexpr std::int64_t kHourIsOver_ms = 120'000;  // after its end: late samples are in

std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string position_key(const std::string& node, const std::string& stream) {
  return node + ' ' + stream;
}

}  // namespace

Store::Store(Options options) : options_(std::move(options)) {
  if (const auto opened = open_file(); !opened) fail(opened.error(), unix_ms());
  thread_ = std::thread([this] { run(); });
}

Store::~Store() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

// Also after a failure: what this process knows is then more than what the file says.
Status Store::open_file() {
  auto file = HistoryFile::open(options_.path);
  if (!file && file.error().code == ErrorCode::kInvalid) {
    const auto aside = set_aside(options_.path, std::time(nullptr));
    spdlog::error("history: {}; {}", file.error().sentence,
                  aside ? "it is kept as " + *aside + ", a new one begins" : "it stays as it is");
    if (aside) file = HistoryFile::open(options_.path);
  }
  if (!file) return file.error();
  auto kept = file->load(unix_ms());
  if (!kept) return kept.error();
  const auto recent = file->incidents(kRecentIncidents);
  if (!recent) return recent.error();
  const std::lock_guard lock(mutex_);
  if (!is_loaded_) {
    const auto replayed = file->for_each_journal(
        [&](std::int64_t row, std::string_view bytes) { return blocks_.replay(row, bytes); });
    if (!replayed) return replayed.error();
    for (const auto& [name, number] : kept->nodes) {
      names_[number] = name;
      next_number_ = std::max(next_number_, number + 1);
    }
    for (const auto& [key, seq] : kept->streams)
      positions_[position_key(names_[key.first], key.second)] = {seq, seq};
    numbers_ = std::move(kept->nodes);
    recent_ = *recent;
    is_loaded_ = true;
  } else {
    for (const auto& [name, number] : numbers_)
      if (!kept->nodes.contains(name)) new_nodes_.emplace_back(number, name);
  }
  hours_.merge(kept->hours);
  file_.emplace(std::move(*file));
  return Done{};
}

int Store::number_of(const std::string& node) {
  const auto found = numbers_.find(node);
  if (found != numbers_.end()) return found->second;
  const int number = next_number_++;
  numbers_[node] = number;
  names_[number] = node;
  new_nodes_.emplace_back(number, node);
  return number;
}

Store::Mark Store::take(Report& report) {
  const std::lock_guard lock(mutex_);
  auto& position = positions_[position_key(report.node, report.stream)];
  auto& items = report.items;
  std::erase_if(items, [&](const ReportItem& item) { return item.seq <= position.accepted; });
  const auto gone = report.first == 0 ? 0 : report.first - 1;
  const bool follows =
      items.empty() || items.front().seq <= std::max(position.accepted, gone) + 1;
  const bool has_room = waiting_ + items.size() <= options_.most_waiting;
  if (items.empty() || !follows || !has_room || !is_loaded_)
    return {position.accepted, position.durable};
  position.accepted = items.back().seq;
  const int number = number_of(report.node);
  for (const auto& item : items)
    queue_.push_back({number, report.node, report.stream, item});
  taken_ += items.size();
  waiting_ += items.size();
  return {position.accepted, position.durable};
}

void Store::add_audit(const std::string& node, ReportedAudit audit) {
  const std::lock_guard lock(mutex_);
  Waiting one{number_of(node), node, "", {}};
  one.item.what = std::move(audit);
  queue_.push_back(std::move(one));
  ++taken_;
  ++waiting_;
}

bool Store::flush(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  const auto until = taken_;
  wake_.notify_all();
  return written_.wait_for(lock, limit, [&] { return committed_ >= until; });
}

std::vector<ReportedIncident> Store::recent_incidents() {
  const std::lock_guard lock(mutex_);
  return recent_;
}

std::string Store::open_block(const std::string& node) const {
  int number = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = numbers_.find(node);
    if (found == numbers_.end()) return "";
    number = found->second;
  }
  const std::lock_guard lock(blocks_mutex_);
  return blocks_.open_block(number);
}

std::string Store::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void Store::run() {
  while (true) {
    std::vector<Waiting> taken;
    bool stop = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, options_.commit);
      stop = stopping_;
      taken.swap(queue_);
      batch_.nodes.insert(batch_.nodes.end(), new_nodes_.begin(), new_nodes_.end());
      new_nodes_.clear();
    }
    if (stop) next_try_ms_ = 0;
    work(std::move(taken), unix_ms());
    if (stop) return;
  }
}

void Store::work(std::vector<Waiting> taken, std::int64_t now_ms) {
  {
    const std::lock_guard lock(blocks_mutex_);
    for (auto& one : taken) add_to_batch(one);
    if (now_ms >= next_seal_ms_)
      blocks_.seal_older(now_ms - now_ms % kBlock_ms - kBlock_ms, batch_.journal, batch_.sealed);
  }
  if (now_ms >= next_seal_ms_) next_seal_ms_ = now_ms + kTidyEvery_ms;
  batch_items_ += taken.size();
  if (now_ms < next_try_ms_) return;
  if (!file_)
    if (const auto opened = open_file(); !opened) return fail(opened.error(), now_ms);
  if (batch_.is_empty() || commit(now_ms)) tidy(now_ms);
}

void Store::add_to_batch(Waiting& one) {
  if (auto* sample = std::get_if<ReportedSample>(&one.item.what)) {
    blocks_.add(one.node, one.item.ms, sample->gpus, batch_.journal, batch_.sealed);
  } else if (auto* incident = std::get_if<ReportedIncident>(&one.item.what)) {
    batch_.incidents.push_back(std::move(*incident));
  } else if (auto* audit = std::get_if<ReportedAudit>(&one.item.what)) {
    batch_.audit.push_back({one.node_name, std::move(*audit)});
  }
  if (!one.stream.empty()) batch_.streams[{one.node, one.stream}] = one.item.seq;
}

bool Store::commit(std::int64_t now_ms) {
  const auto row = file_->commit(batch_, now_ms);
  if (!row) {
    fail(row.error(), now_ms);
    return false;
  }
  for (const auto& block : batch_.sealed)
    hours_.insert({block.node, block.begin_ms - block.begin_ms % kHour_ms});
  if (*row > 0) {
    const auto needed = blocks_.written(*row);
    if (now_ms >= next_trim_journal_ms_) {
      next_trim_journal_ms_ = now_ms + kTrimJournalEvery_ms;
      if (const auto trimmed = file_->trim_journal(needed); !trimmed)
        spdlog::warn("history: {}", trimmed.error().sentence);
    }
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [key, seq] : batch_.streams)
    positions_[position_key(names_[key.first], key.second)].durable = seq;
  if (!problem_.empty()) spdlog::info("history: it is written again");
  problem_.clear();
  committed_ += batch_items_;
  waiting_ -= batch_items_;
  batch_ = {};
  batch_items_ = 0;
  written_.notify_all();
  return true;
}

void Store::tidy(std::int64_t now_ms) {
  std::size_t rolled = 0;
  for (auto hour = hours_.begin(); hour != hours_.end() && rolled < kHoursPerTurn;) {
    if (hour->second + kHour_ms + kHourIsOver_ms > now_ms) {
      ++hour;
      continue;
    }
    if (rolled++ == 0 && !file_->begin()) return;
    if (const auto done = file_->roll_up_hour(hour->first, hour->second); !done)
      spdlog::warn("history: {}", done.error().sentence);
    hour = hours_.erase(hour);
  }
  if (rolled > 0)
    if (const auto done = file_->end(); !done) return fail(done.error(), now_ms);
  if (now_ms < next_tidy_ms_) return;
  const auto more = file_->trim(options_.retention, now_ms);
  if (!more) return fail(more.error(), now_ms);
  next_tidy_ms_ = *more ? 0 : now_ms + kTidyEvery_ms;
}

// What the open blocks hold stands in the old file's journal only: it goes into the new file whole.
void Store::begin_anew() {
  file_.reset();
  const std::lock_guard lock(blocks_mutex_);
  batch_.journal.clear();
  blocks_.seal_older(std::numeric_limits<std::int64_t>::max(), batch_.journal, batch_.sealed);
  batch_.journal.clear();
  next_try_ms_ = 0;
  const auto aside = set_aside(options_.path, std::time(nullptr));
  if (aside) spdlog::error("history: the damaged file is kept as {}, a new one begins", *aside);
}

// Says so once; the batch stays and is tried again. A damaged file makes room for a new one.
void Store::fail(const Error& error, std::int64_t now_ms) {
  next_try_ms_ = now_ms + options_.retry.count();
  if (error.code == ErrorCode::kInvalid && file_) begin_anew();
  const std::lock_guard lock(mutex_);
  if (problem_.empty()) spdlog::error("history: {}; nodes keep what they report", error.sentence);
  problem_ = error.sentence;
}

}  // namespace acrf::hub
