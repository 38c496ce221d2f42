// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/outbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "core/text.h"
#include "report/reporter.h"
#include "unit/temporary_directory.h"

namespace acrf {
namespace {

using testing::ElementsAre;

Outbox::Item sample(int number) {
  return {true, "{\"ms\":" + std::to_string(number) + ",\"kind\":\"sample\"}", "", 0};
}
Outbox::Item record(int number) {
  return {false, "{\"ms\":" + std::to_string(number) + ",\"kind\":\"audit\"}",
          "a:" + std::to_string(number), 0};
}

// A hub as its protocol has it: takes what follows, knows what it has, may lose what is not durable.
class FakeHub {
 public:
  void take(Outbox& outbox, const Outbox::Parcel& parcel) {
    auto& stream = streams_[parcel.stream];
    const auto number = [](std::string_view item) {
      take_prefix(item, "{\"seq\":");
      return *parse_unsigned(item.substr(0, item.find(',')));
    };
    const bool follows = parcel.items.empty() ||
                         number(parcel.items.front()) <=
                             std::max(stream.accepted, parcel.first - 1) + 1;
    for (const auto& item : follows ? parcel.items : std::vector<std::string>{}) {
      if (number(item) <= stream.accepted) continue;
      stream.accepted = number(item);
      const auto ms = item.find("\"ms\":") + 5;
      stream.volatile_items.push_back(std::stoi(item.substr(ms)));
    }
    for (const auto& one : outbox.acknowledge(parcel, stream.accepted, stream.durable))
      confirmed.push_back(one);
  }
  void commit() {
    for (auto& [name, stream] : streams_) {
      stream.durable = stream.accepted;
      for (const int item : stream.volatile_items) ++items[item];
      stream.volatile_items.clear();
    }
  }
  void kill() {
    for (auto& [name, stream] : streams_) {
      stream.accepted = stream.durable;
      stream.volatile_items.clear();
    }
  }
  void drain(Outbox& outbox) {
    for (int i = 0; i < 200 && (outbox.waiting() > 0 || outbox.has_old()); ++i) {
      take(outbox, outbox.news());
      if (const auto old = outbox.old()) take(outbox, *old);
      commit();
    }
  }
  // Item -> how often it is here.
  std::map<int, int> items;
  std::vector<std::string> confirmed;

 private:
  struct Stream {
    std::uint64_t accepted = 0, durable = 0;
    std::vector<int> volatile_items;
  };
  std::map<std::string, Stream> streams_;
};

void expect_each_once(const FakeHub& hub, int count) {
  EXPECT_EQ(hub.items.size(), static_cast<std::size_t>(count));
  for (const auto& [item, times] : hub.items) EXPECT_EQ(times, 1) << item;
}

TEST(Outbox, KeepsWhatIsNotDurableAndSendsItAgainToAHubThatLostIt) {
  const TemporaryDirectory directory;
  Outbox outbox(directory.path("out"), "s");
  FakeHub hub;
  outbox.add(sample(1));
  outbox.add(record(2));
  hub.take(outbox, outbox.news());
  EXPECT_FALSE(outbox.has_news());
  EXPECT_EQ(outbox.waiting(), 2u);
  hub.kill();
  outbox.add(sample(3));
  hub.take(outbox, outbox.news());  // the hub asks for what it lost
  EXPECT_TRUE(outbox.has_news());
  hub.drain(outbox);
  expect_each_once(hub, 3);
  EXPECT_THAT(hub.confirmed, ElementsAre("a:2"));
}

TEST(Outbox, AnAnswerThatIsLostMakesNoSecondCopy) {
  const TemporaryDirectory directory;
  Outbox outbox(directory.path("out"), "s"), lost(directory.path("lost"), "s");
  FakeHub hub;
  outbox.add(sample(1));
  const auto parcel = outbox.news();
  hub.take(lost, parcel);  // the hub has it, the node never hears
  hub.commit();
  outbox.add(sample(2));
  hub.drain(outbox);
  expect_each_once(hub, 2);
}

TEST(Outbox, SamplesGoToDiskWhileTheHubIsAwayAndSurviveARestart) {
  const TemporaryDirectory directory;
  Outbox::Bounds bounds;
  bounds.samples_in_memory = 3;
  bounds.file_bytes = 200;
  {
    Outbox outbox(directory.path("out"), "s1", bounds);
    for (int i = 1; i <= 50; ++i) {
      outbox.add(sample(i));
      ASSERT_TRUE(outbox.spill().ok());
      EXPECT_LE(outbox.waiting(), 3u);
    }
    (void)outbox.news();  // sent, never answered
    outbox.add(sample(51));
    ASSERT_TRUE(outbox.close().ok());
  }
  FakeHub hub;
  Outbox outbox(directory.path("out"), "s2", bounds);
  EXPECT_TRUE(outbox.has_old());
  outbox.add(sample(52));
  hub.drain(outbox);
  expect_each_once(hub, 52);
  EXPECT_FALSE(outbox.has_old());
  EXPECT_TRUE(std::filesystem::is_empty(directory.path("out")));
}

TEST(Outbox, SamplesThatCameMeanwhileAndOldOnesAllArriveOnce) {
  const TemporaryDirectory directory;
  Outbox::Bounds bounds;
  bounds.samples_in_memory = 1;
  bounds.file_bytes = 150;
  bounds.items = 2;
  Outbox outbox(directory.path("out"), "s", bounds);
  FakeHub hub;
  int next = 1;
  for (int round = 0; round < 30; ++round) {
    outbox.add(next % 5 == 0 ? record(next) : sample(next));
    ++next;
    if (round % 3 == 0) {
      ASSERT_TRUE(outbox.spill().ok());
    }
    if (round % 4 == 1) hub.take(outbox, outbox.news());
    if (round % 4 == 2)
      if (const auto old = outbox.old()) hub.take(outbox, *old);
    if (round % 5 == 4) hub.commit();
    if (round % 7 == 6) hub.kill();
  }
  hub.drain(outbox);
  expect_each_once(hub, next - 1);
}

TEST(Outbox, TooManySamplesCostTheOldestOnly) {
  const TemporaryDirectory directory;
  Outbox::Bounds bounds;
  bounds.samples_in_memory = 0;
  bounds.file_bytes = 300;
  bounds.total_bytes = 1000;
  Outbox outbox(directory.path("out"), "s", bounds);
  for (int i = 1; i <= 100; ++i) {
    outbox.add(sample(i));
    ASSERT_TRUE(outbox.spill().ok());
  }
  EXPECT_GT(outbox.dropped(), 0u);
  FakeHub hub;
  hub.drain(outbox);
  EXPECT_LT(hub.items.size(), 100u);
  EXPECT_EQ(hub.items.rbegin()->first, 100);
  EXPECT_EQ(hub.items.begin()->first, 101 - static_cast<int>(hub.items.size()));
}

TEST(Outbox, ADamagedFileIsPassedOver) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path("out"));
  directory.write("out/0000000001.items", "\x01\x02");
  directory.write("out/0000000002.items", "old\n{\"seq\":4,\"ms\":7}\n{\"seq\":5,\"ms");
  Outbox outbox(directory.path("out"), "s");
  FakeHub hub;
  hub.drain(outbox);
  EXPECT_THAT(hub.items, ElementsAre(std::pair(7, 1)));
}

// As one does whose disk is full.
TEST(Reporter, SamplesGoToDiskWhileAHubAnswersAndTakesNothing) {
  const TemporaryDirectory directory;
  directory.write(
      "courier", "#!/bin/sh\nwhile read -r line; do echo '{\"accepted\":0,\"durable\":0}'; done\n");
  std::filesystem::permissions(directory.path("courier"), std::filesystem::perms::owner_all);
  Reporter::Options options;
  options.hubs = {"hub"};
  options.node = "n1";
  options.state_dir = directory.path();
  options.courier = directory.path("courier");
  options.interval_s = 1;
  Reporter reporter(options, [](const std::string&, const std::string&) {});
  for (int i = 1; i <= 300; ++i) reporter.sample(sample(i).text);  // more than a parcel holds
  const auto spilled = [&] {
    return std::filesystem::exists(directory.path("report/hub/0000000001.items"));
  };
  for (int i = 0; i < 500 && !spilled(); ++i) ::usleep(20'000);
  EXPECT_TRUE(spilled());
}

}  // namespace
}  // namespace acrf
