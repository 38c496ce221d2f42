// SPDX-License-Identifier: GPL-2.0-or-later
#include "completion.h"

#include <fmt/format.h>

#include <algorithm>

namespace acrf {
namespace {

void add_options(CLI::App& app, CompletionWords& words) {
  for (const auto* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // not for people
    const bool valued = option->get_items_expected_max() > 0;
    for (const auto& name : option->get_lnames()) {
      words.options.push_back("--" + name);
      if (valued) words.valued.push_back("--" + name);
    }
    for (const auto& name : option->get_snames())
      if (valued) words.valued.push_back("-" + name);
  }
}

// Groups of options are subcommands without a name.
void add(CLI::App& app, const std::string& path, const CompletionWords& above,
         CompletionTable& table) {
  auto words = above;
  words.subcommands.clear();
  add_options(app, words);
  std::vector<CLI::App*> below;
  for (auto* one : app.get_subcommands(std::function<bool(CLI::App*)>())) {
    if (one->get_name().empty()) {
      add_options(*one, words);
      continue;
    }
    words.subcommands.push_back(one->get_name());
    below.push_back(one);
  }
  table[path] = words;
  for (auto* one : below) {
    const bool takes = one->get_fallthrough();
    add(*one, path.empty() ? one->get_name() : path + " " + one->get_name(),
        takes ? words : CompletionWords(), table);
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Sets what can follow the subcommands that `place` has gathered.
std::string cases(const CompletionTable& table) {
  std::string text = "  case $place in\n";
  for (const auto& [path, words] : table)
    text +=
        fmt::format("    '{}')\n      below='{}'\n      flags='{}'\n      valued='{}' ;;\n", path,
                    joined(words.subcommands), joined(words.options), joined(words.valued));
  return text + "  esac\n";
}

std::string look_up(const CompletionTable& table) {
  return "_acrf_words() {\n" + cases(table) + "}\n";
}

}  // namespace

CompletionTable completion_table(CLI::App& app) {
  CompletionTable table;
  add(app, "", {}, table);
  for (auto& [path, words] : table)
    for (auto* list : {&words.options, &words.valued}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
  return table;
}

// A word after an option that takes a value is no subcommand; what follows such an option, and what
// is neither, the shell completes as a file.
std::string bash_completion(const CompletionTable& table) {
  return "# Completion for acrf in bash, written by 'acrf completion bash'.\n" + look_up(table) +
         R"(_acrf() {
  local place= below flags valued word i
  local current=${COMP_WORDS[COMP_CWORD]}
  _acrf_words
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ " $valued " == *" $word "* ]]; then
      ((++i == COMP_CWORD)) && return
    elif [[ $word && " $below " == *" $word "* ]]; then
      place=${place:+$place }$word
      _acrf_words
    fi
  done
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$below" -- "$current"))
  fi
}
complete -o default -F _acrf acrf
)";
}

std::string zsh_completion(const CompletionTable& table) {
  return "#compdef acrf\n# Completion for acrf in zsh, written by 'acrf completion zsh'.\n" +
         look_up(table) + R"(_acrf() {
  local place= below flags valued word i
  _acrf_words
  for ((i = 2; i < CURRENT; i++)); do
    word=${words[i]}
    if [[ " $valued " == *" $word "* ]]; then
      ((++i == CURRENT)) && { _files; return; }
    elif [[ -n $word && " $below " == *" $word "* ]]; then
      place="${place:+$place }$word"
      _acrf_words
    fi
  done
  if [[ ${words[CURRENT]} == -* ]]; then
    compadd -- ${=flags}
  elif [[ -n $below ]]; then
    compadd -- ${=below}
  else
    _files
  fi
}
_acrf "$@"
)";
}

}  // namespace acrf
