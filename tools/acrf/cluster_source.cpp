// SPDX-License-Identifier: GPL-2.0-or-later
#include "cluster_source.h"

#include <fmt/format.h>

#include <cstdlib>

#include "common/config_file.h"
#include "common/file.h"
#include "core/text.h"
#include "hub_source.h"
#include "slurm_source.h"

namespace acrf {
namespace {

// The first of them that answers; else why the last one did not.
Result<HubClient> first_hub(const std::string& urls, const std::string& token) {
  Error problem{ErrorCode::kNotFound, "no hub is named"};
  for (const auto url : split(urls, ',')) {
    if (trim(url).empty()) continue;
    HubClient hub{std::string(trim(url)), token};
    const auto said = hub.get("/v1/status");
    if (said && value_of<bool>(*said, "knows_cluster")) return hub;
    problem = said ? Error{ErrorCode::kUnavailable,
                           "hub " + hub.url() + " has had no answer of slurmctld yet"}
                   : said.error();
  }
  return problem;
}

}  // namespace

Result<std::string> hub_token(const SourceOptions& options) {
  if (!options.token_file.empty()) {
    const auto text = read_file(options.token_file);
    return text ? Result<std::string>(std::string(trim(*text))) : text;
  }
  const char* token = std::getenv("ACRF_HUB_TOKEN");
  return std::string(token ? token : "");
}

void add_source_options(CLI::App* command, SourceOptions& options) {
  command->add_option("--hub", options.hub,
                      "URL of an acrf-hub, or none: ask slurmctld (default: Hub of acrf.conf)");
  add_token_option(command, options);
}

void add_token_option(CLI::App* command, SourceOptions& options) {
  command->add_option("--token-file", options.token_file,
                      "file with a token for the hub (default: $ACRF_HUB_TOKEN)");
}

Result<std::unique_ptr<ClusterSource>> open_source(const CommandLine& line,
                                                   const SourceOptions& options) {
  const auto config = load_named_config(line.config_path);
  if (!config) return config.error();
  const auto token = hub_token(options);
  if (!token) return token.error();
  const auto slurm = [&](const std::string& note) {
    return std::unique_ptr<ClusterSource>(
        std::make_unique<SlurmSource>(*config, line.config_path, note));
  };
  if (options.hub == "none") return slurm("");
  const auto& urls = options.hub.empty() ? config->hub : options.hub;
  if (urls.empty()) return slurm("");
  auto hub = first_hub(urls, *token);
  if (hub) return std::unique_ptr<ClusterSource>(std::make_unique<HubSource>(std::move(*hub)));
  if (!options.hub.empty()) return hub.error();
  return slurm(hub.error().sentence);
}

Result<std::optional<HubClient>> find_hub(const CommandLine& line, const SourceOptions& options) {
  std::optional<HubClient> none;
  if (options.hub == "none") return none;
  const auto config = load_named_config(line.config_path);
  if (!config) return config.error();
  const auto token = hub_token(options);
  if (!token) return token.error();
  const auto& urls = options.hub.empty() ? config->hub : options.hub;
  if (urls.empty()) return none;
  auto hub = first_hub(urls, *token);
  if (hub) return std::optional<HubClient>(std::move(*hub));
  if (!options.hub.empty()) return hub.error();
  fmt::print(stderr, "acrf: {}; what follows is of this host alone\n", hub.error().sentence);
  return none;
}

void fail_check(CommandLine& line, const Error& error) {
  fail(line, error);
  line.status = static_cast<int>(CheckStatus::kUnknown);
}

void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace acrf
