// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/catalog.h"

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kAnySubject = "kernel";

Error bad(const std::string& sentence) { return {ErrorCode::kInvalid, sentence}; }

Error bad_value(std::string_view what, std::string_view value) {
  return bad(std::string(what) + " '" + std::string(value) + "'");
}

// Ranks that the tables do not give.
int rank_of(const Verdict& verdict) {
  if (evacuates(verdict)) return verdict.severity == Severity::kFatal ? 60 : 58;
  switch (verdict.action) {
    case Action::kCheckFabric: return 52;
    case Action::kRestartApp: return 30;
    case Action::kIgnore: return 0;
    default: return 20;
  }
}

Status read_verdict(Verdict& verdict, std::string_view fault_class, std::string_view severity,
                    std::string_view scope, std::string_view action) {
  const auto known_severity = parse_severity(severity);
  const auto known_scope = parse_scope(scope);
  const auto known_action = parse_action(action);
  if (fault_class.empty()) return bad("no class");
  if (!known_severity) return bad_value("unknown severity", severity);
  if (!known_scope) return bad_value("unknown scope", scope);
  if (!known_action) return bad_value("unknown action", action);
  verdict = {std::string(fault_class), *known_severity, *known_scope, *known_action};
  return Done{};
}

Status read_rank(int& rank, const Verdict& verdict, std::string_view text) {
  if (text.empty()) {
    rank = rank_of(verdict);
    return Done{};
  }
  const auto number = parse_unsigned(text);
  if (!number || *number > 1000) return bad_value("bad rank", text);
  rank = static_cast<int>(*number);
  return Done{};
}

std::optional<int> read_int(std::string_view text, std::uint64_t most) {
  const auto number = parse_unsigned(text);
  if (!number || *number > most) return std::nullopt;
  return static_cast<int>(*number);
}

// 32 characters of '0', '1' and '-', the highest bit first.
bool read_bits(std::string_view text, std::uint32_t& mask, std::uint32_t& bits) {
  if (text.size() != 32) return false;
  for (const char c : text) {
    mask <<= 1;
    bits <<= 1;
    if (c != '0' && c != '1' && c != '-') return false;
    if (c != '-') mask |= 1;
    if (c == '1') bits |= 1;
  }
  return true;
}

}  // namespace

Result<Catalog> Catalog::parse(const CatalogText& text) {
  Catalog catalog;
  const std::pair<std::string_view, std::string_view> tables[] = {
      {"xid", text.xid},         {"sxid", text.sxid},
      {"message", text.message}, {"nvlink_bits", text.nvlink_bits},
      {"nvlink5", text.nvlink5}, {"recovery", text.recovery},
  };
  for (const auto& [name, table] : tables)
    if (const auto read = catalog.read_table(name, table); !read) return read.error();
  catalog.index_messages();
  return catalog;
}

const Catalog& Catalog::builtin() {
  static const Catalog kCatalog = [] {
    auto parsed = parse(builtin_catalog_text());
    // A test holds that the tables are right. Empty ones would have everything watched.
    return parsed ? std::move(*parsed) : Catalog();
  }();
  return kCatalog;
}

Catalog Catalog::with_rules(std::vector<FaultRule> rules) {
  Catalog catalog = builtin();
  catalog.rules_ = std::move(rules);
  return catalog;
}

// The first line is "# acrf-catalog NAME VERSION"; other lines with '#' are comments.
Status Catalog::read_table(std::string_view name, std::string_view text) {
  int number = 0;
  for (const auto line : split(text, '\n')) {
    ++number;
    const auto wrong = [&](const std::string& sentence) {
      return bad("catalog " + std::string(name) + ":" + std::to_string(number) + ": " + sentence);
    };
    if (number == 1) {
      const auto words = split(line, ' ');
      if (words.size() != 4 || words[1] != "acrf-catalog" || words[2] != name)
        return wrong("must open with '# acrf-catalog " + std::string(name) + " VERSION'");
      if (!version_.empty() && version_ != words[3])
        return wrong("is of another version than " + version_);
      version_ = std::string(words[3]);
    }
    if (line.empty() || line.front() == '#') continue;
    if (const auto added = add_row(name, split(line, '\t')); !added)
      return wrong(added.error().sentence);
  }
  return Done{};
}

Status Catalog::add_row(std::string_view table, const Row& row) {
  const std::size_t columns = table == "nvlink_bits" || table == "recovery" ? 6 : 9;
  if (row.size() != columns)
    return bad("has " + std::to_string(row.size()) + " columns, not " + std::to_string(columns));
  if (table == "xid") return add_code(xids_, row);
  if (table == "sxid") return add_code(sxids_, row);
  if (table == "message") return add_message(row);
  if (table == "nvlink_bits") return add_nvlink_bit(row);
  if (table == "nvlink5") return add_nvlink5(row);
  return add_recovery(row);
}

Status Catalog::add_code(std::map<int, CodeRow>& codes, const Row& row) {
  const auto code = read_int(row[0], 99'999);
  if (!code || *code == 0) return bad_value("bad code", row[0]);
  CodeRow entry;
  if (const auto read = read_verdict(entry.verdict, row[1], row[2], row[3], row[4]); !read)
    return read;
  if (const auto read = read_rank(entry.rank, entry.verdict, row[5]); !read) return read;
  entry.name = std::string(row[6]);
  entry.source = std::string(row[7]);
  entry.note = std::string(row[8]);
  if (entry.source.empty()) return bad("has no source");
  if (!codes.emplace(*code, std::move(entry)).second) return bad_value("second row of", row[0]);
  return Done{};
}

Status Catalog::add_message(const Row& row) {
  if (row[0].empty()) return bad("no subject");
  auto pattern = MessagePattern::parse(row[1]);
  if (!pattern) return pattern.error();
  MessageRow entry{std::move(*pattern), std::string(row[1]), {}, 0,
                   std::string(row[7]), std::string(row[8])};
  if (const auto read = read_verdict(entry.verdict, row[2], row[3], row[4], row[5]); !read)
    return read;
  if (const auto read = read_rank(entry.rank, entry.verdict, row[6]); !read) return read;
  if (entry.source.empty()) return bad("has no source");
  if (row[0] == kAnySubject && entry.pattern.first_letter() == '\0')
    return bad("a pattern of the subject kernel must open with a letter");
  messages_.push_back(std::move(entry));
  subjects_.emplace_back(row[0]);
  return Done{};
}

Status Catalog::add_nvlink_bit(const Row& row) {
  const auto reg = read_int(row[0], 7);
  const auto bit = read_int(row[1], 31);
  const auto action = parse_action(row[2]);
  if (!reg || *reg == 0 || !bit) return bad("bad register or bit");
  if (!action) return bad_value("unknown action", row[2]);
  if (row[3] != "any" && row[3] != "repeat") return bad_value("unknown rule", row[3]);
  nvlink_bits_.push_back({*reg, *bit, *action, row[3] == "repeat"});
  return Done{};
}

Status Catalog::add_nvlink5(const Row& row) {
  Nvlink5Row entry;
  const auto xid = read_int(row[0], 999);
  const auto action = parse_action(row[5]);
  const auto severity = parse_severity(row[6]);
  if (!xid) return bad_value("bad Xid", row[0]);
  if (!read_bits(row[2], entry.mask[0], entry.bits[0]) ||
      !read_bits(row[3], entry.mask[1], entry.bits[1]))
    return bad("bad bits");
  if (!action || !severity) return bad("unknown action or severity");
  auto status = row[4];
  if (status != "-") {
    const auto value =
        take_prefix(status, "0x") ? parse_unsigned(status, 16) : std::optional<std::uint64_t>();
    if (!value || *value > 0xffffffff) return bad_value("bad status", row[4]);
    entry.status = static_cast<std::uint32_t>(*value);
  }
  entry.xid = *xid;
  entry.unit = std::string(row[1]);
  entry.action = *action;
  entry.severity = *severity;
  if (row[7] != "-") entry.suspect = std::string(row[7]);
  nvlink5_.push_back(std::move(entry));
  return Done{};
}

Status Catalog::add_recovery(const Row& row) {
  const auto value = read_int(row[0], 255);
  const auto action = parse_action(row[1]);
  const auto severity = parse_severity(row[2]);
  if (!value || !action || !severity || row[3].empty()) return bad("bad value, action or severity");
  recoveries_.push_back({*value, *action, *severity, std::string(row[3])});
  return Done{};
}

void Catalog::index_messages() {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    if (subjects_[i] != kAnySubject) {
      by_subject_[subjects_[i]].push_back(i);
      continue;
    }
    const char letter = messages_[i].pattern.first_letter();
    by_letter_[static_cast<unsigned char>(letter)].push_back(i);
    if (letter >= 'a' && letter <= 'z')
      by_letter_[static_cast<unsigned char>(letter - 'a' + 'A')].push_back(i);
  }
}

const CodeRow* Catalog::find_xid(int code) const {
  const auto found = xids_.find(code);
  return found == xids_.end() ? nullptr : &found->second;
}

const CodeRow* Catalog::find_sxid(int code) const {
  const auto found = sxids_.find(code);
  return found == sxids_.end() ? nullptr : &found->second;
}

const MessageRow* Catalog::find_message(std::string_view subject, std::string_view body) const {
  const std::vector<std::size_t>* rows = nullptr;
  if (subject == kAnySubject) {
    if (body.empty()) return nullptr;
    rows = &by_letter_[static_cast<unsigned char>(body.front())];
  } else if (const auto found = by_subject_.find(subject); found != by_subject_.end()) {
    rows = &found->second;
  } else {
    return nullptr;
  }
  for (const auto row : *rows)
    if (messages_[row].pattern.fits(body)) return &messages_[row];
  return nullptr;
}

const FaultRule* Catalog::find_rule(std::optional<int> xid, std::optional<int> sxid,
                                    std::string_view fault_class) const {
  const FaultRule* of_class = nullptr;
  for (const auto& rule : rules_) {
    if (rule.kind == FaultRule::Kind::kXid && xid == rule.code) return &rule;
    if (rule.kind == FaultRule::Kind::kSxid && sxid == rule.code) return &rule;
    if (rule.kind == FaultRule::Kind::kClass && rule.fault_class == fault_class && !of_class)
      of_class = &rule;
  }
  return of_class;
}

}  // namespace acrf
