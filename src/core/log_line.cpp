// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/log_line.h"

#include <algorithm>

#include "core/kernel_log.h"
#include "core/log_time.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::size_t kLongestHeader = 160;
constexpr int kMostHeaderWords = 9;

std::string_view first_line(std::string_view text) {
  while (!text.empty() && text.front() == '\0') text.remove_prefix(1);
  take_prefix(text, "\xef\xbb\xbf");
  text = text.substr(0, text.find('\n'));
  while (!text.empty() && (text.back() == '\r' || text.back() == '\0')) text.remove_suffix(1);
  return text;
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

// "<6>": the priority; its upper bits say who wrote the record.
void take_priority(LogLine& line) {
  auto rest = line.message;
  if (!take_prefix(rest, "<")) return;
  const auto priority = take_unsigned(rest);
  if (!priority || !take_prefix(rest, ">")) return;
  if (*priority >= 8) line.writer = Writer::kUser;
  line.message = rest;
}

// "kern", "local0": takes the name of a facility off the text, without its number.
std::optional<std::string_view> take_facility(std::string_view& text) {
  constexpr std::string_view kFacilities[] = {"kern",   "user",  "mail",    "daemon", "auth",
                                              "syslog", "lpr",   "news",    "uucp",   "cron",
                                              "ftp",    "local", "authpriv"};
  std::size_t end = 0;
  while (end < text.size() && text[end] >= 'a' && text[end] <= 'z') ++end;
  const auto facility = text.substr(0, end);
  if (std::find(std::begin(kFacilities), std::end(kFacilities), facility) == std::end(kFacilities))
    return std::nullopt;
  text.remove_prefix(end);
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') text.remove_prefix(1);
  return facility;
}

// "kern  :warn  : ", as dmesg --decode writes it.
void take_decoded_priority(LogLine& line) {
  auto rest = line.message;
  const auto facility = take_facility(rest);
  if (!facility) return;
  skip_blanks(rest);
  if (!take_prefix(rest, ":")) return;
  std::size_t end = 0;
  while (end < rest.size() && rest[end] >= 'a' && rest[end] <= 'z') ++end;
  rest.remove_prefix(end);
  skip_blanks(rest);
  if (!take_prefix(rest, ":")) return;
  skip_blanks(rest);
  if (*facility != "kern") line.writer = Writer::kUser;
  line.message = rest;
}

// "user.notice", a word in the headers of some loggers.
bool is_users_facility(std::string_view word) {
  const auto facility = take_facility(word);
  return facility && *facility != "kern" && starts_with(word, ".");
}

// What stands between the brackets that `text` opens with; they are taken off.
std::optional<std::string_view> take_brackets(std::string_view& text) {
  if (text.empty() || text.front() != '[') return std::nullopt;
  const auto close = text.substr(0, 50).find(']');
  if (close == std::string_view::npos) return std::nullopt;
  const auto inside = text.substr(1, close - 1);
  text.remove_prefix(close + 1);
  skip_blanks(text);
  return inside;
}

// "[ T123]", behind a time, says who printed it.
void take_caller(LogLine& line) {
  auto rest = line.message;
  auto caller = trim(take_brackets(rest).value_or(""));
  if ((take_prefix(caller, "T") || take_prefix(caller, "C")) && parse_unsigned(caller))
    line.message = rest;
}

// "[  123.456]", "[  +0.000001]", "[Mon Oct 29 12:07:39 2018]", "[Oct29 12:07]", and each of them
// with the time since the line before, "[  123.456 <    0.000001>]".
bool take_bracket_time(LogLine& line) {
  auto rest = line.message;
  auto inside = take_brackets(rest);
  if (!inside) return false;
  if (const auto step = inside->find(" <"); step != std::string_view::npos)
    inside = inside->substr(0, step);
  if (const auto seconds = read_seconds_us(*inside)) {
    line.time_us = seconds;
    line.time_is_step = trim(*inside).front() == '+';
  } else if (const auto time = read_time_us(*inside)) {
    line.time_us = time;
  } else if (const auto minute = read_minute_us(*inside)) {
    line.time_us = minute;
  } else {
    return false;
  }
  line.message = rest;
  take_caller(line);
  return true;
}

// A program's name as syslog writes it: "sshd", "systemd-networkd[5398]".
bool is_tag(std::string_view word) {
  const auto bracket = word.find('[');
  if (bracket != std::string_view::npos && word.back() != ']') return false;
  const auto name = word.substr(0, bracket);
  return !name.empty() && name.find_first_of(":()=,'\"") == std::string_view::npos;
}

struct Header {
  std::string_view tag;         // without the colon; empty: none
  std::size_t length = 0;       // through the tag and the blanks after it
  std::size_t time_end = 0;     // end of the word with the time; 0: none
  int words_after_time = 0;     // the tag among them
  bool time_is_dmesgs = false;  // "…,285060+00:00": no host follows
  bool names_user = false;      // "user.notice": another facility than the kernel's
  int words = 0;
};

// Reads words up to the first that ends with a colon: in a header that is the tag.
Header read_header(std::string_view text) {
  Header header;
  const auto end = std::min(text.size(), kLongestHeader);
  std::size_t at = 0;
  while (at < end && header.words < kMostHeaderWords) {
    const auto word_end = std::min(text.find(' ', at), text.size());
    const auto word = text.substr(at, word_end - at);
    if (!word.empty()) {
      ++header.words;
      if (header.time_end) ++header.words_after_time;
      if (word.back() == ':') {
        header.tag = word.substr(0, word.size() - 1);
        header.length = word_end;
        return header;
      }
      if (is_users_facility(word)) header.names_user = true;
      if (!header.time_end && has_clock_time(word)) {
        header.time_end = word_end;
        header.time_is_dmesgs = word.find(',') != std::string_view::npos;
      }
    }
    at = word_end + 1;
  }
  return header;
}

// "- " or "[id name="value"] ": what the newer syslog format has before the message.
bool take_structured_data(std::string_view& text) {
  if (take_prefix(text, "- ")) return true;
  const auto end = starts_with(text, "[") ? text.find("] ") : std::string_view::npos;
  if (end == std::string_view::npos) return false;
  text.remove_prefix(end + 2);
  return true;
}

// "1 2025-01-21T04:41:44Z host kernel - - - ", the newer syslog format.
bool take_structured_header(LogLine& line) {
  if (!starts_with(line.message, "1 ")) return false;
  auto rest = line.message;
  std::string_view words[4];
  for (auto& word : words) {
    const auto end = rest.find(' ');
    if (end == std::string_view::npos) return false;
    word = rest.substr(0, end);
    rest.remove_prefix(end + 1);
  }
  if (!has_clock_time(words[1]) || words[3] != "kernel" || !take_prefix(rest, "- - ") ||
      !take_structured_data(rest))
    return false;
  line.time_us = read_time_us(words[1]);
  line.message = rest;
  return true;
}

// "1794900788.123456 host kernel: ", seconds since 1970.
bool take_unix_header(LogLine& line) {
  const auto text = line.message;
  const auto end = text.find(' ');
  if (end == std::string_view::npos || end < 10 || text[0] < '0' || text[0] > '9') return false;
  const auto time = read_seconds_us(text.substr(0, end));
  if (!time) return false;
  const auto header = read_header(text.substr(end));
  if (header.words != 2 || header.tag.empty()) return false;
  line.time_us = time;
  if (header.tag != "kernel") line.writer = Writer::kDaemon;
  line.message = text.substr(end + header.length);
  skip_blanks(line.message);
  return true;
}

// "n12 kernel: ", but not "my kernel: ": without a time, only a word with a number in it is a host.
bool names_host(std::string_view text) {
  return text.substr(0, text.find(' ')).find_first_of("0123456789") != std::string_view::npos;
}

// "Dec  2 10:43:35 host kernel: ", in any language, with or without host or time. `has_time`: a
// time was before this.
void take_header(LogLine& line, bool has_time) {
  const auto text = line.message;
  const auto header = read_header(text);
  if (header.names_user && header.time_end) line.writer = Writer::kUser;
  if (header.time_end) line.time_us = read_time_us(text.substr(0, header.time_end));
  const auto after = [&](std::size_t at) {
    auto rest = text.substr(std::min(at, text.size()));
    skip_blanks(rest);
    return rest;
  };
  if (header.tag == "kernel" && (header.time_end || header.words == 1 ||
                                 (header.words == 2 && (has_time || names_host(text))))) {
    line.message = after(header.length);
  } else if (header.time_end && header.words_after_time >= 2 && !header.time_is_dmesgs &&
             is_tag(header.tag)) {
    line.writer = Writer::kDaemon;
    line.daemon = header.tag.substr(0, header.tag.find('['));
    line.message = after(header.length);
  } else if (header.time_end) {
    line.message = after(header.time_end);
  }
}

// What syslog daemons make of the same message many times.
void take_repeats(LogLine& line) {
  auto rest = line.message;
  constexpr std::string_view kLast = "last message repeated ";
  // Such a line has no tag: behind a time, its first word is the host.
  if (line.time_us && !starts_with(rest, kLast))
    if (const auto host = rest.substr(rest.find(' ') + 1); starts_with(host, kLast)) rest = host;
  if (take_prefix(rest, kLast)) {
    line.repeats_last = true;
    const auto count = take_unsigned(rest);
    line.repeats = count ? static_cast<int>(std::min<std::uint64_t>(*count, 1'000'000)) : 1;
    return;
  }
  if (!take_prefix(rest, "message repeated ")) return;
  const auto count = take_unsigned(rest);
  if (!count || !take_prefix(rest, " times: [")) return;
  if (!rest.empty() && rest.back() == ']') rest.remove_suffix(1);
  line.repeats = static_cast<int>(std::min<std::uint64_t>(*count, 1'000'000));
  line.message = trim(rest);
  const auto time = line.time_us;
  take_bracket_time(line);
  if (time) line.time_us = time;
}

}  // namespace

LogLine parse_log_line(std::string_view text) {
  LogLine line;
  line.message = first_line(text);
  if (line.message.empty()) return line;
  if (line.message[0] >= '0' && line.message[0] <= '9') {
    if (const auto record = parse_kernel_record(line.message)) {
      line.writer = record->from_kernel ? Writer::kKernel : Writer::kUser;
      line.message = record->message;
      line.time_us =
          static_cast<std::int64_t>(std::min<std::uint64_t>(record->uptime_us, INT64_MAX));
      return line;
    }
  }
  line.is_field = starts_with(line.message, " SUBSYSTEM=") || starts_with(line.message, " DEVICE=");
  line.is_indented = line.message[0] == ' ' || line.message[0] == '\t';
  skip_blanks(line.message);
  take_priority(line);
  take_decoded_priority(line);
  if (take_bracket_time(line)) {
    const auto header = read_header(line.message.substr(0, 80));
    if (header.tag == "kernel" && header.words <= 2) take_header(line, true);
  } else {
    if (!take_structured_header(line) && !take_unix_header(line)) take_header(line, false);
    if (line.writer == Writer::kKernel && !take_bracket_time(line)) take_caller(line);
  }
  take_repeats(line);
  return line;
}

std::string without_colours(std::string_view text) {
  constexpr std::string_view kStart = "\x1b[";
  std::string plain;
  for (auto at = text.find(kStart); at != std::string_view::npos; at = text.find(kStart)) {
    plain += text.substr(0, at);
    text.remove_prefix(at + kStart.size());
    const auto end = text.find_first_not_of("0123456789;");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return plain += text;
}

}  // namespace acrf
