// SPDX-License-Identifier: GPL-2.0-or-later
// acrf checkpoint list|newest|seal DIR
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common/checkpoint_dir.h"

namespace acrf {
namespace {

void list_checkpoints(const CommandLine& line, const std::string& directory) {
  const CheckpointDir files(directory);
  auto entries = files.list();
  sort_newest_first(entries);
  auto all = nlohmann::json::array();
  for (const auto& entry : entries) {
    const auto defect = find_defect(files, entry.name);
    if (line.json) {
      nlohmann::json record = {{"name", entry.name}, {"complete", !defect}};
      if (defect) record["defect"] = *defect;
      all.push_back(record);
    } else {
      fmt::print("{:<32} {}\n", entry.name, defect ? "incomplete: " + *defect : "complete");
    }
  }
  if (line.json) fmt::print("{}\n", all.dump());
}

void print_newest(CommandLine& line, const std::string& directory) {
  const auto newest = newest_checkpoint(directory);
  if (!newest) return fail(line, {ErrorCode::kNotFound, directory + ": no complete checkpoint"});
  if (line.json) {
    fmt::print("{}\n", nlohmann::json{{"path", *newest}}.dump());
  } else {
    fmt::print("{}\n", *newest);
  }
}

}  // namespace

void add_checkpoint_command(CommandLine& line) {
  auto* checkpoint = line.app.add_subcommand("checkpoint", "a job's checkpoints");
  checkpoint->require_subcommand(1);
  checkpoint->fallthrough();
  const auto directory = std::make_shared<std::string>();

  auto* list =
      checkpoint->add_subcommand("list", "all below DIR, newest first, with their defects");
  list->add_option("DIR", *directory)->required();
  list->callback([&line, directory] { list_checkpoints(line, *directory); });

  auto* newest = checkpoint->add_subcommand("newest", "path of the newest complete one below DIR");
  newest->add_option("DIR", *directory)->required();
  newest->callback([&line, directory] { print_newest(line, *directory); });

  auto* seal =
      checkpoint->add_subcommand("seal", "publish the checkpoint in DIR: write its manifest");
  seal->add_option("DIR", *directory)->required();
  seal->callback([&line, directory] {
    if (const auto sealed = seal_checkpoint(*directory); !sealed) fail(line, sealed.error());
  });
}

}  // namespace acrf
