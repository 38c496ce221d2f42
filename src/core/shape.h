// SPDX-License-Identifier: GPL-2.0-or-later
// The shape that a job's nodes shall have in the network.
#pragma once

#include <optional>
#include <string_view>

namespace acrf {

// pack: cheapest ring. spread: evenly over the failure domains. block: fewest leaves. any: what
// keeps most leaves whole.
enum class Shape { kPack, kSpread, kBlock, kAny };

std::optional<Shape> parse_shape(std::string_view name);
std::string_view name_of(Shape shape);

}  // namespace acrf
