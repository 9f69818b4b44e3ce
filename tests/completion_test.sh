#!/usr/bin/env bash
# Tests shell completion: completion_test.sh PROGRAM. Bash's script is called as readline calls it; those of zsh and
# fish are parsed by these shells if installed.
set -uo pipefail
program="$(realpath "$1")"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir runs
touch pairs.tsv
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

for shell in bash zsh fish; do
  "$program" completion "$shell" >"completion.$shell" || fail "attnscope completion $shell"
  ! command -v "$shell" >/dev/null || "$shell" -n "completion.$shell" || fail "$shell cannot read its completion"
done
. ./completion.bash

compopt() { asked="$*"; }  # knows nothing outside readline

# complete_line WORD…: sets $offered to the completions of the last word. Readline also splits words at =.
complete_line() {
  asked=""
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
  _attnscope
  offered=" ${COMPREPLY[*]} "
}

# offers TEXT WORD…: TEXT is among the completions; offers_not: it is not.
offers() {
  local text="$1"
  shift
  complete_line "$@"
  [[ $offered == *" $text "* ]] || fail "$* offers$offered, not $text"
}
offers_not() {
  local text="$1"
  shift
  complete_line "$@"
  [[ $offered != *" $text "* ]] || fail "$* offers $text"
}

# ---- commands and options
offers train attnscope tr
offers translate attnscope tr
offers --version attnscope --v
offers pairs.tsv attnscope pa
offers --corpus attnscope train --co
offers_not --beam attnscope train --
offers --beam attnscope generate --run x --
offers runs attnscope runs r

# ---- values
offers tiny attnscope train --preset ""
offers_not --preset attnscope train --preset ""
offers copy attnscope train --corpus ""
offers pairs.tsv attnscope train --corpus p
offers runs attnscope translate --run ""
offers_not pairs.tsv attnscope translate --run ""
offers cpu attnscope train --device = c
offers test attnscope evaluate --run x --split t
offers fish attnscope completion f
offers --json attnscope train --resume --j
offers_not --out attnscope train --theme =
if [[ $("$program" screenshot --help) == *--workspace* ]]; then  # not in a build without the window
  offers positions attnscope screenshot --workspace pos
  offers inside attnscope screenshot --view in
fi

# ---- fields of the configuration
offers model.d_model= attnscope train --set model.d_m
[[ $asked == "-o nospace" ]] || fail "a blank is put behind model.d_model="
offers rms attnscope train --set model.norm_kind =
offers rms attnscope train --set model.norm_kind = r
offers_not layer attnscope train --set model.norm_kind = r
offers true attnscope train --out x --compare model.tied_embeddings = t
offers --steps attnscope train --set model.norm_kind = rms --st
complete_line attnscope train --set model.d_model = 1
[[ ${#COMPREPLY[@]} -eq 0 ]] || fail "a number is completed to$offered"

# ---- all fields and commands
for key in $("$program" fields --json | grep -o '"key":"[^"]*"' | cut -d'"' -f4); do
  offers "$key=" attnscope train --set "$key"
done
[ "$failures" -eq 0 ]
