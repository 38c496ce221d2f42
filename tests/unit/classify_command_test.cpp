// SPDX-License-Identifier: GPL-2.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/acrf/classify.h"

namespace acrf {
namespace {

using nlohmann::json;

json verdict(std::string_view text) { return json::parse(verdict_json(classify_line(text), 7)); }

TEST(ClassifyCommand, AVerdictHasTheKeysOthersRelyOn) {
  EXPECT_EQ(verdict("NVRM: Xid (PCI:0000:3b:00 GPU-I:05): 94, pid=7, Contained: CE User Channel"),
            json::parse(R"({"line":7,"class":"mem_contained","action":"restart_app",
                "severity":"critical","scope":"process","state":"XID_CRITICAL_94","xid":94,
                "gpu":"0000:3b:00","mig":"GPU-I:05"})"));
  const auto unknown = verdict("usb 1-1: new device");
  EXPECT_FALSE(unknown.contains("xid"));
  EXPECT_FALSE(unknown.contains("gpu"));
  EXPECT_EQ(unknown["action"], "ignore");
}

TEST(ClassifyCommand, BytesThatAreNoTextDoNoHarm) {
  IncidentReport report(Catalog::builtin());
  report.take("NVRM: Xid (PCI:0000:3b:00): 79, name=\xff\xfe\x1b[2J, GPU has fallen off the bus.",
              1);
  EXPECT_EQ(json::parse(report.to_json())["xid"], 79);
  const auto row = verdict_row(classify_line("x\x1b[2J"), 1, "x\x1b[2J");
  EXPECT_EQ(row.find('\x1b'), std::string::npos);
}

TEST(ClassifyCommand, AnIncidentNamesItsRoot) {
  IncidentReport report(Catalog::builtin());
  report.take("[1.0] NVRM: Xid (PCI:0000:3b:00): 63, Row Remapper: New row marked", 1);
  report.take("[1.1] NVRM: Xid (PCI:0000:3b:00): 48, x", 2);
  report.take("[1.2] NVRM: Xid (PCI:0000:4c:00): 45, Ch 1 caused by previous Xid 48", 3);
  const auto incident = json::parse(report.to_json());
  EXPECT_EQ(incident["root"]["line"], 2);
  EXPECT_EQ(incident["root"]["xid"], 48);
  EXPECT_EQ(incident["action"], "reset_gpu");
  EXPECT_EQ(incident["count"], 1);
  EXPECT_EQ(incident["lines"], 3);
  EXPECT_EQ(incident["companions"], json({"xid 63", "xid 45"}));
}

}  // namespace
}  // namespace acrf
