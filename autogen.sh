#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes ./configure out of configure.ac.
set -e
cd "$(dirname "$0")"
for tool in autoreconf automake libtoolize pkg-config; do
  command -v "$tool" >/dev/null || {
    echo "autogen.sh: $tool is missing; on Debian: apt-get install autoconf automake libtool pkg-config" >&2
    exit 1
  }
done
exec autoreconf --install --force
