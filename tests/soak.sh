#!/usr/bin/env bash
# Runs the window for hours: soak.sh PROGRAM [MINUTES], by default 120. Trains on a virtual screen while a simulated
# user types sentences, goes through the workspaces, ablates heads, scrubs through the training and decodes. Every
# minute it prints the resources of the process: memory, descriptors, threads. Memory is the median of one reading per
# second, because an inspection or a checkpoint temporarily uses more. After the first five minutes no value may grow by
# more than 1 %; when paused at the end, the process may use at most 2 % of a core. The run is recorded every 10 steps,
# so the bounded recordings of a training (frames, weights, embeddings) are full within five minutes on an otherwise
# idle machine. Not part of the test suite.
set -euo pipefail
program="$1"
minutes="${2:-120}"
settling=5

home="$(mktemp -d)"
attnscope=""
screen=""
reader=""
# In this order, one after the other: the window autosaves its run meanwhile.
trap 'for process in "$reader" "$attnscope" "$screen"; do if [ -n "$process" ]; then kill "$process" 2>/dev/null || true; wait "$process" || true; fi; done; rm -rf "$home"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

mkfifo "$home/number"
Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp -noreset 3>"$home/number" 2>"$home/xvfb.log" &
screen=$!
read -r number <"$home/number" || fail "Xvfb did not start: $(cat "$home/xvfb.log")"
export DISPLAY=":$number" WAYLAND_DISPLAY="" HOME="$home" XDG_CONFIG_HOME="$home"
unset XDG_STATE_HOME

sentences=("The animal didn't cross the street because it was too tired." "The animal didn't cross the street because it was too wide."
  "How are you?" "The cat drinks the milk because it is hungry." "She sits on the bank of the river." "elephant ’ 12")

"$program" train --corpus english-french --out "$home/run" --steps 20 --set training.history_interval=10 \
  --pin "${sentences[0]}" --pin "${sentences[1]}" >"$home/train.log" || fail "no run: $(cat "$home/train.log")"
"$program" "$home/run" &
attnscope=$!
title() { xdotool search --onlyvisible --class attnscope getwindowname 2>/dev/null | head -n 1; }
until case "$(title)" in ?*" — attnscope"*) true ;; *) false ;; esac; do sleep 0.2; done
window="$(xdotool search --onlyvisible --class attnscope | head -n 1)"
xdotool windowfocus --sync "$window" windowmove --sync "$window" 0 0 windowsize --sync "$window" 1600 1000

key() { xdotool key "$@"; }
ctrl() { xdotool keydown ctrl key "$1" keyup ctrl; }

# One round of user actions, about 20 seconds.
round() {
  ctrl t
  ctrl a
  xdotool type --delay 15 "${sentences[$((RANDOM % ${#sentences[@]}))]}"
  key Return
  local workspace
  for workspace in 1 2 3 4 5 6 7 8; do
    key "$workspace"
    xdotool mousemove $((200 + RANDOM % 1200)) $((120 + RANDOM % 700)) click 1
    key Right Down x
    xdotool click 4 click 5
    sleep 1.2
    key ctrl+z
  done
  xdotool mousemove $((300 + RANDOM % 900)) 960 click 1
  sleep 1
  key Home End Escape
}

# One line per second: the current minute, and kilobytes.
read_memory() {
  while kilobytes="$(awk '/^VmRSS:/ { print $2 }' "/proc/$attnscope/status" 2>/dev/null)" && [ -n "$kilobytes" ]; do
    echo "$(cat "$home/minute") $kilobytes"
    sleep 1
  done >"$home/memory"
}
# The median between two minutes.
kilobytes() {
  awk -v from="$1" -v to="$2" '$1 >= from && $1 <= to { print $2 }' "$home/memory" | sort -n |
    awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}
threads() { awk '/^Threads:/ { print $2 }' "/proc/$attnscope/status"; }
# The window continues training in its own run, until it is saved.
updates() { cat "$home"/.local/state/attnscope/runs/*/metrics.jsonl 2>/dev/null | wc -l; }
descriptors() { find "/proc/$attnscope/fd" -mindepth 1 2>/dev/null | wc -l; }
ticks() { awk '{ print $14 + $15 }' "/proc/$attnscope/stat"; }

key space
echo 1 >"$home/minute"
read_memory &
reader=$!
echo "minute  resident MB  descriptors  threads  updates  title"
begin="$SECONDS"
for ((minute = 1; minute <= minutes; ++minute)); do
  echo "$minute" >"$home/minute"
  while
    kill -0 "$attnscope" 2>/dev/null || fail "it ended in minute $minute"
    round
    [ "$SECONDS" -lt $((begin + 60 * minute)) ]
  do :; done
  case "$(title)" in *"(training)"*) ;; *) key space ;; esac
  megabytes="$(awk "BEGIN { print $(kilobytes "$minute" "$minute") / 1024 }")"
  printf '%6d  %11.1f  %11d  %7d  %7d  %s\n' "$minute" "$megabytes" "$(descriptors)" "$(threads)" "$(updates)" "$(title)"
  if [ "$minute" -eq "$settling" ]; then held=("$(descriptors)" "$(threads)"); fi
done

quarter=$(((minutes - settling) / 4))
if [ "$quarter" -ge 1 ]; then
  first="$(kilobytes $((settling + 1)) $((settling + quarter)))"
  last="$(kilobytes $((minutes - quarter + 1)) "$minutes")"
  awk "BEGIN { printf \"resident memory: %.2f %% more in the last quarter than in the first\\n\", 100 * ($last - $first) / $first }"
  [ $((last * 100)) -le $((first * 101)) ] || fail "memory grows: $first kB, then $last kB"
  [ "$(threads)" -le "${held[1]}" ] || fail "threads grow: ${held[1]}, then $(threads)"
  [ "$(descriptors)" -le $((held[0] + 2)) ] || fail "descriptors grow: ${held[0]}, then $(descriptors)"
fi

case "$(title)" in *"(training)"*) key space ;; esac
sleep 5
before="$(ticks)"
sleep 30
awk "BEGIN { printf \"idle: %.1f %% of a core\\n\", 100 * ($(ticks) - $before) / ($(getconf CLK_TCK) * 30) }"
[ $((($(ticks) - before) * 100)) -le $((2 * 30 * $(getconf CLK_TCK))) ] || fail "idle it uses more than 2 % of a core"
ctrl q
wait "$attnscope" || fail "it ended with $?"
attnscope=""
echo "quit in order"
