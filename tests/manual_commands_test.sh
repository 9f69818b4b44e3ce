#!/usr/bin/env bash
# Runs every command of the manual that is marked as runnable (```sh run): manual_commands_test.sh PROGRAM FOLDER. The
# blocks of one page run in one empty folder, one after another.
set -uo pipefail
PATH="$(dirname "$(realpath "$1")"):$PATH"
export PATH
manual="$(realpath "$2")"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
export HOME="$folder/home" XDG_CONFIG_HOME="$folder/home/config" XDG_DATA_HOME="$folder/home/data"
mkdir -p "$HOME"
blocks=0 failures=0

# blocks_of PAGE: its runnable blocks, each ended by a line with a form feed
blocks_of() { awk '/^```sh run$/ { inside = 1; next } /^```$/ && inside { inside = 0; print "\f"; next } inside' "$1"; }

for page in "$manual"/*.md; do
  name="$(basename "$page" .md)"
  mkdir "$folder/$name"
  while IFS= read -r -d $'\f' block; do
    [ -n "${block//[[:space:]]/}" ] || continue
    blocks=$((blocks + 1))
    if ! said="$(cd "$folder/$name" && bash -euo pipefail -c "$block" 2>&1 </dev/null)"; then
      failures=$((failures + 1))
      printf 'FAILED: %s\n%s\n%s\n' "$name.md" "$block" "$said"
    fi
  done < <(blocks_of "$page")
done
echo "$blocks runnable blocks, $failures failures"
[ "$failures" -eq 0 ] && [ "$blocks" -ge 20 ]
