// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/accusation.h"

#include <algorithm>

#include "core/comment_word.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kPrefix = "acrf-verdicts:";
constexpr std::size_t kKept = 8;
constexpr int kFewestNodes = 3;         // of two, either may be the slow one
constexpr int kOneInNodes = 4;          // at most every fourth is to blame
constexpr std::size_t kLongest = 4096;  // of a comment that is looked at

std::string_view name_of(bool hangs) { return hangs ? "hang" : "slow"; }

std::optional<PastAccusation> parse(std::string_view field) {
  const auto first = field.find('-');
  const auto second = first == std::string_view::npos ? first : field.find('-', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto when = parse_unsigned(field.substr(0, first));
  const auto kind = field.substr(first + 1, second - first - 1);
  const auto node = decode_word(field.substr(second + 1));
  if (!when || !node || node->empty() || (kind != "hang" && kind != "slow")) return std::nullopt;
  return PastAccusation{static_cast<std::int64_t>(*when), kind == "hang", *node};
}

std::string to_word(const std::vector<PastAccusation>& all) {
  std::string word(kPrefix);
  for (const auto& one : all)
    word += (word.size() > kPrefix.size() ? "," : "") + std::to_string(one.unix_s) + "-" +
            std::string(name_of(one.hangs)) + "-" + encode_word(one.node);
  return word;
}

}  // namespace

std::vector<PastAccusation> find_accusations(std::string_view admin_comment) {
  std::vector<PastAccusation> found;
  const auto word = find_word(admin_comment, kPrefix);
  if (!word) return found;
  for (const auto field : split(*word, ',')) {
    const auto one = parse(field);
    if (!one) return {};
    found.push_back(*one);
  }
  return found;
}

std::optional<ProgressWord> new_accusation(const AccusingJob& job, std::int64_t now_unix_s,
                                           int again_s) {
  if (job.nodes < kFewestNodes || job.comment.size() > kLongest) return std::nullopt;
  const auto most = static_cast<std::size_t>(std::max(1, job.nodes / kOneInNodes));
  auto word = find_progress(job.comment, most);
  if (!word) return std::nullopt;
  const auto past = find_accusations(job.admin_comment);
  std::erase_if(word->nodes, [&](const std::string& node) {
    return std::any_of(past.begin(), past.end(), [&](const PastAccusation& one) {
      return one.node == node && one.hangs == word->hangs && now_unix_s - one.unix_s < again_s;
    });
  });
  if (word->nodes.empty()) return std::nullopt;
  return word;
}

std::string with_accusation(std::string_view admin_comment, const ProgressWord& accusation,
                            std::int64_t now_unix_s) {
  auto all = find_accusations(admin_comment);
  for (const auto& node : accusation.nodes) all.push_back({now_unix_s, accusation.hangs, node});
  if (all.size() > kKept) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(kKept));
  return with_word(admin_comment, kPrefix, to_word(all));
}

HealthMark accused_mark(std::int64_t until_unix_s, bool hangs, std::uint32_t user) {
  return {until_unix_s, std::string(name_of(hangs)) + "@" + std::to_string(user)};
}

bool is_accused_by(const NodeToken& token, std::uint32_t user) {
  if (!token.accused) return false;
  const auto& mark = token.accused->fault_class;
  const auto at = mark.find('@');
  return at != std::string::npos && mark.substr(at + 1) == std::to_string(user);
}

}  // namespace acrf
