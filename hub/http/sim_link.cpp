// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/sim_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>

#include "common/unique_fd.h"

namespace acrf::hub {
namespace {

constexpr std::chrono::milliseconds kPatience{2000};
constexpr std::size_t kLongestAnswer = 1 << 20;
constexpr std::chrono::milliseconds kFeedEvery{1000};

Error silence() { return {ErrorCode::kUnavailable, "the simulator does not answer"}; }

Result<UniqueFd> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{ErrorCode::kInvalid, "--sim-socket: the path is too long"};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return silence();
  return fd;
}

Result<std::string> read_line(int fd) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::string line;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                          deadline - std::chrono::steady_clock::now())
                          .count();
    pollfd look{fd, POLLIN, 0};
    if (left <= 0 || ::poll(&look, 1, static_cast<int>(left)) <= 0) return silence();
    char buffer[4096];
    const auto n = ::read(fd, buffer, sizeof buffer);
    if (n <= 0) return silence();
    line.append(buffer, static_cast<std::size_t>(n));
    if (const auto end = line.find('\n'); end != std::string::npos) return line.substr(0, end);
    if (line.size() > kLongestAnswer) return silence();
  }
}

}  // namespace

Result<nlohmann::ordered_json> ask_simulator(const std::string& socket, const std::string& line) {
  const auto fd = connect_to(socket);
  if (!fd) return fd.error();
  const auto text = line + "\n";
  if (::send(fd->get(), text.data(), text.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(text.size()))
    return silence();
  const auto answered = read_line(fd->get());
  if (!answered) return answered.error();
  auto state = nlohmann::ordered_json::parse(*answered, nullptr, false);
  if (!state.is_object()) return silence();
  return state;
}

SimFeed::SimFeed(std::string socket, Feed& feed) : socket_(std::move(socket)), feed_(feed) {
  if (!socket_.empty()) thread_ = std::thread([this] { run(); });
}

SimFeed::~SimFeed() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SimFeed::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    if (const auto state = ask_simulator(socket_, "{}"))
      feed_.publish("sim", state->dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
    lock.lock();
    wake_.wait_for(lock, kFeedEvery, [this] { return stopping_; });
  }
}

}  // namespace acrf::hub
