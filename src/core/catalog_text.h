// SPDX-License-Identifier: GPL-2.0-or-later
// The files of src/core/catalog, put into the program when it is built.
#pragma once

#include <string_view>

namespace acrf {

struct CatalogText {
  std::string_view xid;
  std::string_view sxid;
  std::string_view message;
  std::string_view nvlink_bits;
  std::string_view nvlink5;
  std::string_view recovery;
};

CatalogText builtin_catalog_text();

}  // namespace acrf
