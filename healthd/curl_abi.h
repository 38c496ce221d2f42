// SPDX-License-Identifier: GPL-2.0-or-later
// The little of libcurl's interface that is used, which its authors promise not to change. It is
// opened at run time, in the worker that asks a model: a node that asks nobody needs no libcurl.
#pragma once

namespace acrf::curl {

enum Option {
  kWriteData = 10001,
  kUrl = 10002,
  kPostFields = 10015,
  kUserAgent = 10018,
  kHttpHeader = 10023,
  kWriteFunction = 20011,
  kFollowLocation = 52,
  kPostFieldSize = 60,
  kNoSignal = 99,
  kTimeoutMs = 155,
  kProtocols = 181,
};
constexpr long kHttpAndHttps = 3;
constexpr int kResponseCode = 0x200002;

}  // namespace acrf::curl
