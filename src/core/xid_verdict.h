// SPDX-License-Identifier: GPL-2.0-or-later
// The verdict on an NVRM Xid or an NVSwitch SXid: the catalog's row, and what the rest of the line
// says beside its number.
#pragma once

#include "core/classify.h"
#include "core/sxid.h"
#include "core/xid.h"

namespace acrf {

LineVerdict judge_xid(const Xid& xid, const Catalog& catalog);
LineVerdict judge_sxid(const Sxid& sxid, const Catalog& catalog);

}  // namespace acrf
