// SPDX-License-Identifier: GPL-2.0-or-later
// Of SlurmClient: where nodes are, for those who talk to them directly. Asked by every node of a
// cluster, so that what slurmctld answers must be small.
#include <netdb.h>
#include <slurm/slurm.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

#include "common/slurm_call.h"
#include "common/slurm_client.h"
#include "core/gres_text.h"
#include "core/hostlist.h"

namespace acrf {
namespace {

Result<std::string> numeric_address(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* raw = nullptr;
  if (const int code = ::getaddrinfo(name.c_str(), nullptr, &hints, &raw); code != 0)
    return Error{ErrorCode::kUnavailable, "look up " + name + ": " + ::gai_strerror(code)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(raw, ::freeaddrinfo);
  char text[NI_MAXHOST] = "";
  if (::getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, nullptr, 0,
                    NI_NUMERICHOST) != 0)
    return Error{ErrorCode::kUnavailable, "look up " + name + ": no address"};
  return std::string(text);
}

}  // namespace

Result<std::vector<std::string>> SlurmClient::node_names() {
  partition_info_msg_t* raw = nullptr;
  if (slurm_load_partitions(0, &raw, SHOW_ALL) != SLURM_SUCCESS)
    return slurm_error("ask slurmctld for its partitions", errno);
  const std::unique_ptr<partition_info_msg_t, decltype(&slurm_free_partition_info_msg)> answer(
      raw, slurm_free_partition_info_msg);
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < answer->record_count; ++i) {
    const char* nodes = answer->partition_array[i].nodes;
    auto some = expand_hostlist(nodes ? nodes : "");
    if (!some) return some.error();
    names.insert(names.end(), some->begin(), some->end());
  }
  return names;
}

Result<NodePlace> SlurmClient::place_of_node(const std::string& node) {
  node_info_msg_t* raw = nullptr;
  std::string writable = node;
  if (slurm_load_node_single(&raw, writable.data(), SHOW_ALL) != SLURM_SUCCESS)
    return slurm_error("ask slurmctld about node " + node, errno);
  const std::unique_ptr<node_info_msg_t, decltype(&slurm_free_node_info_msg)> answer(
      raw, slurm_free_node_info_msg);
  if (answer->record_count != 1)
    return Error{ErrorCode::kNotFound, "slurmctld knows no node " + node};
  const node_info_t& record = answer->node_array[0];
  auto address = numeric_address(record.node_addr ? record.node_addr : node);
  if (!address) return address.error();
  return NodePlace{*address, record.port, gpus_in_gres(record.gres ? record.gres : "") > 0};
}

Result<std::string> SlurmClient::auth_info() {
  slurm_conf_t* conf = nullptr;
  if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS)
    return slurm_error("read slurmctld's configuration", errno);
  std::string info = conf->authinfo ? conf->authinfo : "";
  slurm_free_ctl_conf(conf);
  return info;
}

}  // namespace acrf
