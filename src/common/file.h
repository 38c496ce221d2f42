// SPDX-License-Identifier: GPL-2.0-or-later
// Whole files in and out. A write is durable and atomic: after a crash the file holds the old text
// or the new.
#pragma once

#include <string>

#include "core/result.h"

namespace acrf {

Result<std::string> read_file(const std::string& path);

// Writes beside `path`, syncs, renames over it and syncs the directory.
Status write_file(const std::string& path, const std::string& text, unsigned mode = 0600);

// The same without syncing: readers see the old text or the new, a crash of the machine may lose
// it.
Status replace_file(const std::string& path, const std::string& text, unsigned mode = 0600);

// Appends the text with one write(2), so that readers never see half a line.
Status append_file(const std::string& path, const std::string& text);

// "open /x/y: No such file or directory" from errno.
Error system_error(const std::string& doing);

}  // namespace acrf
