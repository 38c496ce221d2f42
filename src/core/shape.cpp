// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/shape.h"

#include <array>
#include <utility>

namespace acrf {
namespace {

constexpr std::array<std::pair<std::string_view, Shape>, 4> kShapes = {{{"pack", Shape::kPack},
                                                                        {"spread", Shape::kSpread},
                                                                        {"block", Shape::kBlock},
                                                                        {"any", Shape::kAny}}};

}  // namespace

std::optional<Shape> parse_shape(std::string_view name) {
  for (const auto& [known, shape] : kShapes)
    if (known == name) return shape;
  return std::nullopt;
}

std::string_view name_of(Shape shape) {
  for (const auto& [name, known] : kShapes)
    if (known == shape) return name;
  return "";
}

}  // namespace acrf
