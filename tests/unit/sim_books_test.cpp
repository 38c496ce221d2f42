// SPDX-License-Identifier: GPL-2.0-or-later
#include <gmock/gmock.h>

#include "tools/acrf-sim/books.h"
#include "tools/acrf-sim/run_line.h"

namespace acrf::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using What = RunLine::What;

RunLine line(What what, int restart, std::int64_t at_ms, std::vector<std::string> nodes = {}) {
  return {what, restart, at_ms, std::move(nodes), ""};
}

PlannedJob job(double seconds = 10) {
  return {0, "matrix", "matrix-1", Priority::kNormal, 1, 4, seconds};
}

QueueRow row(const std::string& id, const std::string& state) { return {id, state, "", 1}; }

class SimBooks : public testing::Test {
 protected:
  void finish(const std::string& state) { books_.look({row("1", state)}, 0, 60'000); }
  Books books_{64};
};

TEST_F(SimBooks, AJobThatRanOnceIsCountedAndNothingIsWrong) {
  books_.submit("1", job(), 0, 1000);
  books_.look({row("1", "RUNNING")}, 0, 5000);
  books_.add_line("1", line(What::kBegin, 0, 3000, {"n1"}));
  books_.add_line("1", line(What::kEnd, 0, 13'000));
  finish("COMPLETED");
  const auto figures = books_.figures();
  EXPECT_EQ(figures.completed, 1);
  EXPECT_EQ(figures.waiting_p50_s, 2);
  EXPECT_EQ(figures.ettr, 1);
  EXPECT_THAT(figures.wrongs, IsEmpty());
  EXPECT_EQ(figures.recovered, 0);
}

TEST_F(SimBooks, TheTimeToRecoverIsFromTheFaultToTheNextRun) {
  books_.submit("1", job(), 0, 0);
  books_.add_line("1", line(What::kBegin, 0, 1000, {"n1", "n2"}));
  PlannedFault fault;
  books_.inject(fault, "n3", true, 5000);
  books_.inject(fault, "n2", true, 6000);
  books_.inject(fault, "n2", false, 7000);  // harmless
  books_.add_line("1", line(What::kBegin, 1, 8500, {"n1"}));
  books_.add_line("1", line(What::kEnd, 1, 21'000));
  finish("COMPLETED");
  ASSERT_EQ(books_.recoveries().size(), 1u);
  EXPECT_EQ(books_.recoveries()[0].seconds, 2.5);
  EXPECT_EQ(books_.recoveries()[0].node, "n2");
  EXPECT_EQ(books_.figures().requeued, 1);
  EXPECT_EQ(books_.figures().ettr, 0.5);
}

TEST_F(SimBooks, AJobThatNobodyKnowsAnyMoreIsLost) {
  books_.submit("1", job(), 0, 0);
  books_.look({}, 0, 5000);
  EXPECT_THAT(books_.figures().wrongs, ElementsAre(HasSubstr("job 1 (matrix-1) was lost")));
}

TEST_F(SimBooks, AJobThatSlurmFailedWithoutItsOwnWordIsLost) {
  books_.submit("1", job(), 0, 0);
  books_.add_line("1", line(What::kBegin, 0, 1000, {"n1"}));
  finish("NODE_FAIL");
  EXPECT_THAT(books_.figures().wrongs, ElementsAre(HasSubstr("was lost: NODE_FAIL")));
}

TEST_F(SimBooks, AJobThatFailedByItselfOrTookTooLongIsNotLost) {
  books_.submit("1", job(), 0, 0);
  books_.submit("2", job(), 1, 0);
  books_.add_line("1", line(What::kBegin, 0, 1000, {"n1"}));
  books_.add_line("1", line(What::kFail, 0, 2000));
  EXPECT_THAT(books_.look({row("1", "FAILED"), row("2", "TIMEOUT")}, 0, 9000),
              ElementsAre("1", "2"));
  EXPECT_THAT(books_.figures().wrongs, IsEmpty());
  EXPECT_EQ(books_.figures().failed, 2);
  EXPECT_EQ(books_.figures().retried, 1);
  EXPECT_THAT(books_.look({row("1", "FAILED"), row("2", "TIMEOUT")}, 0, 9500), IsEmpty());
}

TEST_F(SimBooks, RunsThatOverlapOrRepeatAreTold) {
  books_.submit("1", job(), 0, 0);
  books_.add_line("1", line(What::kBegin, 0, 1000, {"n1"}));
  books_.add_line("1", line(What::kTwice, 1, 2000));
  books_.add_line("1", line(What::kBegin, 1, 2000, {"n2"}));
  books_.add_line("1", line(What::kBegin, 1, 2500, {"n3"}));
  books_.add_line("1", line(What::kEnd, 0, 3000));
  books_.add_line("1", line(What::kEnd, 1, 4000));
  finish("COMPLETED");
  EXPECT_THAT(books_.figures().wrongs,
              ElementsAre(HasSubstr("began while another"), HasSubstr("ended its work twice"),
                          HasSubstr("began twice with the same restart count")));
}

TEST_F(SimBooks, WorkThatAFaultOvertookIsRedoneAndNotWrong) {
  books_.submit("1", job(1), 0, 0);
  books_.add_line("1", line(What::kBegin, 0, 1000, {"n1"}));
  books_.inject({}, "n1", true, 1900);
  books_.add_line("1", line(What::kEnd, 0, 2000));  // while its requeue is under way
  books_.add_line("1", line(What::kBegin, 1, 3000, {"n2"}));
  books_.add_line("1", line(What::kEnd, 1, 5000));
  finish("COMPLETED");
  EXPECT_THAT(books_.figures().wrongs, IsEmpty());
  EXPECT_EQ(books_.figures().redone, 1);
  EXPECT_EQ(books_.figures().ettr, 0.25);  // to the end that counted
}

TEST_F(SimBooks, WorkThatWasDoneAgainForNoFaultOfItsNodeIsWrong) {
  const std::tuple<std::string, bool, std::int64_t> others[] = {
      {"n9", true, 1900},   // another's node
      {"n1", false, 1900},  // one that ends no job
      {"n1", true, 8000}};  // when Slurm knew of the end long ago
  for (const auto& [node, harmful, at_ms] : others) {
    Books books(64);
    books.submit("1", job(1), 0, 0);
    books.add_line("1", line(What::kBegin, 0, 1000, {"n1"}));
    books.inject({}, node, harmful, at_ms);
    books.add_line("1", line(What::kEnd, 0, 2000));
    books.add_line("1", line(What::kBegin, 1, 9000, {"n2"}));
    books.add_line("1", line(What::kEnd, 1, 9900));
    EXPECT_THAT(books.figures().wrongs, ElementsAre(HasSubstr("ended its work twice"))) << node;
    EXPECT_EQ(books.figures().redone, 0);
  }
}

TEST_F(SimBooks, ACompletedJobWithoutWorkIsWrong) {
  books_.submit("1", job(), 0, 0);
  finish("COMPLETED");
  EXPECT_THAT(books_.figures().wrongs, ElementsAre(HasSubstr("did not do its work")));
}

TEST_F(SimBooks, GpusAreCountedWhileTheirJobsRun) {
  books_.submit("1", job(), 0, 0);
  books_.look({{"1", "RUNNING", "", 2}}, 1, 10'000);
  books_.look({{"1", "PENDING", "", 2}}, 0, 20'000);
  EXPECT_EQ(books_.samples()[0].gpu_share, 8.0 / 64);
  EXPECT_EQ(books_.samples()[0].nodes_out, 1);
  EXPECT_EQ(books_.figures().gpu_share, 4.0 / 64);
}

TEST_F(SimBooks, ARepairIsCountedOnceWhenItsPartIsBack) {
  books_.see_case("n1", "a", "gpu_lost", 1000, false, 2000);
  EXPECT_EQ(books_.figures().under_repair, 1);
  books_.see_case("n1", "a", "gpu_lost", 1000, true, 9000);
  books_.see_case("n1", "a", "gpu_lost", 1000, true, 9900);
  EXPECT_EQ(books_.figures().repaired, 1);
  EXPECT_EQ(books_.figures().under_repair, 0);
  EXPECT_EQ(books_.repairs()[0].seconds, 8);
}

TEST(SimQuantile, IsOneOfTheValues) {
  EXPECT_FALSE(quantile({}, 0.5));
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(quantile({3, 1, 2}, 0.99), 3);
  EXPECT_EQ(quantile({3, 1, 2}, 0), 1);
}

TEST(SimRunLine, IsReadAsItWasWritten) {
  RunLine begin = line(What::kBegin, 2, 1234);
  const auto text = to_text(begin, "n[1-3]") + to_text(line(What::kEnd, 2, 5678)) + "nonsense\n" +
                    to_text({What::kFail, 3, 1, {}, "a \"sentence\""}) + "{\"what\":\"end\"";
  std::size_t from = 0;
  const auto lines = parse_run_lines(text, from);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0].nodes, ElementsAre("n1", "n2", "n3"));
  EXPECT_EQ(lines[0].at_ms, 1234);
  EXPECT_EQ(lines[1].what, What::kEnd);
  EXPECT_EQ(lines[2].text, "a \"sentence\"");
  EXPECT_EQ(text.substr(from), "{\"what\":\"end\"");  // half a line waits for its end
}

}  // namespace
}  // namespace acrf::sim
