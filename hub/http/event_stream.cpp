// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/event_stream.h"

#include "core/text.h"
#include "hub/http/api.h"

namespace acrf::hub {
namespace {

// So often at least something is sent: who has gone is noticed.
constexpr std::chrono::milliseconds kBeat{5000};
constexpr std::chrono::milliseconds kLook{500};  // between two looks at whether to stop

}  // namespace

class EventStream::Seat {
 public:
  Seat(EventStream& stream, std::string address) : stream_(stream), address_(std::move(address)) {}
  Seat(const Seat&) = delete;
  ~Seat() {
    const std::lock_guard lock(stream_.mutex_);
    --stream_.taken_;
    if (--stream_.seats_[address_] == 0) stream_.seats_.erase(address_);
  }

 private:
  EventStream& stream_;
  const std::string address_;
};

std::size_t EventStream::followers() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

std::shared_ptr<EventStream::Seat> EventStream::take_seat(const std::string& address) {
  const std::lock_guard lock(mutex_);
  const auto known = seats_.find(address);
  if (taken_ >= most_ || (known != seats_.end() && known->second >= most_per_address_))
    return nullptr;
  ++taken_;
  ++seats_[address];
  return std::make_shared<Seat>(*this, address);
}

std::string to_wire(const FeedEvent& event) {
  return "id: " + std::to_string(event.seq) + "\nevent: " + event.kind + "\ndata: " + event.data +
         "\n\n";
}

void EventStream::follow(const httplib::Request& request, httplib::Response& response) {
  const auto seat = take_seat(request.remote_addr);
  if (!seat) {
    response.set_header("Retry-After", "10");
    return answer_error(response, 503, "too many follow the events already");
  }
  const auto last_id = request.get_header_value("Last-Event-ID");
  const auto resumed = parse_unsigned(last_id);
  if (!last_id.empty() && !resumed)
    return answer_error(response, 400, "Last-Event-ID: must be a number");
  response.set_header("Cache-Control", "no-store");
  response.set_header("X-Accel-Buffering", "no");
  const auto place = std::make_shared<std::uint64_t>(resumed ? *resumed : feed_.last());
  const auto beat_due = std::make_shared<std::chrono::steady_clock::time_point>();
  response.set_chunked_content_provider(
      "text/event-stream", [this, seat, place, beat_due](std::size_t, httplib::DataSink& sink) {
        if (stopping_) {
          sink.done();
          return true;
        }
        const auto news = feed_.wait(*place, kLook);
        std::string text;
        if (news.reset) {
          *place = feed_.last();
          text = "id: " + std::to_string(*place) + "\nevent: reset\ndata: {}\n\n";
        }
        for (const auto& event : news.events) {
          text += to_wire(*event);
          *place = event->seq;
        }
        const auto now = std::chrono::steady_clock::now();
        if (text.empty() && now >= *beat_due) text = ": still here\n\n";
        if (text.empty()) return sink.is_writable();
        *beat_due = now + kBeat;
        return sink.write(text.data(), text.size());
      });
}

}  // namespace acrf::hub
