// SPDX-License-Identifier: GPL-2.0-or-later
// The hub's HTTP server, with all that the API needs around it.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "common/slurm_client.h"
#include "core/config.h"
#include "core/listen_address.h"
#include "hub/history.h"
#include "hub/ingest.h"
#include "hub/model.h"
#include "hub/store.h"

namespace acrf::hub {

// Whether the hub may listen there: on an address that others reach only with a certificate.
Status check_listen_address(const ListenAddress& address, const Config& config);

class Server {
 public:
  // All outlive this.
  struct Parts {
    const Config& config;
    Model& model;
    const History& history;
    Store& store;
    Ingest& ingest;
    SlurmClient& slurm;
    std::string munge_socket;
    std::uint32_t slurm_user = 0;
    std::string listen;  // ADDRESS:PORT
    std::string sim_socket;
    bool test_cluster = false;
  };

  explicit Server(Parts parts);
  ~Server();

  // Listens, and serves from threads of its own.
  Status start();
  void stop();
  int port() const { return port_; }

 private:
  struct Inside;

  Parts parts_;
  int port_ = 0;
  std::unique_ptr<Inside> inside_;
  std::thread thread_;
};

// "HubDir/tokens" unless HubTokenFile says otherwise.
std::string token_path(const Config& config);

}  // namespace acrf::hub
