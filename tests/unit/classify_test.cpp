// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/classify.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "core/text.h"

namespace acrf {
namespace {

std::string action_of(std::string_view line) {
  return std::string(name_of(classify_line(line).verdict.action));
}
std::string class_of(std::string_view line) { return classify_line(line).verdict.fault_class; }

struct Expected {
  const char* line;
  const char* fault_class;
  const char* action;
};

void expect_all(std::initializer_list<Expected> lines) {
  for (const auto& expected : lines) {
    EXPECT_EQ(class_of(expected.line), expected.fault_class) << expected.line;
    EXPECT_EQ(action_of(expected.line), expected.action) << expected.line;
  }
}

// The labels of a line: "class=gpu_lost;action=reboot_node;xid=79".
std::map<std::string, std::string> labels_in(std::string_view text) {
  std::map<std::string, std::string> labels;
  for (const auto label : split(text, ';')) {
    const auto equals = label.find('=');
    if (equals != std::string_view::npos)
      labels.emplace(label.substr(0, equals), label.substr(equals + 1));
  }
  return labels;
}

TEST(Classify, LabelledLinesSeenInPublic) {
  std::ifstream file(ACRF_TEST_DATA "/../../../shared/data/faults/kmsg_samples.txt");
  if (!file) GTEST_SKIP() << "the labelled lines are not on this machine";
  std::string text;
  int lines = 0;
  while (std::getline(file, text)) {
    if (text.empty() || text[0] == '#') continue;
    ++lines;
    const auto tab = text.find('\t');
    auto labels = labels_in(std::string_view(text).substr(tab + 1));
    const auto line = text.substr(0, tab);
    const auto found = classify_line(line);
    EXPECT_EQ(found.verdict.fault_class, labels["class"]) << line;
    EXPECT_EQ(name_of(found.verdict.action), labels["action"]) << line;
    if (labels.count("sev")) EXPECT_EQ(name_of(found.verdict.severity), labels["sev"]) << line;
    if (labels.count("xid"))
      EXPECT_EQ(std::to_string(found.xid.value_or(0)), labels["xid"]) << line;
    if (labels.count("sxid"))
      EXPECT_EQ(std::to_string(found.sxid.value_or(0)), labels["sxid"]) << line;
    if (labels.count("gpu"))
      EXPECT_EQ(found.gpu ? to_string(*found.gpu) : "", labels["gpu"]) << line;
    if (labels.count("mig")) EXPECT_EQ(found.mig, labels["mig"]) << line;
    if (labels.count("loc")) EXPECT_EQ(found.location, labels["loc"]) << line;
  }
  EXPECT_EQ(lines, 148);
}

}  // namespace
}  // namespace acrf
