// SPDX-License-Identifier: GPL-2.0-or-later
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tools/acrf-sim/recording.h"
#include "tools/acrf-sim/report.h"
#include "tools/acrf-sim/screen.h"
#include "tools/acrf-sim/svg_plot.h"

namespace acrf::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Books some_books() {
  Books books(64);
  books.submit("1", {0, "matrix", "<matrix>", Priority::kHigh, 1, 4, 10}, 0, 0);
  books.add_line("1", {RunLine::What::kBegin, 0, 1000, {"n1"}, ""});
  books.inject({}, "n1", true, 3000);
  books.add_line("1", {RunLine::What::kBegin, 1, 4500, {"n2"}, ""});
  books.add_line("1", {RunLine::What::kEnd, 1, 15'000, {}, ""});
  books.look({{"1", "COMPLETED", "", 1}}, 1, 16'000);
  return books;
}

const ReportFacts kFacts{8, 8, 42, 6, {5, 12}, 20'000};

TEST(SimReport, ThePageNeedsNothingButItself) {
  const auto page = html_report(some_books(), kFacts);
  EXPECT_THAT(page, AllOf(HasSubstr("No job was lost"), HasSubstr("<svg"), HasSubstr("1.5 s"),
                          HasSubstr("&lt;matrix&gt;"), Not(HasSubstr("<matrix>"))));
  for (const auto* outside : {"src=", "href=", "url(", "@import", "<script", "fetch("})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST(SimReport, ThePageSaysWhatIsWrong) {
  auto books = some_books();
  books.submit("2", {}, 0, 0);
  books.look({}, 0, 17'000);
  EXPECT_THAT(html_report(books, kFacts),
              AllOf(HasSubstr("job 2 () was lost"), Not(HasSubstr("No job was lost"))));
}

TEST(SimReport, WorkThatWasRedoneIsSaidAndNotWrong) {
  auto books = some_books();
  books.submit("2", {0, "sleep", "short", Priority::kHigh, 1, 4, 1}, 0, 0);
  books.add_line("2", {RunLine::What::kBegin, 0, 2500, {"n1"}, ""});
  books.add_line("2", {RunLine::What::kEnd, 0, 3500, {}, ""});
  books.add_line("2", {RunLine::What::kBegin, 1, 4500, {"n2"}, ""});
  books.add_line("2", {RunLine::What::kEnd, 1, 5500, {}, ""});
  EXPECT_THAT(html_report(books, kFacts),
              AllOf(HasSubstr("No job was lost, none ran twice. 1 ended when a fault had hit"),
                    Not(HasSubstr("ended its work twice"))));
  EXPECT_EQ(nlohmann::json::parse(json_report(books, kFacts))["redone"], 1);
}

TEST(SimReport, TheFiguresAreInTheJson) {
  const auto json = nlohmann::json::parse(json_report(some_books(), kFacts));
  EXPECT_EQ(json["completed"], 1);
  EXPECT_EQ(json["recovered"], 1);
  EXPECT_EQ(json["recover_p50_s"], 1.5);
  EXPECT_EQ(json["seed"], 42);
  EXPECT_TRUE(json["wrongs"].empty());
  EXPECT_EQ(json["samples"].size(), 1u);
}

TEST(SimReport, AnEmptyRunHasAReportToo) {
  const Books books(64);
  EXPECT_THAT(html_report(books, kFacts), HasSubstr("No fault hit a running job"));
  EXPECT_TRUE(nlohmann::json::parse(json_report(books, kFacts))["ettr"].is_null());
}

TEST(SimReport, TheJsonLiesBesideThePage) {
  EXPECT_EQ(json_path_beside("/a/run.html"), "/a/run.json");
  EXPECT_EQ(json_path_beside("run"), "run.json");
  EXPECT_EQ(json_path_beside("/a.b/run"), "/a.b/run.json");
}

TEST(SimPlot, AxesEndAtRoundNumbers) {
  EXPECT_EQ(round_up(0), 1);
  EXPECT_EQ(round_up(3), 4);
  EXPECT_EQ(round_up(41), 50);
  EXPECT_EQ(round_up(100), 100);
  EXPECT_DOUBLE_EQ(round_up(0.3), 0.4);
}

TEST(SimScreen, TheProgressLineHasColoursOnlyWhenAsked) {
  const auto figures = some_books().figures();
  const auto plain = progress_line(65'000, figures, {}, false);
  EXPECT_THAT(plain, AllOf(HasSubstr("01:05"), HasSubstr("1 done"), Not(HasSubstr("\033"))));
  EXPECT_THAT(progress_line(65'000, figures, {}, true), HasSubstr("\033[32m"));
}

TEST(SimRecording, IsReadAsItWasWritten) {
  Planner planner(9, 6, 4, {});
  const auto events = planner.until(600'000);
  std::string text = to_line(RecordedCluster{6, 4, 9});
  for (const auto& event : events) text += to_line(event);
  auto recording = parse_recording(text, "run.jsonl");
  ASSERT_TRUE(recording.ok()) << recording.error().sentence;
  EXPECT_EQ(recording->cluster.nodes, 6);
  EXPECT_EQ(recording->cluster.seed, 9u);
  EXPECT_EQ(recording->events, events);
  Replay replay(recording->events);
  std::vector<PlannedEvent> again = replay.until(time_of(events.back()) - 1);
  EXPECT_FALSE(replay.is_done());  // its last event is still to come
  for (std::int64_t ms = 0; ms <= 600'000; ms += 5000)
    for (const auto& event : replay.until(ms)) again.push_back(event);
  EXPECT_EQ(again, events);
  EXPECT_TRUE(replay.is_done());
}

TEST(SimRecording, ABadLineIsNamed) {
  const std::string head = to_line(RecordedCluster{2, 2, 1});
  const std::pair<std::string, std::string> cases[] = {
      {"", "run: the recording is empty"},
      {"{", "run:1: "},
      {"{\"nodes\":9999,\"gpus\":1}", "run:1: the cluster must have 1 to 1000 nodes"},
      {head + "\n{\"at_ms\":1}", "run:3: "},
      {head + "{\"at_ms\":1,\"fault\":\"fire\",\"node\":0,\"gpu\":0,\"repair_s\":1}",
       "run:2: no such kind of fault: fire"},
      {head + "{\"at_ms\":1,\"fault\":\"gpu-lost\",\"node\":2,\"gpu\":0,\"repair_s\":1}",
       "run:2: the cluster has no such GPU"},
      {head + "{\"at_ms\":1,\"job\":\"j\",\"type\":\"sleep\",\"nodes\":3,\"gpus\":1,\"seconds\":1}",
       "run:2: job j does not fit the cluster"},
      {head +
           "{\"at_ms\":-1,\"job\":\"j\",\"type\":\"sleep\",\"nodes\":1,\"gpus\":1,\"seconds\":1}",
       "run:2: at_ms is below 0"}};
  for (const auto& [text, sentence] : cases) {
    const auto recording = parse_recording(text, "run");
    ASSERT_FALSE(recording.ok()) << text;
    EXPECT_THAT(recording.error().sentence, testing::StartsWith(sentence));
  }
}

}  // namespace
}  // namespace acrf::sim
