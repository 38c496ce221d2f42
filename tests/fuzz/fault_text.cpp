// SPDX-License-Identifier: GPL-2.0-or-later
// What reads logs, and the catalog it reads them by. Lines may hold anything; no byte of them makes
// a program's word the kernel's, or an unknown code a reason to act.
#include "core/catalog.h"
#include "core/fault_history.h"
#include "core/incident.h"
#include "core/kernel_log.h"
#include "core/line_reader.h"
#include "core/node_verdict.h"
#include "core/nvlink_decode.h"
#include "core/text.h"
#include "fuzz/targets.h"

namespace acrf::fuzz {
namespace {

void check_verdict(const LogLine& line, const LineVerdict& found) {
  const auto& verdict = found.verdict;
  require(!verdict.fault_class.empty());
  require(!health_state(found.verdict, found.xid).empty());
  if (line.writer != Writer::kKernel) require(!evacuates(verdict));
  if (found.xid && !Catalog::builtin().find_xid(*found.xid)) require(!evacuates(verdict));
  if (found.sxid && !found.known) require(!evacuates(verdict));
}

// A record's message is a part of its text, and one that a user wrote is known as such.
void check_record(std::string_view text) {
  const auto record = parse_kernel_record(text);
  if (!record) return;
  require(record->message.find('\n') == std::string_view::npos);
  require(record->message.empty() ||
          (record->message.data() >= text.data() && record->message.end() <= text.end()));
  std::string_view rest = text;
  require(record->from_kernel == (take_unsigned(rest).value_or(8) < 8));
}

}  // namespace

void feed_kernel_log(std::string_view text) {
  LineReader reader(Catalog::builtin());
  FaultHistory history;
  IncidentTracker tracker("n1", 8);
  for (const auto raw : split(text, '\n')) {
    const auto line = parse_log_line(raw);
    auto reading = reader.read(line);
    check_verdict(line, reading.verdict);
    if (!reading.event) continue;
    history.judge(*reading.event);
    (void)tracker.observe(*reading.event);
    require(tracker.incidents().size() <= 8);
  }
  (void)parse_log_line(text);
  check_record(text);
}

void feed_catalog(std::string_view text) {
  const auto whole = builtin_catalog_text();
  for (auto table : {&CatalogText::xid, &CatalogText::sxid, &CatalogText::message,
                     &CatalogText::nvlink_bits, &CatalogText::nvlink5, &CatalogText::recovery}) {
    CatalogText one{"# acrf-catalog xid 1",     "# acrf-catalog sxid 1",
                    "# acrf-catalog message 1", "# acrf-catalog nvlink_bits 1",
                    "# acrf-catalog nvlink5 1", "# acrf-catalog recovery 1"};
    one.*table = text;
    const auto catalog = Catalog::parse(one);
    if (!catalog) {
      require(starts_with(catalog.error().sentence, "catalog "));
      continue;
    }
    for (const auto line : split(whole.message.substr(0, 2000), '\n'))
      (void)classify_line(line, *catalog);
  }
}

void feed_nvlink(std::string_view text) {
  const auto& catalog = Catalog::builtin();
  (void)decode_nvlink(catalog, text);
  for (int xid = 143; xid <= 151; ++xid) {
    const auto decoded = decode_nvlink5(catalog, xid, text);
    if (xid < 144 || xid > 150) require(!decoded);
  }
}

}  // namespace acrf::fuzz
