// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/bridge/suspect_bridge.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "core/accusation.h"

namespace {

std::string_view text_of(const char* text) { return text ? text : ""; }

char* copy_text(const std::string& text) { return ::strdup(text.c_str()); }

// Without memory nothing is new and nothing changes.
template <typename Answer, typename Body>
Answer guarded(Answer otherwise, Body body) noexcept {
  try {
    return body();
  } catch (...) {
    return otherwise;
  }
}

}  // namespace

int acrf_accusation(const char* comment, const char* admin_comment, int node_cnt, int64_t now,
                    int again_s, acrf_accusation_t* accusation) {
  *accusation = {};
  return guarded(0, [&] {
    const acrf::AccusingJob job{node_cnt, text_of(comment), text_of(admin_comment)};
    const auto word = acrf::new_accusation(job, now, again_s);
    if (!word) return 0;
    std::string names;
    for (const auto& node : word->nodes) names += (names.empty() ? "" : ",") + node;
    accusation->hangs = word->hangs;
    accusation->nodes = copy_text(names);
    accusation->admin_comment = copy_text(acrf::with_accusation(job.admin_comment, *word, now));
    if (accusation->nodes && accusation->admin_comment) return 1;
    acrf_accusation_free(accusation);
    return 0;
  });
}

void acrf_accusation_free(acrf_accusation_t* accusation) {
  std::free(accusation->nodes);
  std::free(accusation->admin_comment);
  *accusation = {};
}

int acrf_is_accused_by(const char* node_comment, uint32_t uid) {
  return guarded(
      0, [&] { return int(acrf::is_accused_by(acrf::node_token_in(text_of(node_comment)), uid)); });
}

char* acrf_with_accused(const char* node_comment, int64_t until, int hangs, uint32_t uid) {
  return guarded(static_cast<char*>(nullptr), [&] {
    auto token = acrf::node_token_in(text_of(node_comment));
    token.accused = acrf::accused_mark(until, hangs != 0, uid);
    return copy_text(acrf::with_node_token(text_of(node_comment), token));
  });
}

char* acrf_without_accused(const char* node_comment, int64_t now) {
  return guarded(static_cast<char*>(nullptr), [&]() -> char* {
    auto token = acrf::node_token_in(text_of(node_comment));
    if (!token.accused || token.accused->unix_s > now) return nullptr;
    token.accused.reset();
    return copy_text(acrf::with_node_token(text_of(node_comment), token));
  });
}
