// SPDX-License-Identifier: GPL-2.0-or-later
// What is known about faults, as data: tables of codes, register bits and message patterns, each
// row with its source. The tables of src/core/catalog are built in; a site changes rows by Fault
// lines. A code that is in no table is watched and never acted on.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/catalog_text.h"
#include "core/fault.h"
#include "core/fault_rule.h"
#include "core/message_pattern.h"
#include "core/result.h"

namespace acrf {

struct CodeRow {
  Verdict verdict;
  int rank = 0;  // in a burst the highest is the root
  std::string name, source, note;
};

struct MessageRow {
  MessagePattern pattern;
  std::string pattern_text;
  Verdict verdict;
  int rank = 0;
  std::string source, note;
};

// A bit of one of the registers in the line of Xid 74.
struct NvlinkBit {
  int reg = 0;  // from 1
  int bit = 0;
  Action action = Action::kWatch;
  bool needs_repeat = false;  // the action is for links that show it more than twice
};

// What the registers in the lines of Xids 144-150 say.
struct Nvlink5Row {
  int xid = 0;
  std::string unit;
  std::uint32_t mask[2] = {};  // layouts of drivers before and since R575
  std::uint32_t bits[2] = {};
  std::optional<std::uint32_t> status;  // nothing: any
  Action action = Action::kWatch;
  Severity severity = Severity::kWarning;
  std::string suspect;  // "peer", "link", "cable", ...; empty: the GPU itself
};

struct RecoveryRow {
  int value = 0;
  Action action = Action::kWatch;
  Severity severity = Severity::kWarning;
  std::string text;  // as the driver prints it
};

class Catalog {
 public:
  // Errors name the table and the line.
  static Result<Catalog> parse(const CatalogText& text);

  // The built-in tables; with a site's Fault lines over them.
  static const Catalog& builtin();
  static Catalog with_rules(std::vector<FaultRule> rules);

  const std::string& version() const { return version_; }

  const CodeRow* find_xid(int code) const;
  const CodeRow* find_sxid(int code) const;
  const std::map<int, CodeRow>& xids() const { return xids_; }
  const std::map<int, CodeRow>& sxids() const { return sxids_; }
  const std::vector<MessageRow>& messages() const { return messages_; }
  const std::vector<NvlinkBit>& nvlink_bits() const { return nvlink_bits_; }
  const std::vector<Nvlink5Row>& nvlink5() const { return nvlink5_; }
  const std::vector<RecoveryRow>& recoveries() const { return recoveries_; }

  // The first row of the subject whose pattern fits the body, or nullptr.
  const MessageRow* find_message(std::string_view subject, std::string_view body) const;

  // The site's rule for a code, or else for the class; nullptr: none.
  const FaultRule* find_rule(std::optional<int> xid, std::optional<int> sxid,
                             std::string_view fault_class) const;

 private:
  using Row = std::vector<std::string_view>;
  Status read_table(std::string_view name, std::string_view text);
  Status add_row(std::string_view table, const Row& row);
  Status add_code(std::map<int, CodeRow>& codes, const Row& row);
  Status add_message(const Row& row);
  Status add_nvlink_bit(const Row& row);
  Status add_nvlink5(const Row& row);
  Status add_recovery(const Row& row);
  void index_messages();

  std::string version_;
  std::map<int, CodeRow> xids_, sxids_;
  std::vector<MessageRow> messages_;
  std::vector<std::string> subjects_;  // of messages_
  std::vector<NvlinkBit> nvlink_bits_;
  std::vector<Nvlink5Row> nvlink5_;
  std::vector<RecoveryRow> recoveries_;
  // Rows of a subject, and of the subject "kernel" by their first letter: most lines end here.
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_subject_;
  std::array<std::vector<std::size_t>, 256> by_letter_;
  std::vector<FaultRule> rules_;
};

}  // namespace acrf
