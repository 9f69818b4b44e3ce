#!/usr/bin/env bash
# A sweep that is killed within a run and started again has the table of one that was not: sweep_test.sh PROGRAM. So have
# several runs at once, and the ranks of another launcher.
set -euo pipefail
program="$1"
seed=1
. "$(dirname "${BASH_SOURCE[0]}")/small_run.sh"
trap 'rm -rf "$folder"' EXIT

options=(--corpus "$folder/letters.tsv" --threads 1 --csv --seeds 1,2,3 --set training.steps=400)
for ((i = 0; i < ${#begin[@]}; ++i)); do
  if [ "${begin[$i]}" = --set ]; then options+=(--set "${begin[$((i + 1))]}"); fi
done
sweep() { "$program" sweep "${options[@]}" --out "$@"; }
expect_table() { cmp -s "$folder/whole.csv" "$1" || fail "$(diff "$folder/whole.csv" "$1")"; }

sweep "$folder/whole" >"$folder/whole.csv" 2>"$folder/said" || fail "$(cat "$folder/said")"
[ "$(wc -l <"$folder/whole.csv")" -eq 4 ] || fail "$(cat "$folder/whole.csv")"

sweep "$folder/killed" >/dev/null 2>&1 &
second="$folder/killed/training.seed=2"
for _ in $(seq 6000); do if [ "$(tail -n 1 "$second/metrics.jsonl" 2>/dev/null | wc -c)" -gt 2 ]; then break; fi; sleep 0.01; done
process="$(cat /proc/$!/task/$!/children)" # of the function's subshell
kill -9 ${process:-$!}
wait || true
[ "$(wc -l <"$second/metrics.jsonl")" -lt 400 ] || fail "run 2 had already ended"
[ ! -e "$folder/killed/training.seed=3" ] || fail "run 3 had already begun"
sweep "$folder/killed" >"$folder/killed.csv" 2>"$folder/said" || fail "$(cat "$folder/said")"
grep -q "run 2 of 3" "$folder/said" || fail "$(cat "$folder/said")"
if grep -q "run 1 of 3" "$folder/said"; then fail "a complete run was trained again"; fi
expect_table "$folder/killed.csv"
echo "killed within run 2 of 3 and continued"

status=0
sweep "$folder/jobs" --jobs 2 >"$folder/jobs.csv" 2>"$folder/said" || status=$?
[ $status -eq 0 ] || fail "status $status: $(cat "$folder/said")"
expect_table "$folder/jobs.csv"
[ "$(grep -c "^run . of 3" "$folder/said")" -eq 3 ] || fail "$(cat "$folder/said")"
echo "two runs at once"

for rank in 0 1; do
  RANK=$rank WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=1 "$program" sweep "${options[@]}" --out "$folder/ranks" \
    >"$folder/rank.csv" 2>"$folder/said" || fail "$(cat "$folder/said")"
  [ ! -s "$folder/rank.csv" ] || fail "a rank printed an incomplete table"
done
"$program" runs "$folder/ranks" --csv >"$folder/ranks.csv"
expect_table "$folder/ranks.csv"
echo "one run per rank"
