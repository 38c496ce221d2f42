// SPDX-License-Identifier: GPL-2.0-or-later
// What a user of the cluster can't do: run anything through a log line, a job or a name, read what
// ACRF writes down, or make it act.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "build_paths.h"
#include "common/file.h"
#include "core/text.h"
#include "fakegpu/state.h"
#include "live_cluster.h"
#include "unit/http_endpoint.h"

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A node's record without what slurmd measures anew while the test looks on.
std::string without_readings(const std::string& record) {
  static const std::regex readings("(CPULoad|FreeMem)=\\S+");
  return std::regex_replace(record, readings, "");
}

class Security : public LiveCluster {
 protected:
  // As the user nobody.
  CommandResult as_user(std::vector<std::string> command) {
    command.insert(command.begin(),
                   {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
    return cluster().run(command);
  }
};

TEST_F(Security, NoTextRunsThroughAShell) {
  const auto trap = programs() + "/trap";
  const auto evil = "'\"; touch " + trap + "; $(touch " + trap + ") `touch " + trap + "` | touch " +
                    trap + " & %s \\x0atouch " + trap + "\\x0a";
  const Endpoint endpoint(http("ok"));
  const auto keep = [&](const std::string& name) {
    return program(name, "for word; do printf '%s\\n' \"$word\"; done > " + programs() + "/" +
                             name + "-words\n[ " + name + " != mail ] || cat > " + programs() +
                             "/mail-text\n");
  };
  auto options = small();
  options.acrf_conf = "ResetProgram=" + keep("reset") +
                      "\nTestProgram=none\nNotify=mail Type=email "
                      "To=root@localhost Severity=info Program=" +
                      keep("mail") +
                      " Template=\"{evidence} {node}\"\nNotify=hook Type=webhook Severity=info "
                      "Template=\"{evidence}\" Url=" +
                      endpoint.url() + "\n";
  start(options);
  ASSERT_TRUE(cluster().kill("healthd-n1").ok());
  const auto path = root_ + "/nodes/n1/gpus.json";
  auto state = fakegpu::load_state(path);
  ASSERT_TRUE(state.ok());
  state->gpus[0].uuid = "GPU-$(touch " + trap + ")";
  state->gpus[0].name = evil;
  ASSERT_TRUE(fakegpu::save_state(path, *state).ok());
  ASSERT_TRUE(cluster().start_healthd("n1").ok());
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  const auto job_id = cluster().run({"sbatch", "--parsable", "-w", "n1", "--gpus-per-node=8", "-J",
                                     evil, "--comment", evil, "--output=/dev/null",
                                     "--acrf-policy=requeue", program("job", "sleep 1000\n")});
  ASSERT_TRUE(job_id.ok()) << job_id.errors;
  const std::string id(trim(job_id.output));
  ASSERT_TRUE(wait_until([&] { return job(id).state == "RUNNING"; }));
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  ASSERT_TRUE(append_file(root_ + "/nodes/n1/kmsg",
                          "3,900," + std::to_string(now.tv_sec) +
                              "000000,-;NVRM: Xid (PCI:0000:10:00): 95, pid=1, name=" + evil +
                              ", Uncontained ECC error\n")
                  .ok());
  ASSERT_TRUE(healthd_says("n1", "resetting -> testing"));
  ASSERT_TRUE(wait_until([&] { return fs::exists(programs() + "/mail-text"); }));
  ASSERT_TRUE(wait_until([&] { return endpoint.requests() > 0; }));
  EXPECT_FALSE(fs::exists(trap));
  const auto words = text_of(programs() + "/reset-words");
  EXPECT_THAT(words, HasSubstr("n1\nGPU-$(touch " + trap + ")\n"));
  EXPECT_THAT(text_of(programs() + "/mail-words"), HasSubstr("-i\n--\nroot@localhost\n"));
  const auto request = endpoint.all().front();
  const auto body = json::parse(request.substr(request.find("\r\n\r\n") + 4), nullptr, false);
  EXPECT_THAT(body.value("evidence", ""), HasSubstr("$(touch " + trap + ")"));
}

TEST_F(Security, AUserNeitherReadsNorActs) {
  if (const auto why = closed_to_users(); !why.empty()) GTEST_SKIP() << why;
  start(small());
  inject("n1");
  ASSERT_TRUE(wait_until([&] { return node("n1").drained; }));
  const auto state = root_ + "/nodes/n1/acrf";
  ASSERT_TRUE(wait_until([&] { return fs::exists(state + "/audit.db"); }));
  // The verdict is for everybody, as the node's state in Slurm is.
  for (const auto& entry : fs::recursive_directory_iterator(state)) {
    struct stat file {};
    if (::lstat(entry.path().c_str(), &file) != 0) continue;  // a draft that is gone
    EXPECT_EQ(file.st_uid, 0u) << entry.path();
    EXPECT_EQ(file.st_mode & 022, 0u) << entry.path();
    const bool is_verdict = entry.path() == state + "/verdict.json";
    EXPECT_TRUE(is_verdict || (file.st_mode & 077) == 0) << entry.path();
  }
  struct stat directory {};
  ASSERT_EQ(::stat(state.c_str(), &directory), 0);
  EXPECT_EQ(directory.st_mode & 022, 0u);

  const auto kmsg = text_of(root_ + "/nodes/n2/kmsg");
  const auto drained = without_readings(record("n1"));
  const std::vector<std::vector<std::string>> commands = {
      {"acrf", "audit", "--state-dir", state},
      {"acrf", "events", "--state-dir", state},
      {"cat", state + "/audit.db"},
      {"ls", state + "/incidents"},
      {"touch", state + "/new"},
      {"acrf", "brakes", "reset"},
      {"acrf", "maintenance", "add", "n2", "--duration", "30"},
      {"acrf", "inject", "--node", "n2", "--xid", "79"},
      {ACRF_BUILD "/tests/node_update", "drain", "n2", "gpu_lost"},
      {ACRF_BUILD "/tests/node_update", "resume", "n1"},
  };
  for (const auto& command : commands) {
    const auto tried = as_user(command);
    EXPECT_NE(tried.status, 0) << command[0] << " " << command[1] << ": " << tried.output;
    EXPECT_THAT(tried.output, Not(HasSubstr("gpu_lost")));
  }
  EXPECT_EQ(without_readings(record("n1")), drained);
  EXPECT_FALSE(node("n2").drained);
  EXPECT_EQ(text_of(root_ + "/nodes/n2/kmsg"), kmsg);
}

}  // namespace
}  // namespace acrf::minicluster
