// SPDX-License-Identifier: GPL-2.0-or-later
#include "actions/local_job.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "common/unique_fd.h"

namespace acrf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A step daemon: listens on its socket and has started one program.
class StepDaemon {
 public:
  explicit StepDaemon(const std::string& socket) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    daemon_ = ::fork();
    if (daemon_ == 0) run(socket, ready[1]);
    EXPECT_EQ(::read(ready[0], &program_, sizeof program_), ssize_t{sizeof program_});
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~StepDaemon() {
    ::kill(program_, SIGKILL);
    ::kill(daemon_, SIGKILL);
    ::waitpid(daemon_, nullptr, 0);
  }
  int program() const { return program_; }

 private:
  [[noreturn]] static void run(const std::string& socket, int ready) {
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket.copy(address.sun_path, sizeof address.sun_path - 1);
    if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(fd.get(), 5) != 0)
      ::_exit(1);
    const pid_t program = ::fork();
    if (program != 0 && ::write(ready, &program, sizeof program) < 0) ::_exit(1);
    while (true) ::pause();
  }

  pid_t daemon_ = -1, program_ = -1;
};

class JobHere : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(spool_), nullptr); }
  void TearDown() override { std::filesystem::remove_all(spool_); }
  std::string at(const std::string& name) const { return std::string(spool_) + "/" + name; }
  char spool_[32] = "/tmp/acrf-spool-XXXXXX";
};

TEST_F(JobHere, ItsProgramIsWhatItsStepDaemonsStarted) {
  const StepDaemon mine(at("n1_7.0")), other_job(at("n1_8.0")), other_node(at("n2_7.0"));
  EXPECT_THAT(find_job_here(spool_, "n1", JobId{7}).program, ElementsAre(mine.program()));
}

TEST_F(JobHere, NothingIsFoundForAJobWithoutSteps) {
  EXPECT_THAT(find_job_here(spool_, "n1", JobId{7}).program, IsEmpty());
  EXPECT_THAT(find_job_here(at("none"), "n1", JobId{7}).program, IsEmpty());
}

}  // namespace
}  // namespace acrf
