// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub_reporters.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/sha.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>

#include "core/text.h"

namespace acrf::perf {
namespace {

constexpr std::int64_t kAnswerWithin_ms = 10'000;
constexpr std::int64_t kTryAgain_ms = 1000;
constexpr std::size_t kMostInReport = 200;
constexpr int kMostOpen = 500;
constexpr std::int64_t kTick_ms = 5;  // between two looks at which nodes are due

std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string sha256_hex(const std::string& text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  std::string hex;
  for (const unsigned char byte : digest) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::uint64_t number_after(const std::string& text, const char* key) {
  const auto at = text.find(key);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + std::strlen(key), nullptr, 10);
}

}  // namespace

struct HubReporters::Connection {
  HubReporters::Node* node = nullptr;
  int fd = -1;
  std::string request, reply;
  std::size_t written = 0;
  std::int64_t started_ms = 0;
};

struct HubReporters::Node {
  std::string name, stream;
  std::uint32_t next_seq = 1;
  std::int64_t next_ms = 0, next_try_ms = 0;
  std::deque<Sample> kept;
  std::uint32_t accepted = 0;
  std::vector<int> values;  // temperature, memory temperature, power, utilisation of each GPU
  std::unique_ptr<Connection> connection;
};

HubReporters::HubReporters(Options options)
    : options_(std::move(options)),
      seals_(munge_seals(options_.munge_socket)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      nodes_(static_cast<std::size_t>(options_.nodes)),
      made_(nodes_.size()) {
  const auto now = unix_ms();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    auto& node = nodes_[i];
    node.name = "n" + std::to_string(i + 1);
    node.stream = "bench-" + std::to_string(now);
    node.next_ms = now + static_cast<std::int64_t>(i) * options_.interval_ms / options_.nodes;
    for (int gpu = 0; gpu < options_.gpus; ++gpu)
      node.values.insert(node.values.end(), {60, 70, 550, 95});
  }
}

HubReporters::~HubReporters() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  ::close(epoll_);
}

void HubReporters::start() {
  thread_ = std::thread([this] { run(); });
}

bool HubReporters::finish(int limit_s) {
  finishing_ = true;
  for (int i = 0; i < limit_s * 10 && !all_durable_; ++i) ::usleep(100'000);
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  return all_durable_;
}

// Readings as a busy GPU has them: around a mean, with some noise.
void HubReporters::make_sample(Node& node, std::int64_t now_ms) {
  Sample sample{node.next_seq++, now_ms, false, ""};
  auto& text = sample.text;
  text = "{\"seq\":" + std::to_string(sample.seq) + ",\"ms\":" + std::to_string(now_ms) +
         ",\"kind\":\"sample\",\"gpus\":[";
  for (int gpu = 0; gpu < options_.gpus; ++gpu) {
    text += gpu == 0 ? "[" : ",[";
    constexpr int kSpread[] = {1, 1, 12, 3};
    constexpr int kMean[] = {60, 70, 550, 95};
    for (std::size_t metric = 0; metric < 4; ++metric) {
      auto& value = node.values[static_cast<std::size_t>(gpu) * 4 + metric];
      value += static_cast<int>(::random() % (2 * kSpread[metric] + 1)) - kSpread[metric];
      value += (kMean[metric] - value) / 4;
      text += std::to_string(value) + ",";
    }
    text += "0,0,0," + std::to_string(sample.seq) + "]";
  }
  text += "]}";
  node.kept.push_back(std::move(sample));
  ++counts_.samples;
  ++made_[static_cast<std::size_t>(&node - nodes_.data())];
}

void HubReporters::send(Node& node, std::int64_t now_ms) {
  std::string body = "{\"node\":\"" + node.name + "\",\"boot\":\"b\",\"stream\":\"" + node.stream +
                     "\",\"version\":\"bench\",\"driver\":\"550.54\",\"first\":" +
                     std::to_string(node.kept.empty() ? node.next_seq : node.kept.front().seq) +
                     ",\"items\":[";
  std::size_t items = 0;
  for (const auto& sample : node.kept) {
    if (sample.seq <= node.accepted || items >= kMostInReport) continue;
    body += (items++ == 0 ? "" : ",") + sample.text;
  }
  body += "]}";
  const auto credential = seals_.seal("acrf-report " + node.name + " " + sha256_hex(body));
  if (!credential) {
    ++counts_.failed;
    counts_.last_failure = credential.error().sentence;
    node.next_try_ms = now_ms + kTryAgain_ms;
    return;
  }
  auto connection = std::make_unique<Connection>();
  connection->node = &node;
  connection->started_ms = now_ms;
  connection->request = "POST /v1/report HTTP/1.1\r\nHost: hub\r\nConnection: close\r\n"
                        "Content-Type: application/json\r\nAuthorization: Munge " +
                        *credential + "\r\nContent-Length: " + std::to_string(body.size()) +
                        "\r\n\r\n" + body;
  connection->fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(options_.port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  (void)::connect(connection->fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
  epoll_event wanted{};
  wanted.events = EPOLLIN | EPOLLOUT | EPOLLET;
  wanted.data.ptr = connection.get();
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection->fd, &wanted);
  node.connection = std::move(connection);
  ++open_;
  step(*node.connection);  // a hub's thread waits for what does not come at once
}

void HubReporters::step(Connection& connection) {
  while (connection.written < connection.request.size()) {
    const auto n = ::send(connection.fd, connection.request.data() + connection.written,
                          connection.request.size() - connection.written, MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EAGAIN || errno == ENOTCONN) break;
      return end(connection, false);
    }
    connection.written += static_cast<std::size_t>(n);
  }
  char buffer[4096];
  while (true) {
    const auto n = ::recv(connection.fd, buffer, sizeof buffer, 0);
    if (n < 0) {
      if (errno == EAGAIN || errno == ENOTCONN) return;
      return end(connection, false);
    }
    if (n == 0) return end(connection, starts_with(connection.reply, "HTTP/1.1 200"));
    connection.reply.append(buffer, static_cast<std::size_t>(n));
  }
}

void HubReporters::end(Connection& connection, bool answered) {
  auto& node = *connection.node;
  ::close(connection.fd);
  const auto ended = std::move(node.connection);
  --open_;
  if (answered) {
    ++counts_.answered;
    return take_reply(node, ended->reply);
  }
  ++counts_.failed;
  if (!ended->reply.empty()) counts_.last_failure = ended->reply.substr(0, 300);
  node.next_try_ms = unix_ms() + kTryAgain_ms;
}

void HubReporters::take_reply(Node& node, const std::string& reply) {
  const auto now_ms = unix_ms();
  node.accepted = static_cast<std::uint32_t>(number_after(reply, "\"accepted\":"));
  const auto durable = number_after(reply, "\"durable\":");
  for (auto& sample : node.kept) {
    if (sample.seq > node.accepted || sample.answered) continue;
    sample.answered = true;
    lags_ms_.push_back(static_cast<double>(now_ms - sample.ms));
  }
  while (!node.kept.empty() && node.kept.front().seq <= durable) node.kept.pop_front();
}

void HubReporters::serve_connections(int wait_ms) {
  epoll_event events[256];
  const int n = ::epoll_wait(epoll_, events, std::size(events), wait_ms);
  for (int i = 0; i < n; ++i) step(*static_cast<Connection*>(events[i].data.ptr));
}

void HubReporters::run() {
  while (!stopping_) {
    const auto now_ms = unix_ms();
    std::uint64_t waiting = 0;
    const auto wake_ms = now_ms + kTick_ms;
    for (auto& node : nodes_) {
      waiting += node.kept.size();
      const bool due = now_ms >= node.next_ms;
      if (due) {
        if (!finishing_) make_sample(node, now_ms);
        node.next_ms += finishing_ ? 1000 : options_.interval_ms;
      }
      if (node.connection && now_ms - node.connection->started_ms > kAnswerWithin_ms)
        end(*node.connection, false);
      const bool unsent = !node.kept.empty() && node.kept.back().seq > node.accepted;
      if (!node.connection && now_ms >= node.next_try_ms && open_ < kMostOpen &&
          (unsent || (due && finishing_ && !node.kept.empty()))) {
        send(node, unix_ms());
        serve_connections(0);
      }
    }
    counts_.waiting = waiting;
    if (finishing_ && waiting == 0) all_durable_ = true;
    serve_connections(static_cast<int>(std::max<std::int64_t>(0, wake_ms - unix_ms())));
  }
}

}  // namespace acrf::perf
