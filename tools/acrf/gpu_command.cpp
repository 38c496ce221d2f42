// SPDX-License-Identifier: GPL-2.0-or-later
// acrf gpu: all GPUs as a table, or all about one; a check of that one.
#include <fmt/format.h>

#include <memory>

#include "cluster_commands.h"
#include "cluster_source.h"
#include "core/text.h"

namespace acrf {
namespace {

struct GpuOptions {
  SourceOptions source;
  std::string which;
  bool out = false;
};

// "n1:3" is a GPU of a node. A UUID may have a colon in it, but none before a number alone.
Result<GpuView> find_gpu(ClusterSource& source, const std::string& which) {
  const auto colon = which.rfind(':');
  const auto index = colon == std::string::npos
                         ? std::nullopt
                         : parse_unsigned(std::string_view(which).substr(colon + 1));
  if (!index) return source.gpu(which);
  const auto node = which.substr(0, colon);
  const auto details = source.node(node);
  if (!details) return details.error();
  for (const auto& gpu : details->gpus)
    if (gpu.index == static_cast<int>(*index)) return gpu;
  return Error{ErrorCode::kNotFound, fmt::format("node {} has {} GPUs, none has the number {}",
                                                 node, details->gpus.size(), *index)};
}

void show_one(CommandLine& line, ClusterSource& source, const std::string& which) {
  const auto gpu = find_gpu(source, which);
  if (!gpu) return fail_check(line, gpu.error());
  if (line.json)
    print_json(to_json(*gpu));
  else
    fmt::print("{}", gpu_text(*gpu));
  line.status = static_cast<int>(check_of(gpu->state, gpu->told));
}

void show_gpus(CommandLine& line, const GpuOptions& options) {
  const auto source = open_source(line, options.source);
  if (!source) return fail_check(line, source.error());
  if (!options.which.empty()) return show_one(line, **source, options.which);
  auto gpus = (*source)->gpus();
  if (!gpus) return fail_check(line, gpus.error());
  if (options.out)
    std::erase_if(*gpus, [](auto& gpu) { return gpu.state < PartState::kQuarantined; });
  if (!line.json) return fmt::print("{}", gpus_text(*gpus));
  auto all = nlohmann::ordered_json::array();
  for (const auto& gpu : *gpus) all.push_back(to_json(gpu));
  print_json({{"gpus", std::move(all)}});
}

}  // namespace

void add_gpu_command(CommandLine& line) {
  auto* command = line.app.add_subcommand("gpu", "GPUs as a table, or all about one");
  command->fallthrough();
  const auto options = std::make_shared<GpuOptions>();
  command->add_option("GPU", options->which,
                      "NODE:INDEX as Slurm counts, or a UUID (default: all)");
  command->add_flag("--out", options->out, "only those in quarantine or out of service");
  add_source_options(command, options->source);
  command->callback([&line, options] { show_gpus(line, *options); });
}

}  // namespace acrf
