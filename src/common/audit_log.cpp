// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/audit_log.h"

#include <spdlog/spdlog.h>

namespace acrf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostWaiting = 1000;
constexpr std::size_t kMostRemembered = 1000;
constexpr std::size_t kMostPending = 10'000;
constexpr std::chrono::seconds kTrimPause{1};

std::int64_t unix_ms_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::string audit_path(const std::string& state_dir) { return state_dir + "/audit.db"; }

AuditLog::AuditLog(Options options)
    : options_(std::move(options)), next_tidy_(Clock::now()), thread_([this] { run(); }) {
  if (!options_.ends_pending) return;
  Write write;
  write.kind = Write::Kind::kGiveUp;
  write.result = AuditResult::unknown("acrf-healthd ended before it was done");
  write.unix_ms = unix_ms_now();
  const std::lock_guard lock(mutex_);
  enqueue(std::move(write));
}

AuditLog::~AuditLog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

AuditId AuditLog::begin(AuditEntry entry) { return add(std::move(entry), {}); }

AuditId AuditLog::record(AuditEntry entry, AuditResult result) {
  return add(std::move(entry), std::move(result));
}

AuditId AuditLog::add(AuditEntry entry, AuditResult result) {
  if (entry.unix_ms == 0) entry.unix_ms = unix_ms_now();
  Write write{Write::Kind::kAdd, 0, bounded(std::move(entry)), bounded(std::move(result)),
              unix_ms_now(),     0};
  const auto line = to_line(write.entry);
  const auto ended = to_line(write.result);
  std::unique_lock lock(mutex_);
  const auto id = write.id = --last_given_;
  enqueue(std::move(write));
  if (usable_ || Clock::now() >= next_try_)
    written_.wait_for(lock, options_.patience, [&, failures = failures_] {
      return recorded_.contains(id) || failures_ != failures;
    });
  if (const auto found = recorded_.find(id); found != recorded_.end()) {
    const AuditId known{found->second};
    recorded_.erase(found);
    return known;
  }
  lock.unlock();
  spdlog::warn("audit {}, not on disk yet: {}; {}", id, line, ended);
  return {id};
}

void AuditLog::finish(AuditId id, AuditResult result) {
  if (!id.is_recorded()) spdlog::warn("audit {}: {}", id.value, to_line(result));
  Write write;
  write.kind = Write::Kind::kFinish;
  write.id = id.value;
  write.result = bounded(std::move(result));
  write.unix_ms = unix_ms_now();
  const std::lock_guard lock(mutex_);
  enqueue(std::move(write));
}

void AuditLog::mark_undone(AuditId id, AuditId by) {
  Write write;
  write.kind = Write::Kind::kUndone;
  write.id = id.value;
  write.undone_by = by.value;
  const std::lock_guard lock(mutex_);
  enqueue(std::move(write));
}

// With the lock held. A queue that is full loses its oldest entry, which the process's log has.
void AuditLog::enqueue(Write write) {
  if (queue_.size() >= kMostWaiting) {
    queue_.erase(queue_.begin() + (writing_ ? 1 : 0));
    ++dropped_;
  }
  queue_.push_back(std::move(write));
  wake_.notify_all();
}

bool AuditLog::flush(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return written_.wait_for(lock, limit, [&] { return queue_.empty(); });
}

void AuditLog::run() {
  const auto opened = open_file();
  std::unique_lock lock(mutex_);
  if (!opened) fail(opened.error());
  const auto due = [&] { return !queue_.empty() && (usable_ || Clock::now() >= next_try_); };
  while (true) {
    while (!stopping_ && !due() && Clock::now() < next_tidy_)
      wake_.wait_until(lock, queue_.empty() ? next_tidy_ : std::min(next_try_, next_tidy_));
    if (stopping_ && (queue_.empty() || !usable_)) return;
    if (!due()) {
      lock.unlock();
      const bool more = tidy();
      lock.lock();
      next_tidy_ = Clock::now() + (more ? kTrimPause : Clock::duration(options_.tidy));
      continue;
    }
    writing_ = true;
    const Write next = queue_.front();
    lock.unlock();
    const auto done = write(next);
    lock.lock();
    writing_ = false;
    if (done) {
      queue_.pop_front();
      succeed();
    } else {
      fail(done.error());
    }
    written_.notify_all();
  }
}

// A damaged file is set aside and the entry goes into a new one.
Status AuditLog::write(const Write& write) {
  const auto done = write_once(write);
  if (done || done.error().code != ErrorCode::kInvalid) return done;
  start_anew(done.error());
  return write_once(write);
}

Status AuditLog::write_once(const Write& write) {
  if (file_ && file_->is_replaced()) file_.reset();
  if (!file_)
    if (const auto opened = open_file(); !opened) return opened;
  if (write.kind == Write::Kind::kFinish) return finish_entry(write);
  if (write.kind == Write::Kind::kUndone)
    return file_->mark_undone(known_id(write.id), known_id(write.undone_by));
  if (write.kind == Write::Kind::kGiveUp) return finish_pending(write);
  const auto id = file_->add(write.entry, write.result, write.unix_ms);
  if (!id) return id.error();
  last_number_ = *id;
  const std::lock_guard lock(mutex_);
  if (recorded_.size() >= kMostRemembered) recorded_.erase(std::prev(recorded_.end()));
  recorded_[write.id] = *id;
  return Done{};
}

Status AuditLog::finish_entry(const Write& write) {
  const auto done = file_->finish(known_id(write.id), write.result, write.unix_ms);
  if (done || done.error().code != ErrorCode::kNotFound) return done;
  spdlog::warn("audit log: {}; its result was {}", done.error().sentence, to_line(write.result));
  return Done{};
}

Status AuditLog::finish_pending(const Write& write) {
  const auto pending = find_audit_records(options_.path, {.pending = true, .newest = kMostPending});
  if (!pending) return pending.error();
  for (const auto& record : *pending)
    if (const auto done = file_->finish(record.id, write.result, write.unix_ms); !done) return done;
  return Done{};
}

Status AuditLog::open_file() {
  auto opened = AuditFile::open(options_.path, last_number_);
  if (!opened && opened.error().code == ErrorCode::kInvalid) {
    start_anew(opened.error());
    opened = AuditFile::open(options_.path, last_number_);
  }
  if (!opened) return opened.error();
  file_.emplace(std::move(*opened));
  return Done{};
}

void AuditLog::start_anew(const Error& error) {
  file_.reset();
  const auto bad = set_aside(options_.path, unix_ms_now() / 1000);
  if (bad) {
    spdlog::error("audit log: {}; the file is set aside as {} and a new one begun", error.sentence,
                  *bad);
  } else {
    spdlog::error("audit log: {}; {}", error.sentence, bad.error().sentence);
  }
}

// With the lock held. The state is reported where it changes.
void AuditLog::fail(const Error& error) {
  if (usable_)
    spdlog::error("audit log: {}; entries go to this log until it can be written", error.sentence);
  usable_ = false;
  ++failures_;
  next_try_ = Clock::now() + options_.retry;
}

void AuditLog::succeed() {
  if (usable_) return;
  spdlog::info("audit log: {} is written again, {} entries are missing there", options_.path,
               dropped_);
  usable_ = true;
  dropped_ = 0;
}

// Housekeeping; what goes wrong here shows at the next entry. The writer's own connection may know
// the file by heart and not see that it was damaged: a new one has to read it.
bool AuditLog::tidy() {
  if (file_ && !file_->is_replaced()) {
    const auto readable = find_audit_records(options_.path, {.newest = 1});
    if (!readable && readable.error().code == ErrorCode::kInvalid) start_anew(readable.error());
  }
  if (!file_ && !open_file()) return false;
  const auto more = file_->trim(options_.limits, unix_ms_now());
  return more && *more;
}

std::int64_t AuditLog::known_id(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = recorded_.find(id);
  return found == recorded_.end() ? id : found->second;
}

}  // namespace acrf
