// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/token_command.h"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <memory>

#include "common/config_file.h"
#include "core/zoned_time.h"
#include "hub/http/server.h"
#include "hub/http/tokens.h"

namespace acrf::hub {
namespace {

struct Wanted {
  std::string name, role;
  int days = 0;  // 0: for ever
};

Status add(const std::string& config_path, const Wanted& wanted) {
  const auto config = load_named_config(config_path);
  if (!config) return config.error();
  const auto path = token_path(*config);
  std::error_code ignored;  // writing says what is wrong
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const auto expires =
      wanted.days == 0 ? 0 : std::time(nullptr) + wanted.days * std::int64_t{86400};
  const auto secret = add_token(path, wanted.name, *parse_role(wanted.role), expires);
  if (!secret) return secret.error();
  fmt::print("{}\n", *secret);
  fmt::print(stderr, "{} may {} until {}; the token is shown this once, {} has its hash\n",
             wanted.name, wanted.role == "admin" ? "read and act" : "read",
             expires == 0 ? "its line is removed" : to_utc_text(expires), path);
  return Done{};
}

}  // namespace

CLI::App* add_token_command(CLI::App& app, const std::string& config_path, int& status) {
  auto* tokens = app.add_subcommand("token", "who may read or act without being on this host");
  tokens->require_subcommand(1);
  auto* command = tokens->add_subcommand("add", "make a token and print it");
  command->fallthrough();
  const auto wanted = std::make_shared<Wanted>();
  command->add_option("NAME", wanted->name, "whose it is, for the audit log")->required();
  command->add_option("--role", wanted->role, "read or admin")
      ->required()
      ->check(CLI::IsMember({"read", "admin"}));
  command->add_option("--days", wanted->days, "how long it holds (default: until it is removed)")
      ->check(CLI::Range(1, 3650));
  command->callback([&config_path, &status, wanted] {
    const auto added = add(config_path, *wanted);
    if (added) return;
    fmt::print(stderr, "acrf-hub: {}\n", added.error().sentence);
    status = EXIT_FAILURE;
  });
  return tokens;
}

}  // namespace acrf::hub
