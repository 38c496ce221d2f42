// SPDX-License-Identifier: GPL-2.0-or-later
// Of SlurmClient: reservations for maintenance.
#include <slurm/slurm.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "common/slurm_call.h"
#include "common/slurm_client.h"
#include "core/hostlist.h"

namespace acrf {
namespace {

Maintenance maintenance_of(const reserve_info_t& record) {
  Maintenance one;
  one.name = record.name ? record.name : "";
  one.start_unix_s = record.start_time;
  one.end_unix_s = record.end_time;
  if (auto nodes = expand_hostlist(record.node_list ? record.node_list : ""))
    one.nodes = std::move(*nodes);
  return one;
}

}  // namespace

Result<std::vector<Maintenance>> SlurmClient::maintenance() {
  reserve_info_msg_t* raw = nullptr;
  if (ask_controller([&] { return slurm_load_reservations(0, &raw); }) != SLURM_SUCCESS)
    return slurm_error("ask slurmctld for its reservations", errno);
  const std::unique_ptr<reserve_info_msg_t, decltype(&slurm_free_reservation_info_msg)> answer(
      raw, slurm_free_reservation_info_msg);
  std::vector<Maintenance> all;
  for (std::uint32_t i = 0; i < answer->record_count; ++i)
    if (answer->reservation_array[i].flags & RESERVE_FLAG_MAINT)
      all.push_back(maintenance_of(answer->reservation_array[i]));
  return all;
}

Result<std::string> SlurmClient::reserve_for_maintenance(const Maintenance& maintenance) {
  resv_desc_msg_t request;
  slurm_init_resv_desc_msg(&request);
  std::string name = maintenance.name, nodes = compress_hostlist(maintenance.nodes), user = "root";
  request.name = name.data();
  request.node_list = nodes.data();
  request.users = user.data();
  request.start_time = maintenance.start_unix_s;
  request.end_time = maintenance.end_unix_s;
  request.flags = RESERVE_FLAG_MAINT | RESERVE_FLAG_IGN_JOBS;
  char* made = nullptr;
  ask_controller([&] {
    made = slurm_create_reservation(&request);
    return made ? SLURM_SUCCESS : SLURM_ERROR;
  });
  if (!made) return slurm_error("reserve nodes " + nodes + " for maintenance", errno);
  const std::string answer = made;
  std::free(made);
  return answer;
}

Status SlurmClient::end_reservation(const std::string& name) {
  std::string writable = name;
  reservation_name_msg_t request{};
  request.name = writable.data();
  if (ask_controller([&] { return slurm_delete_reservation(&request); }) != SLURM_SUCCESS)
    return slurm_error("end reservation " + name, errno);
  return Done{};
}

}  // namespace acrf
