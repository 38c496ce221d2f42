// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/sample_json.h"

#include <gtest/gtest.h>

#include "core/gpu_rules.h"
#include "random.h"
#include "sources/gpu_inventory.h"

namespace acrf {
namespace {

constexpr PciAddress kGpu = {0, 0x1a, 0};

TEST(Samples, AreReadFromTheProbesAnswer) {
  const auto samples = parse_samples(
      R"({"ok":true,"gpus":[{"index":0,"pci":"0000:1a:00","uuid":"GPU-1","lost":false},
          {"index":1,"lost":true}]})");
  ASSERT_TRUE(samples.ok());
  ASSERT_EQ(samples->size(), 1u);  // whose identity is unknown says nothing about anybody
  EXPECT_EQ((*samples)[0].address, kGpu);
}

TEST(Samples, FailuresAreErrorsNotEmptyLists) {
  EXPECT_FALSE(parse_samples(R"({"ok":false,"error":"Driver Not Loaded"})").ok());
  EXPECT_FALSE(parse_samples("garbage").ok());
  EXPECT_FALSE(parse_samples("[]").ok());
  EXPECT_FALSE(parse_samples(R"({"ok":1})").ok());
}

TEST(Samples, EveryReadingSurvivesTheWire) {
  ProbeAnswer answer;
  auto& gpu = answer.gpus.emplace_back();
  gpu.address = kGpu;
  gpu.uuid = "GPU-1";
  gpu.suspended = gpu.reset_required = gpu.lost = true;
  std::uint64_t value = 1;
  for (const auto& name : reading_names()) gpu.*name.field = value++;
  auto& link = gpu.links.emplace_back();
  for (const auto& name : link_reading_names()) link.*name.field = value++;
  gpu.blocks = {{"umc", 1, std::nullopt}};
  gpu.incidents = {{"memory", true, 18, "text"}};
  gpu.xids = {79};
  const auto again = parse_samples(encode_answer(answer));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(encode_answer(ProbeAnswer{"", *again}), encode_answer(answer));
  EXPECT_EQ((*again)[0].remap_failure, gpu.remap_failure);
  EXPECT_EQ((*again)[0].links[0].symbol_errors, value - 1);
}

TEST(Samples, AKeyOfTheWrongTypeIsUnknown) {
  const auto samples = parse_samples(
      R"({"ok":true,"gpus":["3",{"pci":"0000:1a:00","uuid":7,"lost":"yes","remap_failure":true,
          "temperature_c":-1,"power_mw":1.5,"links":[1,{"link":-1}],"blocks":{},"xids":["79"]}]})");
  ASSERT_TRUE(samples.ok());
  ASSERT_EQ(samples->size(), 1u);
  const auto& gpu = (*samples)[0];
  EXPECT_EQ(gpu.uuid, "");
  EXPECT_FALSE(gpu.lost);
  EXPECT_FALSE(gpu.remap_failure || gpu.temperature_c || gpu.power_mw);
  EXPECT_TRUE(gpu.links.empty() && gpu.blocks.empty() && gpu.xids.empty());
}

GpuSample whole_gpu(std::uint64_t index) {
  GpuSample gpu;
  gpu.address = {0, static_cast<std::uint8_t>(0x10 + index), 0};
  gpu.uuid = "GPU-" + std::to_string(index);
  gpu.index = index;
  for (const auto& name : reading_names()) gpu.*name.field = index + 1;
  for (std::uint64_t link = 0; link < 18; ++link) gpu.links.push_back({link, 1, {}, {}, {}, 0, 0});
  return gpu;
}

TEST(Samples, ChangesSayWhatTheWholeWouldHaveSaid) {
  const ProbeAnswer first{"550", {whole_gpu(0), whole_gpu(1), whole_gpu(2)}};
  Random random(20261117);
  auto before = first;
  std::vector<GpuSample> known = *parse_samples(encode_answer(first));
  for (int round = 0; round < 200; ++round) {
    auto now = before;
    for (auto& gpu : now.gpus) gpu.xids.clear();
    auto& gpu = now.gpus[static_cast<std::size_t>(random.below(3))];
    const auto& names = reading_names();
    const auto& name =
        names[static_cast<std::size_t>(random.below(static_cast<int>(names.size())))];
    gpu.*name.field = random.below(4) == 0 ? Reading() : Reading(random.below(1000));
    gpu.links[static_cast<std::size_t>(random.below(18))].active = random.below(2);
    if (random.below(5) == 0) gpu.links[3].remote = {0, static_cast<std::uint8_t>(round), 0};
    if (random.below(5) == 0) gpu.xids = {79};
    if (random.below(9) == 0) gpu.lost = !gpu.lost;
    if (random.below(20) == 0) gpu.blocks = {{"umc", 1, std::nullopt}};
    if (random.below(20) == 0) gpu.links.pop_back(), gpu.links.push_back({17, 1, {}, {}, {}, 0, 0});
    if (random.below(20) == 0) gpu.uuid += "x";
    auto read = parse_samples(encode_answer(now, &before), known);
    ASSERT_TRUE(read.ok());
    ASSERT_EQ(encode_answer(ProbeAnswer{"", *read}), encode_answer(ProbeAnswer{"", now.gpus}));
    known = *read;
    before = now;
  }
}

TEST(Samples, WhatIsAsItWasIsItsNumberAlone) {
  const ProbeAnswer answer{"550", {whole_gpu(0), whole_gpu(7)}};
  const auto text = encode_answer(answer, &answer);
  EXPECT_EQ(text, R"({"driver":"550","gpus":[0,7],"ok":true})");
  EXPECT_EQ(parse_samples(text, answer.gpus)->size(), 2u);
  EXPECT_FALSE(parse_samples(text).ok()) << "there is nothing that it could continue";
}

TEST(Samples, AnXidIsToldOnce) {
  ProbeAnswer before{"550", {whole_gpu(0)}};
  before.gpus[0].xids = {48};
  const ProbeAnswer now{"550", {whole_gpu(0)}};
  EXPECT_TRUE((*parse_samples(encode_answer(now, &before), before.gpus))[0].xids.empty());
}

// The fuzz target without a fuzzer; the same texts in every run.
TEST(Samples, DamagedAnswersAreSurvived) {
  const std::string answer =
      R"({"ok":true,"gpus":[{"pci":"0000:1a:00","uuid":"G","vendor":"amd","lost":true,"links":)"
      R"([{"link":0,"active":1}],"blocks":[{"name":"umc","uncorrected":2}],"xids":[79],)"
      R"("incidents":[{"system":"memory","failed":true,"code":18,"text":"x"}]}]})";
  ASSERT_TRUE(parse_samples(answer).ok());
  Random random(20261117);
  for (std::size_t at = 0; at < answer.size(); ++at) {
    EXPECT_FALSE(parse_samples(answer.substr(0, at)).ok());
    for (int i = 0; i < 40; ++i) {
      std::string text = answer;
      text[at] = static_cast<char>(random.below(256));
      text[static_cast<std::size_t>(random.below(static_cast<int>(text.size())))] =
          "[]{},\":0e-"[random.below(11)];
      GpuRules rules;
      if (const auto samples = parse_samples(text))
        for (int second = 0; second < 3; ++second) rules.look("fuzz", *samples, second);
    }
  }
}

std::vector<GpuSample> one_gpu(const std::string& uuid) {
  GpuSample gpu;
  gpu.address = kGpu;
  gpu.uuid = uuid;
  return {gpu};
}

TEST(GpuInventory, KnowsWhoSitsWhere) {
  GpuInventory gpus;
  gpus.update(one_gpu("GPU-1"));
  gpus.update(one_gpu(""));  // a GPU that does not answer keeps its name
  EXPECT_EQ(gpus.uuid_at(kGpu), "GPU-1");
  gpus.update(one_gpu("GPU-2"));
  EXPECT_EQ(gpus.uuid_at(kGpu), "GPU-2");
  EXPECT_EQ(gpus.uuid_at({0, 0x2b, 0}), "");
}

}  // namespace
}  // namespace acrf
