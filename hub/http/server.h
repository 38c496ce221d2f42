// SPDX-License-Identifier: GPL-2.0-or-later
// The hub's HTTP side: takes reports, and answers from the Model and the History.
#pragma once

#include <memory>
#include <string>

#include "core/config.h"
#include "hub/history.h"
#include "hub/ingest.h"
#include "hub/model.h"

namespace acrf::hub {

struct ServerParts {
  const Config& config;
  Model& model;
  History& history;
  Store& store;
  Ingest& ingest;
  std::string listen;  // ADDRESS:PORT
  std::string sim_socket;
  bool test_cluster = false;
};

class Server {
 public:
  explicit Server(ServerParts parts);
  ~Server();

  // Listens; an Error when it cannot, or must not. Answers in threads of its own from then on.
  Status start();
  // Takes no further requests and returns when the last is answered.
  void stop();

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace acrf::hub
