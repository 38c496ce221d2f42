// SPDX-License-Identifier: GPL-2.0-or-later
#include "minicluster/node_network.h"

#include <fmt/format.h>

#include "minicluster/command.h"

namespace acrf::minicluster {
namespace {

constexpr char kLoopback[] = "127.0.0.1";
constexpr char kNetwork[] = "10.77.0";  // seen by nobody outside

std::string network_file(const ClusterOptions& options, const std::string& node) {
  return options.root + "/net/" + node;
}

// Of the hubs. All that runs in the space knows this one certificate and no other.
std::string certificate_script(const ClusterOptions& options) {
  return fmt::format(
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=hub "
      "-addext subjectAltName=IP:{1} -keyout {0}/etc/hub.key -out {0}/etc/hub.pem\n"
      "mount --bind {0}/etc/hub.pem /etc/ssl/certs/ca-certificates.crt\n",
      options.root, hub_address(options));
}

}  // namespace

std::string controller_address(const ClusterOptions& options, bool backup) {
  if (options.networks) return fmt::format("{}.{}", kNetwork, backup ? 254 : 1);
  if (!options.backup) return kLoopback;
  return backup ? "127.0.0.3" : "127.0.0.2";
}

std::string node_address(const ClusterOptions& options, int number) {
  return options.networks ? fmt::format("{}.{}", kNetwork, number + 1) : kLoopback;
}

std::string cable_of(const std::string& node) { return "to-" + node; }

std::string network_script(const ClusterOptions& options) {
  std::string text = fmt::format(
      "set -e\nPATH=$PATH:/usr/sbin:/sbin\nip link set lo up\nip link add name hub type bridge\n"
      "ip address add {}/24 dev hub\nip address add {}/24 dev hub\nip link set hub up\n",
      controller_address(options, false), controller_address(options, true));
  int number = 0;
  for (const auto& node : node_names(options)) {
    const auto file = network_file(options, node);
    text += fmt::format(
        "touch {0}\nunshare --net={0} true\n"
        "ip link add name {1} type veth peer name eth0 netns {0}\n"
        "ip link set {1} master hub\nip link set {1} up\n"
        "nsenter --net={0} sh -c 'ip link set lo up && ip address add {2}/24 dev eth0 && "
        "ip link set eth0 up'\n",
        file, cable_of(node), node_address(options, ++number));
  }
  if (options.hubs > 0) text += certificate_script(options);
  return text;
}

std::vector<std::string> enter_node_network(const ClusterOptions& options,
                                            const std::string& node) {
  if (!options.networks) return {};
  return {find_command("nsenter"), "--net=" + network_file(options, node)};
}

}  // namespace acrf::minicluster
