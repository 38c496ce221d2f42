// SPDX-License-Identifier: GPL-2.0-or-later
// The --acrf-* options through real sbatch, srun and salloc.
#include <gmock/gmock.h>

#include "build_paths.h"
#include "common/file.h"
#include "core/policy.h"
#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Options : public LiveCluster {
 protected:
  void SetUp() override {
    LiveCluster::SetUp();
    if (IsSkipped()) return;
    auto options = small();
    options.healthd = false;
    options.nodes = 2;
    start(options);
  }

  CommandResult sbatch(std::vector<std::string> options, const std::string& command = "env") {
    options.insert(options.begin(), {"sbatch", "--parsable", "--output=" + output()});
    options.push_back("--wrap=" + command);
    return cluster().run(options);
  }

  // What the job's script printed, once it has ended.
  std::string output_of(const CommandResult& submitted) {
    EXPECT_TRUE(submitted.ok()) << submitted.errors;
    const auto id = submitted.output.substr(0, submitted.output.find('\n'));
    EXPECT_TRUE(wait_until([&] { return job(id).state == "COMPLETED"; })) << job(id).state;
    return text_of(output());
  }
};

TEST_F(Options, AreInEveryHelpText) {
  for (const auto command : {"sbatch", "srun", "salloc"}) {
    const auto help = cluster().run({command, "--help"}).output;
    for (const auto& option : policy_options())
      EXPECT_THAT(help, HasSubstr("--acrf-" + std::string(option.name) + "=")) << command;
  }
}

TEST_F(Options, WrongValuesAreRefusedByTheCommandItself) {
  const auto refusal = HasSubstr("--acrf-policy=restart: must be none, requeue or failover");
  for (const auto& command : {"srun", "salloc"}) {
    const auto refused = cluster().run({command, "--acrf-policy=restart", "-N1", "true"});
    EXPECT_NE(refused.status, 0) << command;
    EXPECT_THAT(refused.errors, refusal);
  }
  EXPECT_THAT(sbatch({"--acrf-policy=restart"}).errors, refusal);
  EXPECT_THAT(sbatch({"--acrf-checkpoint-dir=relative"}).errors,
              HasSubstr("must be an absolute path"));
  EXPECT_THAT(sbatch({"--acrf-max-requeues=x"}).errors, HasSubstr("from 0 to 1000"));
}

TEST_F(Options, WrongValueInAScriptLineIsRefused) {
  ASSERT_TRUE(write_file(root_ + "/script", "#!/bin/bash\n#SBATCH --acrf-policy=bad\ntrue\n").ok());
  const auto refused = cluster().run({"sbatch", root_ + "/script"});
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.errors, HasSubstr("must be none, requeue or failover"));
}

TEST_F(Options, WhatPassesABypassedClientIsRefusedByTheController) {
  auto conf = text_of(cluster().slurm_conf());
  const auto at = conf.find("PlugStackConfig=");
  conf.replace(at, conf.find('\n', at) - at, "PlugStackConfig=" + root_ + "/lenient.conf");
  ASSERT_TRUE(write_file(root_ + "/etc/lenient.conf", conf, 0644).ok());
  ASSERT_TRUE(
      write_file(root_ + "/lenient.conf", "required " ACRF_BUILD "/tests/.libs/lenient_spank.so\n")
          .ok());
  const auto refused = cluster().run({"env", "SLURM_CONF=" + root_ + "/etc/lenient.conf", "sbatch",
                                      "--acrf-policy=restart", "--wrap=true"});
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.errors,
              HasSubstr("--acrf-policy=restart: must be none, requeue or failover"));
  EXPECT_EQ(cluster().run({"squeue", "-h"}).output, "");
}

TEST_F(Options, ConflictsAreRefusedWithTheReason) {
  EXPECT_THAT(sbatch({"--acrf-policy=requeue", "--no-requeue"}).errors,
              HasSubstr("contradicts --no-requeue"));
  EXPECT_THAT(sbatch({"--acrf-policy=requeue", "--acrf-max-requeues=9"}).errors,
              HasSubstr("this site allows at most 8"));
  const auto refused = cluster().run({"srun", "--acrf-policy=requeue", "-N1", "true"});
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.errors, HasSubstr("submit it with sbatch"));
}

TEST_F(Options, PolicyIsRecordedAndGivenToTheJob) {
  const auto submitted = sbatch({"--acrf-policy=requeue", "--acrf-checkpoint-dir=/ck pt/a"});
  const auto text = output_of(submitted);
  EXPECT_THAT(text, HasSubstr("ACRF_JOB_POLICY=requeue\n"));
  EXPECT_THAT(text, HasSubstr("ACRF_CHECKPOINT_DIR=/ck pt/a\n"));
  EXPECT_THAT(text, HasSubstr("ACRF_RESTART_COUNT=0\n"));
  EXPECT_THAT(text, Not(HasSubstr("ACRF_RESUME_FROM")));
  const auto shown = cluster().run({"scontrol", "show", "job"}).output;
  EXPECT_THAT(shown, HasSubstr("Requeue=1"));
  EXPECT_THAT(
      shown,
      HasSubstr("AdminComment=acrf:policy=requeue,max-requeues=8,checkpoint-dir=/ck%20pt/a"));
}

TEST_F(Options, PolicySurvivesAnAdminsComment) {
  ASSERT_TRUE(sbatch({"--acrf-policy=requeue", "--hold"}).ok());
  ASSERT_TRUE(cluster().run({"scontrol", "update", "JobId=1", "AdminComment=looked at"}).ok());
  EXPECT_THAT(cluster().run({"scontrol", "show", "job", "1"}).output,
              HasSubstr("AdminComment=looked at acrf:policy=requeue,max-requeues=8"));
}

TEST_F(Options, JobWithoutOptionsIsUntouched) {
  const auto text = output_of(sbatch({}));
  EXPECT_THAT(text, Not(HasSubstr("ACRF_")));
  EXPECT_THAT(cluster().run({"scontrol", "show", "job"}).output, Not(HasSubstr("acrf:")));
}

TEST_F(Options, VariablesOfTheSubmittersOwnJobAreNotInherited) {
  const auto submitted =
      cluster().run({"env", "ACRF_RESUME_FROM=/old", "ACRF_JOB_POLICY=requeue", "sbatch",
                     "--parsable", "--output=" + output(), "--wrap=env"});
  EXPECT_THAT(output_of(submitted), Not(HasSubstr("ACRF_")));
}

TEST_F(Options, EachStepGetsTheCheckpointThatIsNewestAtItsStart) {
  const auto script = root_ + "/steps";
  ASSERT_TRUE(
      write_file(script,
                 "#!/bin/bash\n"
                 "show() { srun bash -c \"echo \\\"$1 \\$ACRF_RESUME_FROM.\\\"\"; }\n"
                 "add() { mkdir $ACRF_CHECKPOINT_DIR/$1; echo x > $ACRF_CHECKPOINT_DIR/$1/w;\n"
                 "        acrf checkpoint seal $ACRF_CHECKPOINT_DIR/$1; }\n"
                 "show none; add step-1; show one; add step-2; show two\n"
                 "rm -r $ACRF_CHECKPOINT_DIR/*; show gone\n",
                 0755)
          .ok());
  const auto text = output_of(
      cluster().run({"sbatch", "--parsable", "--output=" + output(), "--acrf-policy=requeue",
                     "--acrf-checkpoint-dir=" + checkpoints(), script}));
  EXPECT_THAT(text, HasSubstr("none .\n"));
  EXPECT_THAT(text, HasSubstr("one " + checkpoints() + "/step-1.\n"));
  EXPECT_THAT(text, HasSubstr("two " + checkpoints() + "/step-2.\n"));
  EXPECT_THAT(text, HasSubstr("gone .\n"));
}

TEST_F(Options, JobSubmittedByAJobHasItsOwnPolicy) {
  const auto inner = root_ + "/inner.out";
  output_of(sbatch({"--acrf-policy=requeue"}, "sbatch --wait --output=" + inner + " --wrap=env"));
  ASSERT_TRUE(wait_until([&] { return text_of(inner).find("SLURM_JOB_ID") != std::string::npos; }));
  EXPECT_THAT(text_of(inner), Not(HasSubstr("ACRF_JOB_POLICY")));
  const auto shown = cluster().run({"scontrol", "show", "job", "2"}).output;
  EXPECT_THAT(shown, Not(HasSubstr("acrf:")));
}

TEST_F(Options, JobSubmittedFromAnAllocationHasItsOwnPolicy) {
  const auto allocated =
      cluster().run({"salloc", "--acrf-policy=none", "--acrf-workload=training",
                     "--acrf-topology=spread", "sbatch", "--parsable", "--hold", "--wrap=true"});
  ASSERT_TRUE(allocated.ok()) << allocated.errors;
  const auto id = std::string(trim(allocated.output));
  EXPECT_THAT(cluster().run({"scontrol", "show", "job", id}).output, Not(HasSubstr("acrf:")));
}

TEST_F(Options, DefaultsComeFromTheEnvironment) {
  const auto with = [&](std::vector<std::string> variables, std::vector<std::string> options) {
    std::vector<std::string> command = {"env"};
    command.insert(command.end(), variables.begin(), variables.end());
    command.insert(command.end(), {"sbatch", "--parsable", "--hold", "--wrap=true"});
    command.insert(command.end(), options.begin(), options.end());
    const auto submitted = cluster().run(command);
    EXPECT_TRUE(submitted.ok()) << submitted.errors;
    return cluster().run({"scontrol", "show", "job", std::string(trim(submitted.output))}).output;
  };
  EXPECT_THAT(with({"SBATCH_ACRF_POLICY=requeue", "SBATCH_ACRF_CHECKPOINT_DIR=/c"}, {}),
              HasSubstr("acrf:policy=requeue,max-requeues=8,checkpoint-dir=/c"));
  EXPECT_THAT(with({"ACRF_WORKLOAD=inference"}, {}), HasSubstr("workload=inference"));
  EXPECT_THAT(with({"ACRF_MAX_REQUEUES=3", "ACRF_POLICY=none"}, {"--acrf-policy=requeue"}),
              HasSubstr("acrf:policy=requeue,max-requeues=3"));
  // Inside a job these are what ACRF gave to that job.
  EXPECT_THAT(with({"SLURM_JOB_ID=1", "ACRF_CHECKPOINT_DIR=/c"}, {}), Not(HasSubstr("acrf:")));
  const auto refused = cluster().run({"env", "SBATCH_ACRF_TOPOLOGY=ring", "sbatch", "--wrap=true"});
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.errors, HasSubstr("--acrf-topology=ring: must be pack"));
  const auto step = cluster().run({"env", "SLURM_ACRF_TOPOLOGY=ring", "srun", "true"});
  EXPECT_NE(step.status, 0);
  EXPECT_THAT(step.errors, HasSubstr("--acrf-topology=ring: must be pack"));
}

TEST_F(Options, ATrainingJobGetsWhatTrainingNeeds) {
  ASSERT_TRUE(write_file(output(), "from the run before\n").ok());
  const auto text =
      output_of(sbatch({"--acrf-workload=training", "--acrf-checkpoint-dir=" + checkpoints(),
                        "--nodes=2", "--acrf-checkpoint-cost=30s"}));
  EXPECT_THAT(text, HasSubstr("from the run before\n"));  // appended
  EXPECT_THAT(text, HasSubstr("ACRF_JOB_POLICY=requeue\n"));
  EXPECT_THAT(text, HasSubstr("ACRF_WORKLOAD=training\n"));
  EXPECT_THAT(text, HasSubstr("ACRF_CHECKPOINT_INTERVAL="));
  EXPECT_THAT(cluster().run({"scontrol", "show", "job", "1"}).output,
              HasSubstr("workload=training,checkpoint-interval=auto,checkpoint-cost=30s"));
}

TEST_F(Options, AnInferenceJobIsSpreadAndWaitsForNoCheckpoint) {
  ASSERT_TRUE(write_file(output(), "from the run before\n").ok());
  const auto text = output_of(sbatch({"--acrf-workload=inference"}));
  EXPECT_THAT(text, Not(HasSubstr("from the run before")));
  EXPECT_THAT(text, HasSubstr("ACRF_JOB_POLICY=requeue\n"));
  EXPECT_THAT(text, Not(HasSubstr("ACRF_CHECKPOINT")));
  EXPECT_THAT(cluster().run({"scontrol", "show", "job", "1"}).output,
              HasSubstr("workload=inference,topology=spread"));
}

TEST_F(Options, AFixedIntervalIsGivenInSeconds) {
  EXPECT_THAT(
      output_of(sbatch({"--acrf-policy=requeue", "--acrf-checkpoint-interval=10:30",
                        "--acrf-checkpoint-format=hf", "--acrf-checkpoint-dir=/c"})),
      AllOf(HasSubstr("ACRF_CHECKPOINT_INTERVAL=630\n"), HasSubstr("ACRF_CHECKPOINT_FORMAT=hf\n")));
}

TEST_F(Options, SparesMustBeFewerThanTheNodes) {
  EXPECT_THAT(sbatch({"--acrf-policy=failover", "--acrf-spares=2", "--nodes=2"}).errors,
              HasSubstr("must be less than the job's nodes, of which there are 2"));
  EXPECT_TRUE(sbatch({"--acrf-policy=failover", "--acrf-spares=1", "--nodes=2"}).ok());
}

}  // namespace
}  // namespace acrf::minicluster
