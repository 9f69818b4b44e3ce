#include "completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <type_traits>
#include <variant>
#include <vector>

#include "corpus/corpus.h"
#include "plain/config.h"
#include "plain/presets.h"

namespace attnscope {
namespace {

// What an option, or the word that stands for itself, can be followed by.
struct Values {
  std::vector<std::string> words;
  bool files = false;
  bool folders = false;
  bool fields = false;  // KEY=VALUE of the configuration
};

struct Argument {
  std::vector<std::string> names;  // "-q", "--quiet"; of a positional none
  std::string help;
  bool takes_value = false;
  bool repeats = false;
  std::string form;  // what the help calls its value: "FILE|NAME"
  Values values;
};

struct Command {
  std::vector<std::string> names;  // with its aliases; of the program itself none
  std::string help;
  std::vector<Argument> arguments;
};

struct FieldChoices {
  std::string key;
  std::vector<std::string> choices;  // none: any text or number
};

template <typename Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

std::vector<FieldChoices> field_choices() {
  std::vector<FieldChoices> fields;
  for (const ConfigField& field : config_fields()) {
    FieldChoices& added = fields.emplace_back();
    added.key = field.key;
    Config config;
    if (std::holds_alternative<bool*>(field.value(config))) added.choices = {"true", "false"};
    for (const std::string_view choice : field.limits.choices) added.choices.emplace_back(choice);
  }
  return fields;
}

// What CLI::IsMember says of itself: "{dark,light}".
std::vector<std::string> members(const std::string& type) {
  const std::size_t begin = type.find('{');
  const std::size_t end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

// By the form that the option's declaration gives its value.
Values values_of(const CLI::Option& option, const std::string& form) {
  Values values;
  values.words = members(option.get_type_name());
  if (option.check_lname("preset")) values.words = names_of(presets());
  if (form == "FILE|NAME") values.words = names_of(built_in_corpora());
  values.fields = form == "KEY=VALUE";
  values.files = form.find("FILE") != std::string::npos;
  values.folders = form == "RUN" || option.get_name() == "FOLDER" || form == "FOLDER";
  return values;
}

Argument argument_of(const CLI::Option& option) {
  Argument argument;
  for (const std::string& name : option.get_snames()) argument.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) argument.names.push_back("--" + name);
  argument.help = option.get_description();
  argument.takes_value = option.get_items_expected_max() != 0;
  argument.repeats = option.get_expected_max() > 1;
  const std::string type = option.get_type_name();
  argument.form = type.substr(0, type.find(':'));
  argument.values = values_of(option, argument.form);
  return argument;
}

Command command_of(const CLI::App& app) {
  Command command;
  if (app.get_parent() != nullptr) {
    command.names = {app.get_name()};
    for (const std::string& alias : app.get_aliases()) command.names.push_back(alias);
  }
  command.help = app.get_description();
  for (const CLI::Option* option : app.get_options({})) {
    command.arguments.push_back(argument_of(*option));
    Argument& added = command.arguments.back();
    // One declared as both, "path,--run", is an option and a word of its own.
    if (!added.names.empty() && option->get_positional()) {
      Argument word = added;
      word.names.clear();
      command.arguments.push_back(word);
    }
  }
  return command;
}

// The program itself, then its commands.
std::vector<Command> commands_of(const CLI::App& app) {
  std::vector<Command> commands = {command_of(app)};
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command_of(*sub));
  return commands;
}

std::vector<std::string> command_names(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.insert(names.end(), command.names.begin(), command.names.end());
  return names;
}

// 'text', as bash and zsh read it.
std::string shell_word(const std::string& text) {
  return "'" + CLI::detail::find_and_replace(text, "'", "'\\''") + "'";
}

// ---- bash

constexpr std::string_view bash_frame = R"(# Completion for bash, made by "attnscope completion bash".
_attnscope() {{
  COMPREPLY=()
  local words="" kinds="" typed i
  local -a line=("")  # the words as the program gets them: readline cuts at = and :
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if ((i > 0)) && [[ ${{COMP_WORDS[i]}} == [=:] || ${{line[-1]}} == *[=:] ]]; then
      line[-1]+=${{COMP_WORDS[i]}}
    else
      line+=("${{COMP_WORDS[i]}}")
    fi
  done
  typed=${{line[-1]}}
  local option=${{line[-2]}} command=""
  for i in "${{line[@]:2:${{#line[@]}}-3}}"; do
    case $i in {commands}) command=$i; break ;; esac
  done
  local uncut=$typed  # its part up to the last = stands on the line already
  if [[ $typed == --*=* ]]; then option=${{typed%%=*}} typed=${{typed#*=}}; fi
  case $command/$option in
{values}    *)
      [[ $typed == "$uncut" ]] || return  # an option that there is not
      case $command in
{options}      esac
      ;;
  esac
  if [[ $kinds == *fields* ]]; then
    case $typed in
{fields}      *=*) ;;
      *) words='{keys}' && compopt -o nospace ;;
    esac
  fi
  [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$typed")
  if [[ $kinds == *files* ]]; then
    compopt -o filenames
    mapfile -t -O ${{#COMPREPLY[@]}} COMPREPLY < <(compgen -f -- "$typed")
  elif [[ $kinds == *folders* ]]; then
    compopt -o filenames
    mapfile -t -O ${{#COMPREPLY[@]}} COMPREPLY < <(compgen -d -- "$typed")
  fi
  if [[ $uncut == *=* && $COMP_WORDBREAKS == *=* ]]; then
    local standing=${{typed%"${{typed##*=}}"}}
    COMPREPLY=("${{COMPREPLY[@]#"$standing"}}")
  fi
}}
complete -F _attnscope attnscope
)";

// The assignments that say what is completed: "words='a b' kinds='files'".
std::string bash_values(const Values& values) {
  std::vector<std::string> kinds;
  if (values.files) kinds.emplace_back("files");
  if (values.folders) kinds.emplace_back("folders");
  if (values.fields) kinds.emplace_back("fields");
  return fmt::format("words={} kinds={}", shell_word(fmt::format("{}", fmt::join(values.words, " "))),
                     shell_word(fmt::format("{}", fmt::join(kinds, " "))));
}

// "train|t/--out|…": the patterns that a case of the script takes for an option of the command.
std::string bash_pattern(const Command& command, const Argument& argument) {
  std::vector<std::string> patterns;
  const std::vector<std::string> none = {""};
  for (const std::string& name : command.names.empty() ? none : command.names)
    for (const std::string& option : argument.names) patterns.push_back(name + "/" + option);
  return fmt::format("{}", fmt::join(patterns, "|"));
}

std::string bash_options(const Command& command, const std::vector<Command>& commands) {
  std::vector<std::string> words;
  Values alone;
  if (command.names.empty()) words = command_names(commands);
  for (const Argument& argument : command.arguments) {
    words.insert(words.end(), argument.names.begin(), argument.names.end());
    if (!argument.names.empty()) continue;
    alone.files |= argument.values.files;
    alone.folders |= argument.values.folders;
    words.insert(words.end(), argument.values.words.begin(), argument.values.words.end());
  }
  alone.words = words;
  const std::string pattern = command.names.empty() ? "''" : fmt::format("{}", fmt::join(command.names, "|"));
  return fmt::format("        {}) {} ;;\n", pattern, bash_values(alone));
}

std::string bash_script(const std::vector<Command>& commands) {
  std::string values;
  std::string options;
  std::string fields;
  for (const Command& command : commands) {
    for (const Argument& argument : command.arguments) {
      if (argument.names.empty() || !argument.takes_value) continue;
      values += fmt::format("    {}) {} ;;\n", bash_pattern(command, argument), bash_values(argument.values));
    }
    options += bash_options(command, commands);
  }
  std::string keys;
  for (const FieldChoices& field : field_choices()) {
    keys += (keys.empty() ? "" : " ") + field.key + "=";
    if (field.choices.empty()) continue;
    std::vector<std::string> words;
    for (const std::string& choice : field.choices) words.push_back(field.key + "=" + choice);
    fields += fmt::format("      {}=*) words='{}' ;;\n", field.key, fmt::join(words, " "));
  }
  return fmt::format(bash_frame, fmt::arg("commands", fmt::join(command_names(commands), "|")),
                     fmt::arg("values", values), fmt::arg("options", options), fmt::arg("fields", fields),
                     fmt::arg("keys", keys));
}

// ---- zsh

constexpr std::string_view zsh_frame = R"(#compdef attnscope
# Completion for zsh, made by "attnscope completion zsh".
_attnscope_field() {{
  local -A choices=({choices})
  if compset -P 1 '(#b)([^=]#)='; then
    compadd -- ${{=choices[$match[1]]}}
  else
    compadd -q -S = -- {keys}
  fi
}}
_attnscope() {{
  setopt localoptions extendedglob
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C {program} \
    '1: :->command' '*:: :->argument' && return
  case $state in
    command)
      local -a commands=({commands})
      _describe command commands
      _files
      ;;
    argument)
      case $words[1] in
{arguments}      esac
      ;;
  esac
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _attnscope "$@"; else compdef _attnscope attnscope; fi
)";

// In a specification of _arguments brackets end the description, and colons a part.
std::string zsh_plain(std::string text) {
  for (const char* special : {"\\", "[", "]", ":"})
    text = CLI::detail::find_and_replace(text, special, std::string("\\") + special);
  return text;
}

std::string zsh_action(const Values& values) {
  if (values.fields) return "_attnscope_field";
  const std::string words = fmt::format("{}", fmt::join(values.words, " "));
  if (values.files) return words.empty() ? "_files" : fmt::format("{{compadd -- {}; _files}}", words);
  if (values.folders) return "_files -/";
  return words.empty() ? "" : "(" + words + ")";
}

// One specification a name, as _arguments takes them.
std::string zsh_argument(const Argument& argument) {
  const std::string form = argument.form.empty() ? "value" : zsh_plain(argument.form);
  const std::string value = fmt::format(":{}:{}", form, zsh_action(argument.values));
  if (argument.names.empty()) return " \\\n          " + shell_word("*" + value);
  std::string all;
  for (const std::string& name : argument.names) {
    const bool equals = argument.takes_value && name.starts_with("--");
    all +=
        " \\\n          " + shell_word(fmt::format("{}{}{}[{}]{}", argument.repeats ? "*" : "", name, equals ? "=" : "",
                                                   zsh_plain(argument.help), argument.takes_value ? value : ""));
  }
  return all;
}

std::string zsh_script(const std::vector<Command>& commands) {
  std::string program;
  std::string named;
  std::string arguments;
  for (const Command& command : commands) {
    std::string all;
    for (const Argument& argument : command.arguments) {
      if (!command.names.empty() || !argument.names.empty()) all += zsh_argument(argument);
    }
    if (command.names.empty()) {
      program = all;
      continue;
    }
    for (const std::string& name : command.names) named += " " + shell_word(name + ":" + zsh_plain(command.help));
    arguments += fmt::format("        {}) _arguments{} ;;\n", fmt::join(command.names, "|"), all);
  }
  std::string choices;
  std::string keys;
  for (const FieldChoices& field : field_choices()) {
    keys += " " + field.key;
    if (!field.choices.empty()) choices += fmt::format(" {} '{}'", field.key, fmt::join(field.choices, " "));
  }
  return fmt::format(zsh_frame, fmt::arg("choices", choices), fmt::arg("keys", keys), fmt::arg("program", program),
                     fmt::arg("commands", named), fmt::arg("arguments", arguments));
}

// ---- fish

// 'text', as fish reads it.
std::string fish_word(const std::string& text) {
  return "'" + CLI::detail::find_and_replace(CLI::detail::find_and_replace(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_values(const Values& values) {
  std::vector<std::string> words = values.words;
  if (values.fields) {
    for (const FieldChoices& field : field_choices()) {
      words.push_back(field.key + "=");
      for (const std::string& choice : field.choices) words.push_back(field.key + "=" + choice);
    }
  }
  if (values.folders && !values.files) words.push_back("(__fish_complete_directories)");
  std::string text = values.files ? " -F" : " -f";
  if (!words.empty()) text += fmt::format(" -a \"{}\"", fmt::join(words, " "));
  return text;
}

std::string fish_argument(const std::string& condition, const Argument& argument) {
  std::string text = fmt::format("complete -c attnscope -n {}", fish_word(condition));
  for (const std::string& name : argument.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (argument.takes_value) text += (argument.names.empty() ? "" : " -r") + fish_values(argument.values);
  return text + " -d " + fish_word(argument.names.empty() ? argument.form : argument.help) + "\n";
}

std::string fish_script(const std::vector<Command>& commands) {
  const std::string all = fmt::format("{}", fmt::join(command_names(commands), " "));
  const std::string none = "not __fish_seen_subcommand_from " + all;
  std::string script = "# Completion for fish, made by \"attnscope completion fish\".\ncomplete -c attnscope -f\n";
  for (const Command& command : commands) {
    for (const std::string& name : command.names)
      script +=
          fmt::format("complete -c attnscope -n {} -a {} -d {}\n", fish_word(none), name, fish_word(command.help));
    const std::string seen = fmt::format("__fish_seen_subcommand_from {}", fmt::join(command.names, " "));
    for (const Argument& argument : command.arguments)
      script += fish_argument(command.names.empty() ? none : seen, argument);
  }
  return script;
}

}  // namespace

std::string completion_script(const CLI::App& app, std::string_view shell) {
  const std::vector<Command> commands = commands_of(app);
  if (shell == "bash") return bash_script(commands);
  return shell == "zsh" ? zsh_script(commands) : fish_script(commands);
}

}  // namespace attnscope
