// SPDX-License-Identifier: GPL-2.0-or-later
// A message of the kernel without the decoration that drivers and kernel versions differ in:
// "amdgpu 0000:e3:00.0: amdgpu: {1}[Hardware Error]: text" is the text, of the subject "amdgpu",
// about the device at e3:00.
#pragma once

#include <optional>
#include <string_view>

#include "core/xid.h"

namespace acrf {

struct KernelMessage {
  std::string_view subject;  // as the message catalog names them; "kernel": no driver in front
  std::optional<PciAddress> device;
  std::string_view body;  // points into the message
  bool device_is_gpu = false;
};

KernelMessage split_kernel_message(std::string_view message);

}  // namespace acrf
