// SPDX-License-Identifier: GPL-2.0-or-later
// acrf inject: a fault on a test cluster, as the hardware would show it.
#include <memory>

#include "commands.h"
#include "common/config_file.h"
#include "fakegpu/injection.h"

namespace acrf {

void add_inject_command(CommandLine& line) {
  auto* command =
      line.app.add_subcommand("inject", "break a fake GPU of a test cluster, or mend it");
  command->fallthrough();
  const auto injection = std::make_shared<fakegpu::Injection>();
  command->add_option("-N,--node", injection->node, "node")->required();
  command->add_option("-g,--gpu", injection->gpu, "GPU's index on the node (default: 0)");
  auto* kinds = command->add_option_group("fault");
  kinds->add_option("--xid", injection->xid, "report this Xid in the kernel log; 79 loses the GPU")
      ->check(CLI::Range(1, 0xffff));
  kinds->add_option("--fault", injection->fault, "what the vendor libraries are to show")
      ->check(CLI::IsMember(fakegpu::fault_names()));
  kinds->add_flag("--hang", injection->hang, "calls about the GPU never return");
  kinds->add_flag("--repair", injection->repair, "the GPU works again");
  kinds->require_option(1);
  command->callback([&line, injection] {
    const auto config = load_named_config(line.config_path);
    if (!config) return fail(line, config.error());
    if (const auto injected = fakegpu::inject(*config, *injection); !injected)
      fail(line, injected.error());
  });
}

}  // namespace acrf
