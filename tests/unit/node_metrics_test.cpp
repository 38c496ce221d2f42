// SPDX-License-Identifier: GPL-2.0-or-later
// What acrf-exporter shows of what acrf-healthd leaves in its StateDir.
#include "node_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include "check_cache.h"
#include "common/audit_log.h"
#include "common/verdict_file.h"
#include "figures.h"
#include "unit/temporary_directory.h"

namespace acrf {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class NodeMetricsTest : public testing::Test {
 protected:
  // As the daemon does.
  void publish(CheckStatus status = CheckStatus::kOk) {
    NodeNow now;
    now.verdict = {status, "CLASS", "text"};
    GpuSample sample;
    sample.uuid = "GPU-1";
    now.gpus = {{0, &sample}};
    AnswerTimes times;
    times.note(0.02);
    CheckCache cache(verdict_path(directory_.path()), "boot");
    ASSERT_TRUE(cache
                    .publish(now.verdict, boottime_ms(),
                             [&] {
                               return figures_.to_json(now, {{"nvml", times}}, 3);
                             })
                    .ok());
  }
  AuditId begin(AuditKind kind, const std::string& what) {
    AuditEntry entry;
    entry.node = "n1";
    entry.incident = "n1-1";
    entry.kind = kind;
    entry.what = what;
    entry.decided_by = "gpu_lost";
    return audit_.begin(entry);
  }
  std::string text() {
    EXPECT_TRUE(audit_.flush(std::chrono::seconds(20)));
    return prometheus::TextSerializer().Serialize(metrics_.Collect());
  }

  TemporaryDirectory directory_;
  Figures figures_{1000};
  AuditLog audit_{{audit_path(directory_.path()), {}, std::chrono::seconds(5)}};
  NodeMetrics metrics_{directory_.path()};
};

TEST_F(NodeMetricsTest, WithoutADaemonThereIsNoState) {
  EXPECT_THAT(text(), Not(HasSubstr("acrf_healthd_state")));
  directory_.write("verdict.json", "{\"figures\":[]");
  EXPECT_THAT(text(), Not(HasSubstr("acrf_healthd_state")));
  directory_.write("verdict.json", R"({"boottime_ms":"x","figures":7,"status":[]})");
  EXPECT_THAT(text(), Not(HasSubstr("acrf_healthd_state")));
}

TEST_F(NodeMetricsTest, ShowsStatesIncidentsAndSources) {
  figures_.note_incident("gpu_lost");
  figures_.note_incident("gpu_lost");
  publish(CheckStatus::kCritical);
  EXPECT_THAT(text(),
              AllOf(HasSubstr("acrf_healthd_verdict{verdict=\"critical\"} 1"),
                    HasSubstr("acrf_healthd_verdict{verdict=\"ok\"} 0"),
                    HasSubstr("acrf_healthd_state{state=\"suspect\"} 1"),
                    HasSubstr("acrf_healthd_gpus{state=\"healthy\"} 1"),
                    HasSubstr("acrf_healthd_incidents_total{class=\"gpu_lost\"} 2"),
                    HasSubstr("acrf_healthd_kernel_records_lost_total 3"),
                    HasSubstr("acrf_healthd_probe_seconds_bucket{source=\"nvml\",le=\"0.01\"} 0"),
                    HasSubstr("acrf_healthd_probe_seconds_bucket{source=\"nvml\",le=\"0.03\"} 1"),
                    HasSubstr("acrf_healthd_resident_bytes")));
}

TEST_F(NodeMetricsTest, CountsActsOnceAndWhenTheyHaveEnded) {
  publish();
  const auto drain = begin(AuditKind::kAct, "drain");
  EXPECT_THAT(text(), Not(HasSubstr("acrf_healthd_drains_total{")));
  audit_.finish(drain, AuditResult::done());
  audit_.finish(begin(AuditKind::kAct, "requeue"), AuditResult::done());
  audit_.finish(begin(AuditKind::kAct, "requeue"), AuditResult::failed("no"));
  audit_.finish(begin(AuditKind::kDecision, "hold"), AuditResult::done());
  for (int look = 0; look < 2; ++look)
    EXPECT_THAT(
        text(),
        AllOf(HasSubstr("acrf_healthd_drains_total{class=\"gpu_lost\"} 1"),
              HasSubstr("acrf_healthd_actions_total{action=\"drain\",result=\"done\"} 1"),
              HasSubstr("acrf_healthd_actions_total{action=\"requeue\",result=\"failed\"} 1"),
              HasSubstr("acrf_healthd_requeue_seconds_count 1"), Not(HasSubstr("hold"))));
}

TEST_F(NodeMetricsTest, ClassesWithoutEndAreOneSeries) {
  for (int i = 0; i < 150; ++i) figures_.note_incident("class_" + std::to_string(i));
  publish();
  const auto shown = text();
  std::size_t series = 0;
  for (auto at = shown.find("acrf_healthd_incidents_total{"); at != std::string::npos;
       at = shown.find("acrf_healthd_incidents_total{", at + 1))
    ++series;
  EXPECT_LE(series, 101u);
  EXPECT_THAT(shown, HasSubstr("acrf_healthd_incidents_total{class=\"other\"} 50"));
}

}  // namespace
}  // namespace acrf
