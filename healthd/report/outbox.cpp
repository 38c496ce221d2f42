// SPDX-License-Identifier: GPL-2.0-or-later
// A file on disk has the stream's name in its first line and an item with its number in each
// further one.
#include "report/outbox.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "common/file.h"
#include "core/text.h"
#include "report/report_items.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;

// "{"seq":12,..." begins every line.
std::uint64_t number_in(std::string_view line) {
  if (!take_prefix(line, "{\"seq\":")) return 0;
  return parse_unsigned(line.substr(0, line.find(','))).value_or(0);
}

std::string lines_of(const std::vector<Outbox::Item>& items) {
  std::string text;
  for (const auto& item : items) text += with_number(item.text, item.seq) + "\n";
  return text;
}

}  // namespace

Outbox::Outbox(std::string directory, std::string stream, Bounds bounds)
    : directory_(std::move(directory)), stream_(std::move(stream)), bounds_(bounds) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error))
    if (entry.path().extension() == ".items")
      files_.push_back({entry.path(), static_cast<std::size_t>(entry.file_size(error))});
  std::sort(files_.begin(), files_.end(),
            [](const File& a, const File& b) { return a.path < b.path; });
  if (!files_.empty())
    next_file_ = static_cast<unsigned>(
        parse_unsigned(fs::path(files_.back().path).stem().string()).value_or(0) + 1);
}

void Outbox::add(Item item) {
  samples_ += item.is_sample;
  unsent_.push_back(std::move(item));
}

void Outbox::replace(Item item) {
  std::erase_if(unsent_, [&](const Item& one) { return one.record == item.record; });
  add(std::move(item));
}

bool Outbox::has_news() const {
  return !unsent_.empty() || (!sent_.empty() && sent_.back().seq > accepted_);
}

Outbox::Parcel Outbox::news() {
  Parcel parcel;
  parcel.stream = stream_;
  std::size_t bytes = 0;
  const auto is_full = [&] {
    return parcel.items.size() >= bounds_.items || bytes >= bounds_.parcel_bytes;
  };
  const auto put = [&](const Item& item) {
    parcel.items.push_back(with_number(item.text, item.seq));
    bytes += parcel.items.back().size();
  };
  for (const auto& item : sent_)
    if (item.seq > accepted_ && !is_full()) put(item);
  while (!unsent_.empty() && !is_full()) {
    samples_ -= unsent_.front().is_sample;
    sent_.push_back(std::move(unsent_.front()));
    unsent_.pop_front();
    sent_.back().seq = next_seq_++;
    put(sent_.back());
  }
  parcel.first = sent_.empty() ? next_seq_ : sent_.front().seq;
  return parcel;
}

bool Outbox::load() {
  if (loaded_ && !files_.empty() && loaded_->path == files_.front().path) return true;
  loaded_.reset();
  if (files_.empty()) return false;
  if (growing_ == files_.front().path) growing_.clear();  // it is complete now
  Loaded loaded;
  loaded.path = files_.front().path;
  const auto text = read_file(loaded.path);
  if (text) {
    const auto lines = split(*text, '\n');
    loaded.stream = std::string(lines.front());
    for (std::size_t i = 1; i + 1 < lines.size(); ++i)  // the last one is empty, or half written
      if (const auto seq = number_in(lines[i]); seq > 0)
        loaded.items.emplace_back(seq, std::string(lines[i]));
  }
  if (loaded.stream.empty() || loaded.items.empty()) {
    std::error_code error;
    fs::remove(loaded.path, error);
    files_.pop_front();
    return load();
  }
  loaded_ = std::move(loaded);
  return true;
}

std::optional<Outbox::Parcel> Outbox::old() {
  if (!load()) return std::nullopt;
  Parcel parcel;
  parcel.from_disk = true;
  parcel.stream = loaded_->stream;
  parcel.first = loaded_->items.front().first;
  std::size_t bytes = 0;
  for (const auto& [seq, line] : loaded_->items) {
    if (seq <= loaded_->accepted) continue;
    if (parcel.items.size() >= bounds_.items || bytes >= bounds_.parcel_bytes) break;
    parcel.items.push_back(line);
    bytes += line.size();
  }
  return parcel;
}

std::vector<std::string> Outbox::acknowledge(const Parcel& parcel, std::uint64_t accepted,
                                             std::uint64_t durable) {
  std::vector<std::string> records;
  if (parcel.from_disk) {
    if (!loaded_ || loaded_->stream != parcel.stream) return records;
    loaded_->accepted = accepted;
    if (durable < loaded_->items.back().first) return records;
    std::error_code error;
    fs::remove(loaded_->path, error);
    loaded_.reset();
    files_.pop_front();
    return records;
  }
  accepted_ = accepted;
  while (!sent_.empty() && sent_.front().seq <= durable) {
    if (!sent_.front().record.empty()) records.push_back(std::move(sent_.front().record));
    sent_.pop_front();
  }
  return records;
}

Status Outbox::spill() {
  return samples_ <= bounds_.samples_in_memory ? Status(Done{}) : spill_all();
}

Status Outbox::spill_all() {
  std::vector<Item> samples;
  for (const auto& item : unsent_)
    if (item.is_sample) samples.push_back(item);
  if (samples.empty()) return Done{};
  const bool append = !growing_.empty() && files_.back().bytes < bounds_.file_bytes &&
                      !(loaded_ && loaded_->path == files_.back().path);
  if (!append) growing_seq_ = 0;
  for (auto& item : samples) item.seq = ++growing_seq_;
  const auto stream = stream_ + "." + std::to_string(next_file_);
  const auto written = append ? grow_file(samples) : begin_file(samples, stream);
  if (!written) return written;
  growing_ = files_.back().path;
  std::erase_if(unsent_, [](const Item& item) { return item.is_sample; });
  samples_ = 0;
  forget_oldest();
  return Done{};
}

Status Outbox::close() {
  growing_.clear();
  std::vector<Item> sent;
  for (const auto& item : sent_)
    if (item.is_sample) sent.push_back(item);
  if (!sent.empty())
    if (const auto written = begin_file(sent, stream_); !written) return written;
  return spill_all();
}

Status Outbox::begin_file(const std::vector<Item>& items, const std::string& stream) {
  std::error_code error;
  fs::create_directories(directory_, error);
  char name[32];
  std::snprintf(name, sizeof name, "/%010u.items", next_file_);
  const auto text = stream + "\n" + lines_of(items);
  if (const auto written = replace_file(directory_ + name, text); !written) return written;
  ++next_file_;
  files_.push_back({directory_ + name, text.size()});
  return Done{};
}

Status Outbox::grow_file(const std::vector<Item>& items) {
  const auto text = lines_of(items);
  if (const auto written = append_file(files_.back().path, text); !written) return written;
  files_.back().bytes += text.size();
  return Done{};
}

void Outbox::forget_oldest() {
  std::size_t total = 0;
  for (const auto& file : files_) total += file.bytes;
  while (total > bounds_.total_bytes && files_.size() > 1) {
    total -= files_.front().bytes;
    std::error_code error;
    fs::remove(files_.front().path, error);
    if (loaded_ && loaded_->path == files_.front().path) loaded_.reset();
    files_.pop_front();
    ++dropped_;
  }
}

}  // namespace acrf
