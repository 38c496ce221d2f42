// SPDX-License-Identifier: GPL-2.0-or-later
// acrf checkpoint list|newest|seal|publish|fence DIR
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common/checkpoint_dir.h"
#include "common/checkpoint_publish.h"

namespace acrf {
namespace {

struct CheckpointOptions {
  std::string path;
  std::string format = "auto";
  bool verify = false;
  bool sizes_only = false;
  std::string directory, name, fence;

  Checksums checksums() const { return sizes_only ? Checksums::kNone : Checksums::kAll; }
};

using Options = std::shared_ptr<CheckpointOptions>;

std::optional<std::string> find_defect(const CheckpointFiles& files, const CheckpointJudge& judge,
                                       const CheckpointEntry& entry, bool verify) {
  if (auto defect = judge.defect_of(entry)) return defect;
  // Beside a manifest there may be another layout, whose rule was the one asked for.
  const auto manifest = entry.name + "/" + std::string(kManifestName);
  if (!verify || !files.size_of(manifest)) return std::nullopt;
  return checksum_defect(files, entry.name);
}

nlohmann::json describe(const CheckpointEntry& entry, CheckpointFormat format,
                        const std::optional<std::string>& defect) {
  nlohmann::json record = {
      {"name", entry.name}, {"format", name_of(format)}, {"complete", !defect}};
  if (const auto step = step_of(entry.name)) record["step"] = *step;
  if (defect) record["defect"] = *defect;
  return record;
}

void print_row(const CheckpointEntry& entry, CheckpointFormat format,
               const std::optional<std::string>& defect) {
  const auto step = step_of(entry.name);
  fmt::print("{:<32} {:<9} {:>10} {}\n", entry.name, name_of(format),
             step ? std::to_string(*step) : "-", defect ? "incomplete: " + *defect : "complete");
}

void list_checkpoints(CommandLine& line, const CheckpointOptions& options) {
  const auto format = parse_checkpoint_format(options.format);
  if (!format) return fail(line, format.error());
  if (!std::filesystem::is_directory(options.path))
    return fail(line, {ErrorCode::kNotFound, options.path + ": no such directory"});
  const CheckpointDir files(options.path);
  const CheckpointJudge judge(files, *format);
  auto all = nlohmann::json::array();
  for (const auto& entry : judge.candidates()) {
    const auto defect = find_defect(files, judge, entry, options.verify);
    if (line.json) {
      all.push_back(describe(entry, judge.format_of(entry), defect));
    } else {
      print_row(entry, judge.format_of(entry), defect);
    }
  }
  // Names are bytes, not always UTF-8.
  if (line.json)
    fmt::print("{}\n", all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_path(const CommandLine& line, const std::string& path) {
  fmt::print("{}\n", line.json ? nlohmann::json{{"path", path}}.dump() : path);
}

void print_newest(CommandLine& line, const CheckpointOptions& options) {
  const auto format = parse_checkpoint_format(options.format);
  if (!format) return fail(line, format.error());
  const auto newest = newest_checkpoint(options.path, *format);
  if (!newest) return fail(line, {ErrorCode::kNotFound, options.path + ": no complete checkpoint"});
  print_path(line, *newest);
}

void publish(CommandLine& line, const CheckpointOptions& options) {
  Publication publication{options.path, options.directory, options.name, {}, options.checksums()};
  const char* given = std::getenv("ACRF_FENCE");
  const std::string text = !options.fence.empty() ? options.fence : given ? given : "";
  if (!text.empty()) {
    const auto fence = parse_fence(text);
    if (!fence) return fail(line, fence.error());
    publication.fence = *fence;
  }
  const auto published = publish_checkpoint(publication);
  if (!published)
    return fail(line, {published.error().code,
                       options.path + " is not published: " + published.error().sentence});
  if (line.json || !options.name.empty()) print_path(line, *published);
}

void print_fences(const CommandLine& line, const CheckpointOptions& options) {
  auto all = nlohmann::json::array();
  for (const auto& fence : read_fences(options.path)) {
    if (line.json) {
      all.push_back({{"job", fence.job_id}, {"restart", fence.restart}});
    } else {
      fmt::print("job {} restart {}\n", fence.job_id, fence.restart);
    }
  }
  if (line.json) fmt::print("{}\n", all.dump());
}

CLI::App* add(CLI::App& checkpoint, const Options& options, const char* name, const char* help) {
  auto* command = checkpoint.add_subcommand(name, help);
  command->add_option("DIR", options->path)->required();
  return command;
}

void add_readers(CommandLine& line, CLI::App& checkpoint, const Options& options) {
  constexpr auto kFormats = "auto, manifest, torch-dcp, deepspeed, megatron, hf or lightning";
  auto* list = add(checkpoint, options, "list", "all below DIR, newest first, with their defects");
  list->add_option("--format", options->format, kFormats);
  list->add_flag("--verify", options->verify, "read all files and compare checksums");
  list->callback([&line, options] { list_checkpoints(line, *options); });

  auto* newest = add(checkpoint, options, "newest", "path of the newest complete one below DIR");
  newest->add_option("--format", options->format, kFormats);
  newest->callback([&line, options] { print_newest(line, *options); });

  auto* fence = add(checkpoint, options, "fence", "which restart of each job may publish in DIR");
  fence->callback([&line, options] { print_fences(line, *options); });
}

void add_writers(CommandLine& line, CLI::App& checkpoint, const Options& options) {
  constexpr auto kSizesOnly = "leave checksums out, which need every file to be read";
  auto* seal =
      add(checkpoint, options, "seal", "publish the checkpoint in DIR: write its manifest");
  seal->add_flag("--sizes-only", options->sizes_only, kSizesOnly);
  seal->callback([&line, options] {
    const auto sealed = seal_checkpoint(options->path, options->checksums());
    if (!sealed) fail(line, sealed.error());
  });

  auto* command = add(checkpoint, options, "publish",
                      "seal the checkpoint in DIR unless the job has been restarted since");
  command->add_option("--as", options->name, "rename it to this, in the checkpoint directory");
  command->add_option("--dir", options->directory,
                      "the job's checkpoint directory, when DIR is elsewhere");
  command->add_option("--fence", options->fence, "JOBID.RESTART of the writer; else $ACRF_FENCE");
  command->add_flag("--sizes-only", options->sizes_only, kSizesOnly);
  command->callback([&line, options] { publish(line, *options); });
}

}  // namespace

void add_checkpoint_command(CommandLine& line) {
  auto* checkpoint = line.app.add_subcommand("checkpoint", "a job's checkpoints");
  checkpoint->require_subcommand(1);
  checkpoint->fallthrough();
  const auto options = std::make_shared<CheckpointOptions>();
  add_readers(line, *checkpoint, options);
  add_writers(line, *checkpoint, options);
}

}  // namespace acrf
