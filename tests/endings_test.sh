#!/usr/bin/env bash
# However training ends, nothing is lost: endings_test.sh PROGRAM PART [KILLS [SEED]]. The parts:
#   killed    trains a small run without interruption, then again and again while it is killed (kill -9) at random moments
#             and resumed; losses, weights and moments must be the same byte for byte. KILLS: 15 by default
#   lockstep  the same for two runs in lockstep, killed three times
#   ended     ends it by signals, takes its stderr away, fills the disk, trains in one folder twice
set -euo pipefail
program="$1"
part="$2"
kills="${3:-15}"
RANDOM="${4:-$$}"
seed="${4:-$$}"

. "$(dirname "${BASH_SOURCE[0]}")/small_run.sh"
begin+=(--set training.kept_checkpoints=3)
attnscope=""
trap 'if [ -n "$attnscope" ]; then kill -9 "$attnscope" 2>/dev/null || true; fi; rm -rf "$folder"' EXIT
steps=400

# The data that two runs with the same steps have in common: everything except speed.
losses() { sed 's/,"tokens_per_second":[^,}]*//' "$1/metrics.jsonl"; }

if [ "$part" != ended ]; then
  started="$(date +%s%N)"
  "$program" train "${begin[@]}" --steps $steps --out "$folder/whole" 2>/dev/null
  whole_ms=$((($(date +%s%N) - started) / 1000000))
  [ "$(losses "$folder/whole" | wc -l)" -eq $steps ] || fail "the uninterrupted run has not $steps losses"
fi

if [ "$part" = killed ]; then

# ---- killed

# go_on OPTION…: trains in $folder/killed, from scratch or from its last state.
go_on() {
  if [ -e "$folder/killed/model.safetensors" ] || [ -e "$folder/killed/checkpoint.new/model.safetensors" ]; then
    "$@" "$program" train --resume --out "$folder/killed" >"$folder/said" 2>&1
  else
    "$@" "$program" train "${begin[@]}" --steps $steps --out "$folder/killed" >"$folder/said" 2>&1
  fi
}
compare() {
  cmp <(losses "$folder/whole") <(losses "$folder/killed") || fail "other losses after $killed kills"
  for file in model optimizer; do
    cmp "$folder/whole/$file.safetensors" "$folder/killed/$file.safetensors" || fail "another $file after $killed kills"
  done
  diff -r "$folder/whole/checkpoints" "$folder/killed/checkpoints" || fail "other kept weights after $killed kills"
  [ "$(ls "$folder/whole")" = "$(ls "$folder/killed")" ] || fail "other files: $(ls "$folder/killed")"
}

killed=0
runs=0
while [ "$killed" -lt "$kills" ]; do
  status=0
  # Covers the time from before the folder exists to after the last step.
  moment=$((1 + RANDOM * (whole_ms + 200) / 32768))  # 0: timeout would not end it
  go_on timeout -s KILL "$(printf '%d.%03d' $((moment / 1000)) $((moment % 1000)))" || status=$?
  case $status in
    137) killed=$((killed + 1)) ;;
    0) compare; runs=$((runs + 1)); rm -rf "$folder/killed" ;;
    *) fail "status $status after $killed kills: $(cat "$folder/said")" ;;
  esac
done 2>/dev/null # bash tells of each that was killed
go_on || fail "after $killed kills: $(cat "$folder/said")"
compare
echo "killed $killed times in $((runs + 1)) runs of $whole_ms ms: same losses, weights and moments"

fi
if [ "$part" = lockstep ]; then

# ---- two in lockstep, killed

both=("${begin[@]}" --steps $steps --compare model.positions=alibi)
"$program" train "${both[@]}" --out "$folder/both" 2>/dev/null
cmp <(losses "$folder/whole") <(losses "$folder/both/a") || fail "in a comparison a run learns something else"
for kill in 1 2 3; do
  rm -rf "$folder/cut"
  "$program" train "${both[@]}" --out "$folder/cut" 2>/dev/null &
  attnscope=$!
  for _ in $(seq 2400); do if [ -s "$folder/cut/comparison.json" ]; then break; fi; sleep 0.05; done
  sleep "0.$((RANDOM % 1000))"
  kill -9 "$attnscope" 2>/dev/null || true
  wait "$attnscope" 2>/dev/null || true
  attnscope=""
  "$program" train --resume --out "$folder/cut" 2>"$folder/said" || fail "a comparison killed: $(cat "$folder/said")"
  for side in a b; do
    cmp <(losses "$folder/both/$side") <(losses "$folder/cut/$side") || fail "other losses of $side"
    for file in model optimizer; do
      cmp "$folder/both/$side/$file.safetensors" "$folder/cut/$side/$file.safetensors" || fail "another $file of $side"
    done
  done
done
echo "a comparison killed 3 times: same losses, weights and moments of both"

fi
if [ "$part" = ended ]; then

# ---- ended by a signal

# step_of RUN: the step of its weights, according to the file
step_of() { head -c 4000 "$1/model.safetensors" | grep -ao '"step":"[0-9]*"' | grep -o '[0-9]*'; }
metrics_of() { wc -l <"$1/metrics.jsonl"; }

for signal in INT TERM HUP PIPE; do
  run="$folder/$signal"
  # In a shell without a terminal, background jobs ignore Ctrl-C: env restores the default.
  env --default-signal=INT,HUP,PIPE "$program" train "${begin[@]}" --steps 1000000 --out "$run" 2>"$folder/said" &
  attnscope=$!
  for _ in $(seq 2400); do if [ -s "$run/metrics.jsonl" ]; then break; fi; sleep 0.05; done
  kill -$signal "$attnscope"
  status=0
  wait "$attnscope" || status=$?
  attnscope=""
  [ $status -eq 130 ] || fail "status $status after SIG$signal: $(cat "$folder/said")"
  grep -q "^Stopped at step $(step_of "$run") " "$folder/said" || fail "not saved where SIG$signal ended it"
  [ "$(metrics_of "$run")" -eq "$(step_of "$run")" ] || fail "losses missing after SIG$signal"
done
echo "saved by SIGINT, SIGTERM, SIGHUP and SIGPIPE"

# ---- without a working stderr

"$program" train "${begin[@]}" --steps 60 --out "$folder/silent" 2>/dev/full || fail "a stderr that is full ended it"
"$program" train --resume --steps 70 --out "$folder/silent" 2>&- || fail "a stderr that is closed ended it"
[ "$(step_of "$folder/silent")" -eq 70 ] || fail "step $(step_of "$folder/silent") instead of 70"
echo "trained without a stderr"

status=0
(ulimit -f 4; "$program" train "${begin[@]}" --out "$folder/full" 2>"$folder/said") || status=$?
[ $status -eq 1 ] && grep -q "File too large" "$folder/said" || fail "status $status on a full disk: $(cat "$folder/said")"
[ -z "$(ls -A "$folder/full")" ] || fail "a first save that failed left $(ls -A "$folder/full")"
"$program" train "${begin[@]}" --steps 1 --out "$folder/full" 2>"$folder/said" || fail "no room afterwards: $(cat "$folder/said")"
echo "a disk that is full is said, and leaves nothing"

# ---- by two processes at once

"$program" train "${begin[@]}" --steps 1000000 --out "$folder/two" 2>/dev/null &
attnscope=$!
for _ in $(seq 2400); do if [ -e "$folder/two/model.safetensors" ]; then break; fi; sleep 0.05; done
for options in begin resume; do
  second=("${begin[@]}")
  if [ $options = resume ]; then second=(--resume); fi
  status=0
  "$program" train "${second[@]}" --out "$folder/two" 2>"$folder/said" || status=$?
  [ $status -eq 1 ] && grep -q "in use" "$folder/said" || fail "status $status of the second: $(cat "$folder/said")"
done
kill -9 "$attnscope"
wait "$attnscope" 2>/dev/null || true
attnscope=""
"$program" train --resume --steps 1 --out "$folder/two" 2>"$folder/said" || fail "the lock stayed: $(cat "$folder/said")"
echo "the second on one folder is told"

fi
