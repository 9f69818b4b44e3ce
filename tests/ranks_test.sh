#!/usr/bin/env bash
# Processes that train one run together, started by the program and by another launcher: ranks_test.sh PROGRAM [KILLS
# [SEED]]. They learn the same as one process. If any is killed, hangs or is interrupted, all end and name it, and the
# run continues from its state with any number of ranks. Default: 2 kills; `tests/ranks_test.sh build/bin/attnscope 20`
# is the long form.
set -euo pipefail
program="$1"
kills="${2:-2}"
RANDOM="${3:-$$}"
seed="${3:-$$}"

. "$(dirname "${BASH_SOURCE[0]}")/small_run.sh"
# GELU is smooth: if a hidden unit came close to ReLU's kink, rounding would decide all further training.
begin+=(--set model.dropout=0 --set training.schedule=constant --set training.learning_rate=0.001 --set model.activation=gelu)
launcher=""
trap 'if [ -n "$launcher" ]; then kill -9 "$launcher" 2>/dev/null || true; fi; rm -rf "$folder"' EXIT
steps=200

# expect_same RUN RUN: the same number of losses, equal except for rounding.
expect_same() {
  paste "$1/metrics.jsonl" "$2/metrics.jsonl" | awk '
    function value(line, key) { return match(line, "\"" key "\":[^,}]*") ? substr(line, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : "none" }
    function far(a, b) { return a == "none" || b == "none" ? a != b : (a > b ? a - b : b - a) > 1e-5 * b }
    BEGIN { FS = "\t" }
    far(value($1, "loss"), value($2, "loss")) || far(value($1, "validation_nll"), value($2, "validation_nll")) { print; exit 1 }
  ' || fail "$2 has not the losses of $1"
  [ "$(wc -l <"$1/metrics.jsonl")" -eq "$(wc -l <"$2/metrics.jsonl")" ] || fail "$2 has not as many losses as $1"
}
# rank_of RANK: its process id
rank_of() { for process in $(cat "/proc/$launcher/task/$launcher/children"); do if tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -qx "RANK=$1"; then echo "$process"; fi; done; }
# start OPTION…: trains in the background; returns when there are losses.
start() {
  rm -rf "$folder/run"
  env --default-signal=INT "$program" train "${begin[@]}" --steps 1000000 --out "$folder/run" "$@" 2>"$folder/said" &
  launcher=$!
  for _ in $(seq 2400); do if [ -s "$folder/run/metrics.jsonl" ]; then return; fi; sleep 0.05; done
  fail "no loss in two minutes: $(cat "$folder/said")"
}
# ended: sets $status to its exit status
ended() {
  status=0
  wait "$launcher" 2>/dev/null || status=$?  # bash reports killed jobs
  launcher=""
}

"$program" train "${begin[@]}" --steps $steps --out "$folder/alone" 2>/dev/null
status=0
"$program" train "${begin[@]}" --steps $steps --out "$folder/two" --ranks 2 2>"$folder/said" || status=$?
if [ $status -eq 1 ] && grep -q "cannot train on several ranks" "$folder/said"; then cat "$folder/said"; exit 77; fi
[ $status -eq 0 ] || fail "status $status: $(cat "$folder/said")"
expect_same "$folder/alone" "$folder/two"
[ "$(grep -c '^Done at step' "$folder/said")" -eq 1 ] || fail "not one rank speaks: $(cat "$folder/said")"
[ "$(ls "$folder/alone")" = "$(ls "$folder/two")" ] || fail "other files: $(ls "$folder/two")"
echo "two ranks have the losses of one"

both=("${begin[@]}" --steps 20 --compare model.positions=alibi)
"$program" train "${both[@]}" --out "$folder/both" 2>/dev/null
"$program" train "${both[@]}" --out "$folder/shared" --ranks 2 2>"$folder/said" || fail "$(cat "$folder/said")"
for side in a b; do expect_same "$folder/both/$side" "$folder/shared/$side"; done
echo "and of two in lockstep"

# ---- by another launcher

# join RANK STEPS OPTION…: starts one of two ranks.
join() {
  exec env RANK="$1" WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + $$ % 10000)) \
    "$program" train "${begin[@]}" --steps "$2" --out "$folder/joined" "${@:3}" 2>"$folder/said$1"
}
join 0 $steps & first=$!
join 1 $steps & second=$!
wait $first && wait $second || fail "$(cat "$folder/said0" "$folder/said1")"
expect_same "$folder/alone" "$folder/joined"
[ ! -s "$folder/said1" ] || fail "rank 1 speaks: $(cat "$folder/said1")"
echo "the environment's ranks, too"

for lost in 0 1; do
  rm -rf "$folder/joined"
  join 0 1000000 & processes=($!)
  join 1 1000000 & processes+=($!)
  for _ in $(seq 2400); do if [ -s "$folder/joined/metrics.jsonl" ]; then break; fi; sleep 0.05; done
  kill -9 "${processes[$lost]}"
  wait "${processes[$lost]}" 2>/dev/null || true
  other=$((1 - lost))
  status=0
  wait "${processes[$other]}" || status=$?
  [ $status -eq 1 ] && grep -q "rank $other: lost rank $lost, which" "$folder/said$other" || fail "status $status: $(cat "$folder/said$other")"
done
grep -q "^Stopped at step $(wc -l <"$folder/joined/metrics.jsonl") " "$folder/said0" || fail "not saved: $(cat "$folder/said0")"
echo "one that is lost is named by the other, and what was learned is saved"

rm -rf "$folder/joined"
join 0 $steps & first=$!
join 1 $steps --seed 2 & second=$!
status=0
wait $second || status=$?
[ $status -eq 1 ] && grep -q "rank 0 has training.seed=1, rank 1 has training.seed=2" "$folder/said1" || fail "$(cat "$folder/said1")"
wait $first && fail "rank 0 went on alone"
echo "one that was asked for something else is refused"

# ---- watched by remote viewers

# until_served: sets $port
until_served() {
  for _ in $(seq 2400); do
    port="$(sed -n 's/^serving at 127.0.0.1:\([0-9]*\): .*/\1/p' "$folder/said")"
    if [ -n "$port" ]; then return; fi
    sleep 0.05
  done
  fail "not served in two minutes: $(cat "$folder/said")"
}
# losses RUN: all metrics except speed
losses() { sed 's/"tokens_per_second":[^,}]*//' "$1/metrics.jsonl"; }
rm -rf "$folder/served"
"$program" train "${begin[@]}" --steps $steps --out "$folder/served" --ranks 2 --serve 0 2>"$folder/said" &
launcher=$!
until_served
exec 9<>"/dev/tcp/127.0.0.1/$port" || true  # a client that sends nothing; the training may already be over
ended
exec 9>&-
[ $status -eq 0 ] || fail "status $status: $(cat "$folder/said")"
[ "$(losses "$folder/served")" = "$(losses "$folder/two")" ] || fail "other losses when they are watched"

start --ranks 2 --serve 0
kill -TERM "$(rank_of 1)"
ended
[ $status -eq 130 ] && grep -q "^Stopped at step" "$folder/said" || fail "status $status: $(cat "$folder/said")"
start --ranks 2 --serve 0
kill -9 "$(rank_of 1)"
ended
[ $status -eq 1 ] && grep -q "rank 1 was ended by signal 9" "$folder/said" || fail "status $status: $(cat "$folder/said")"
grep -q "^Stopped at step $(wc -l <"$folder/run/metrics.jsonl") " "$folder/said" || fail "not saved: $(cat "$folder/said")"

rm -rf "$folder/joined"
join 0 1000000 --serve 0 & first=$!
join 1 1000000 --serve 0 & second=$!
for _ in $(seq 2400); do if [ -s "$folder/joined/metrics.jsonl" ]; then break; fi; sleep 0.05; done
kill -9 $second
wait $second 2>/dev/null || true
status=0
wait $first || status=$?
[ $status -eq 1 ] && [ "$(grep -c "lost rank 1, which" "$folder/said0")" -eq 1 ] || fail "status $status: $(cat "$folder/said0")"
echo "served, they learn the same, end together, and one that is lost is named"

# ---- invalid requests

refused() {
  local status=0
  "$@" train "${begin[@]}" --steps 1 --out "$folder/refused" 2>"$folder/said" || status=$?
  [ $status -eq 2 ] || fail "status $status: $(cat "$folder/said")"
}
refused env RANK=1 "$program"
grep -q "RANK is set in the environment, but WORLD_SIZE is not" "$folder/said" || fail "$(cat "$folder/said")"
refused env RANK=2 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=1 "$program"
grep -q "RANK=2 in the environment: expected a number from 0 to 1" "$folder/said" || fail "$(cat "$folder/said")"
[ ! -e "$folder/refused" ] || fail "a run was made"
status=0
"$program" train --ranks 3 --corpus "$folder/none" --out "$folder/refused" 2>"$folder/said" || status=$?
[ $status -eq 1 ] && [ "$(grep -c . "$folder/said")" -eq 1 ] || fail "status $status: $(cat "$folder/said")"
[ ! -e "$folder/refused" ] || fail "a run was made"
status=0
"$program" train "${begin[@]}" --steps 1 --ranks 2 --serve 0 --allow-control --out "$folder/refused" 2>"$folder/said" || status=$?
[ $status -eq 2 ] && grep -q "other windows can only watch it" "$folder/said" || fail "status $status: $(cat "$folder/said")"
[ ! -e "$folder/refused" ] || fail "a run was made"
echo "what cannot be is said once"

# ---- that do not belong together

port=$((20000 + ($$ + 1) % 10000))
# rank NUMBER SIZE OPTION…
rank() { exec env RANK="$1" WORLD_SIZE="$2" LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port "$program" train "${begin[@]}" --steps 100000 --out "$folder/unlike" "${@:3}" 2>"$folder/said$1"; }
# expect_both TEXT: both ranks end within ten seconds, with that text.
expect_both() {
  begun="$(date +%s)"
  wait $first && fail "rank 0 ended well"
  wait $second && fail "rank 1 ended well"
  [ $(($(date +%s) - begun)) -le 15 ] || fail "it took $(($(date +%s) - begun)) s to say: $1"
  for number in 0 1; do grep -q "$1" "$folder/said$number" || fail "rank $number said: $(cat "$folder/said$number")"; done
}
rank 0 2 & first=$!
rank 1 3 & second=$!
expect_both "rank 0 has WORLD_SIZE=2, rank 1 has WORLD_SIZE=3"
rank 0 2 & first=$!
rank 1 2 --set training.batch_size=7 & second=$!
expect_both "rank 1 has training.batch_size=7"
echo "ranks that do not train the same run say how they differ"

if command -v python3 >/dev/null; then  # it plays the other service
  python3 -c "
import socket, time
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(('127.0.0.1', $port)); s.listen()
kept = []
s.settimeout(30)
try:
    while True: kept.append(s.accept())
except OSError: pass
" & service=$!
  sleep 1
  begun="$(date +%s)"
  rank 1 2 & second=$!
  wait $second && fail "rank 1 ended well"
  kill $service 2>/dev/null || true
  [ $(($(date +%s) - begun)) -le 15 ] || fail "it took $(($(date +%s) - begun)) s"
  grep -q "Another service may be using that port" "$folder/said1" || fail "$(cat "$folder/said1")"
  echo "another service at the port is named"
fi

# ---- interrupted

for whom in launcher 1; do
  start --ranks 2
  if [ $whom = launcher ]; then kill -INT "$launcher"; else kill -TERM "$(rank_of $whom)"; fi
  ended
  [ $status -eq 130 ] && grep -q "^Stopped at step" "$folder/said" || fail "status $status: $(cat "$folder/said")"
done
echo "an interrupted rank stops all, and the run is saved"

start --ranks 2
processes="$(rank_of 0) $(rank_of 1)"
kill -9 "$launcher"
ended
for _ in $(seq 600); do if ! kill -0 $processes 2>/dev/null; then break; fi; sleep 0.05; done
! kill -0 $processes 2>/dev/null || fail "ranks live on without what started them"
echo "no rank outlives its launcher"

# ---- killed

for kill in $(seq "$kills"); do
  ranks=$((2 + RANDOM % 2))
  rank=$((RANDOM % ranks))
  start --ranks $ranks
  sleep "0.$((RANDOM % 1000))"
  process="$(rank_of $rank)"
  begun="$(date +%s)"
  kill -9 "$process"
  ended
  [ $(($(date +%s) - begun)) -le 10 ] || fail "rank $rank of $ranks killed, and the others went on for $(($(date +%s) - begun)) s"
  [ $status -eq 1 ] && grep -q "rank $rank was ended by signal 9" "$folder/said" || fail "status $status: $(cat "$folder/said")"
  done="$(wc -l <"$folder/run/metrics.jsonl")"
  ranks=$((1 + RANDOM % 3))
  "$program" train --resume --steps $((done + 20)) --ranks $ranks --out "$folder/run" 2>"$folder/said" || fail "$(cat "$folder/said")"
  rm -rf "$folder/whole"
  "$program" train "${begin[@]}" --steps $((done + 20)) --out "$folder/whole" 2>/dev/null
  expect_same "$folder/whole" "$folder/run"
done
if [ "$kills" -ge 20 ]; then
  start --ranks 3
  kill -STOP "$(rank_of 1)"
  begun="$(date +%s)"
  ended
  [ $(($(date +%s) - begun)) -le 50 ] || fail "rank 1 hangs, and the others waited for $(($(date +%s) - begun)) s"
  [ $status -eq 1 ] && grep -q "lost rank 1, which" "$folder/said" || fail "status $status: $(cat "$folder/said")"
  rm -rf "$folder/joined"
  join 0 1000000 & first=$!
  join 1 1000000 & second=$!
  for _ in $(seq 2400); do if [ -s "$folder/joined/metrics.jsonl" ]; then break; fi; sleep 0.05; done
  kill -STOP $first
  status=0
  wait $second || status=$?
  kill -9 $first
  [ $status -eq 1 ] && grep -q "rank 1: lost rank 0, which" "$folder/said1" || fail "status $status: $(cat "$folder/said1")"
  echo "one that hangs is named"
fi
echo "killed $kills times, gone on with other numbers of ranks: the same losses"
