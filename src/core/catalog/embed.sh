#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# embed.sh DIRECTORY: the catalog's tables as C++.
set -eu
echo '// Made by src/core/catalog/embed.sh.'
echo '#include "core/catalog_text.h"'
echo 'namespace acrf {'
echo 'CatalogText builtin_catalog_text() {'
echo '  return {'
for table in xid sxid message nvlink_bits nvlink5 recovery; do
  printf 'R"acrf-catalog('
  cat "$1/$table.tsv"
  echo ')acrf-catalog",'
done
echo '  };'
echo '}'
echo '}  // namespace acrf'
