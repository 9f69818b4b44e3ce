#!/usr/bin/env bash
# Checks messages and exit statuses of the command line: command_line_test.sh PROGRAM.
set -uo pipefail
program="$(realpath "$1")"
formats="$(dirname "$(realpath "$0")")/../assets/manual/files.md"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
failures=0

# expect STATUS TEXT ARGUMENT…: the program exits with the status and prints the text on stdout or stderr.
expect() {
  local status="$1" text="$2" said found
  shift 2
  said="$("$program" "$@" 2>&1 </dev/null)"
  found=$?
  if [ "$found" -ne "$status" ] || [[ "$said" != *"$text"* ]]; then
    echo "FAILED: attnscope $*: status $found, expected $status; \"$text\" expected in:"
    echo "$said"
    failures=$((failures + 1))
  fi
}

# ---- unknown words
expect 2 "attnscope: trian: no such command, file or folder; did you mean train?" trian
expect 2 "attnscope: qwertyuiop: no such command, file or folder" qwertyuiop
expect 2 "unexpected: one two" train --out "$folder/run" one two
expect 2 "unexpected: --runn" cost --runn "$folder/run"

expect 2 "unexpected: --foo" train --foo
expect 2 "did you mean: model.from, model.norm, model.cell" train --out "$folder/run" --set model.foo=3
expect 2 "did you mean: model.d_model," train --out "$folder/run" --set d_modle=3

# ---- numbers
expect 2 "--steps: 0 is not a whole number of at least 1" train --out "$folder/run" --steps 0
expect 2 "--steps: abc is not a whole number of at least 1" train --out "$folder/run" --steps abc
expect 2 "--beam" translate --run "$folder/run" --beam 0

# ---- files
expect 2 "a picture must end in .png or .svg" screenshot --source a --out "$folder/a.jpg"
expect 1 "$folder/none" translate --run "$folder/none"
expect 1 "no such file" train --corpus "$folder/none.tsv" --out "$folder/run"
[ ! -e "$folder/run" ] || { echo "FAILED: a training that failed left its folder"; failures=$((failures + 1)); }

expect 1 "$folder/none does not exist" attend --run "$folder/none" --source a
expect 1 "/proc/report: No such file or directory" report --run "$(dirname "$(realpath "$0")")/../assets/english-french" --out /proc/report

# ---- attend prints the heads that are named, or says that there are none
run="$(dirname "$(realpath "$0")")/../assets/english-french"
expect 2 "encoder has no layer 9; allowed: 1 to 2" attend --run "$run" --source "How are you?" --part encoder --layer 9
[ "$("$program" attend --run "$run" --source "How are you?" --part encoder --layer 2 --head 2 | grep -o '"weights"' | wc -l)" -eq 1 ] ||
  { echo "FAILED: attend --head prints other heads"; failures=$((failures + 1)); }

# ---- explain refuses wrong words and indices before it prints anything, and names the allowed ones
expect 2 "--token: 99 is not an index of the output, which has 19 tokens; allowed: 0 to 18" \
  explain --run "$run" --attribution --token 99
for option in "--at zebra" "--exchange zebra,street" "--exchange animal" "--score it,zebra"; do
  # shellcheck disable=SC2086
  [ -z "$("$program" explain --run "$run" $option 2>"$folder/said")" ] && grep -q "^attnscope: ${option%% *}: " "$folder/said" ||
    { echo "FAILED: attnscope explain $option"; failures=$((failures + 1)); }
done
expect 0 "leave-one-out" explain --run "$run" --attribution
expect 0 "residual stream before layer 2" explain --run "$run" --at it
expect 0 "weights on animal and street swapped in layer 2" explain --run "$run" --exchange animal,street
printf '%s\t%s\n' "The animal didn't cross the street because it was too tired." \
  "The animal didn't cross the street because it was too wide." >"$folder/pairs.tsv"
expect 0 "is at least 0.5 nats for the clean sentence and at most −0.5 nats" explain --run "$run" --pairs "$folder/pairs.tsv"
expect 0 "is at least 0.5 nats for the clean sentence" explain --run "$run" --between il,le

# ---- a folder with the name of a built-in corpus is not used
mkdir "$folder/copy"
(cd "$folder" && "$program" train --corpus copy --out "$folder/copied" --steps 1 --threads 1 --set model.d_model=16 \
  --set tokenizer.vocab_size=64 --quiet) || { echo "FAILED: the folder copy/ was read"; failures=$((failures + 1)); }

# ---- every configuration field of a run is described
for key in $(grep -oh '"[a-z_]*":' "$folder/copied/metrics.jsonl" "$folder/copied/corpus.json" | tr -d '":' | sort -u); do
  grep -q "^|.*\`$key\`.* |" "$formats" || { echo "FAILED: $key is not described in assets/manual/files.md"; failures=$((failures + 1)); }
done

# ---- help and lists
expect 0 "--set KEY=VALUE ..." train --help
expect 0 "Continue the lines of stdin with a language model" generate --help
expect 0 "relative changes per step" tensors --help
expect 0 "required, except with --lesson" screenshot --help
expect 2 "--source or --lesson is required" screenshot --out "$folder/a.png"
expect 0 "model.d_model = 128" fields
expect 0 '"key":"model.d_model"' fields --json
expect 0 "bentrevett" presets
expect 0 '"name":"copy"' corpora --json

# ---- the cache: a small corpus is not stored there
mkdir "$folder/cache"
export XDG_CACHE_HOME="$folder/cache"
expect 0 "0.0 MB in $folder/cache/attnscope" cache
expect 2 "requires --prune" cache --unused 3
mkdir "$folder/cache/attnscope"
printf 'damaged' >"$folder/cache/attnscope/tokens-1.bin"
expect 0 "(incomplete)" cache
expect 0 "removed from" cache --prune --unused 1
[ -f "$folder/cache/attnscope/tokens-1.bin" ] || { echo "FAILED: it was used today"; failures=$((failures + 1)); }
expect 0 "removed from" cache --prune
[ ! -f "$folder/cache/attnscope/tokens-1.bin" ] || { echo "FAILED: it is still there"; failures=$((failures + 1)); }

# ---- the benchmark's baseline process performs as many steps as each line says
[ "$(printf '1\n2\n' | "$program" bench --peer 2 --threads 1 | grep -cE '^[0-9.]+$')" -eq 2 ] ||
  { echo "FAILED: two updates of torch::nn"; failures=$((failures + 1)); }

# ---- a full disk
for arguments in "--help" "--version" "fields" "presets --json"; do
  # shellcheck disable=SC2086
  "$program" $arguments >/dev/full 2>"$folder/said"
  if [ $? -ne 1 ] || ! grep -q "^attnscope: .*No space left on device" "$folder/said"; then
    echo "FAILED: attnscope $arguments >/dev/full"
    failures=$((failures + 1))
  fi
done
[ "$failures" -eq 0 ]
