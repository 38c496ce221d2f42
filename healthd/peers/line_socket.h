// SPDX-License-Identifier: GPL-2.0-or-later
// A connection on which both sides send short lines; never waits.
#pragma once

#include <netinet/in.h>
#include <poll.h>

#include <optional>
#include <string>

#include "common/unique_fd.h"
#include "core/result.h"

namespace acrf {

class LineSocket {
 public:
  LineSocket() = default;
  explicit LineSocket(UniqueFd fd) : fd_(std::move(fd)) {}

  bool is_open() const { return static_cast<bool>(fd_); }
  void close() { *this = LineSocket(); }
  pollfd poll_entry() const;

  // A line longer than kLongest, or one that cannot be sent for want of room, ends the connection:
  // who does not read, or sends no lines, is nobody to talk to.
  void send(const std::string& line);
  // Takes in what has arrived, sends what waits. False: the connection is over.
  bool pump();
  std::optional<std::string> take_line();

  static constexpr std::size_t kLongest = 4096;

 private:
  UniqueFd fd_;
  std::string in_, out_;
};

// Begins to connect; kNotFound: nobody listens there. The result is writable when it is connected
// or has failed.
Result<UniqueFd> begin_connect(const std::string& address, int port);
// 0: connected; else errno.
int connect_result(int fd);

}  // namespace acrf
