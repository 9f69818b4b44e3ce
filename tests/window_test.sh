#!/usr/bin/env bash
# Tests the real window on a virtual screen: window_test.sh PROGRAM. Opens it, types a sentence, trains, pauses, saves
# and quits with the keyboard; the title shows the state of the session. Exit 77: tools are missing.
set -euo pipefail
program="$1"

for tool in Xvfb xdotool; do
  if ! command -v "$tool" >/dev/null; then
    echo "skipped: $tool is not installed"
    exit 77
  fi
done

home="$(mktemp -d)"
attnscope=""
training=""
screen=""
stop() { if [ -n "$1" ]; then kill "$1" 2>/dev/null || true; fi; }
trap 'stop "$attnscope"; stop "$training"; stop "$screen"; rm -rf "$home"' EXIT

fail() { echo "FAILED: $*"; exit 1; }

# within SECONDS COMMAND…: until the command succeeds
within() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    if ! kill -0 "$attnscope" 2>/dev/null; then fail "attnscope ended while waiting for: $*"; fi
    if [ "$SECONDS" -ge "$deadline" ]; then fail "waited in vain for: $* (the title is: $(title))"; fi
    sleep 0.05
  done
}
window=""
window_is_there() { window="$(xdotool search --onlyvisible --class attnscope 2>/dev/null | head -n 1)"; [ -n "$window" ]; }
title() { xdotool getwindowname "$window" 2>/dev/null || true; }
title_is() { case "$(title)" in $1) return 0 ;; *) return 1 ;; esac; }
ctrl() { xdotool key "ctrl+$1"; }
has_ended() { ! kill -0 "$attnscope" 2>/dev/null; }

# expect_end STATUS CAUSE: the program soon ends by itself with that exit status
expect_end() {
  for _ in $(seq 200); do if has_ended; then break; fi; sleep 0.05; done
  has_ended || fail "it did not end within 10 seconds of $2"
  local status=0
  wait "$attnscope" || status=$?
  attnscope=""
  [ "$status" -eq "$1" ] || fail "exit status $status after $2, not $1"
}

# The server chooses a free display number and prints it when ready (xvfb-run's choice has a race with other servers).
mkfifo "$home/number"
start_screen() {
  Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp -noreset 3>"$home/number" 2>"$home/xvfb.log" &
  screen=$!
  read -r number <"$home/number" || { cat "$home/xvfb.log"; fail "Xvfb did not start"; }
  export DISPLAY=":$number"
}
start_screen
export WAYLAND_DISPLAY="" XDG_CONFIG_HOME="$home" HOME="$home" LC_ALL=C.UTF-8  # xdotool types "…"
unset XDG_STATE_HOME

started="$(date +%s%N)"
"$program" &
attnscope=$!
within 30 window_is_there
echo "the window stood after $((($(date +%s%N) - started) / 1000000)) ms"
xdotool windowfocus --sync "$window"
within 120 title_is "?* — attnscope"
echo "a run was open after $((($(date +%s%N) - started) / 1000000)) ms: $(title)"

ctrl t
ctrl a
xdotool type --delay 20 "How are you?"
xdotool key Return
xdotool key space
within 60 title_is "*(training)*"
xdotool key space
within 60 title_is "*(paused)*"

ctrl q
expect_end 0 Ctrl+Q
grep -q '"sentence": "How are you?"' "$home/attnscope/settings.json" || fail "the sentence typed was not remembered"
echo "typed, trained, paused and quit"

# A saved run is saved again when the window is closed with Quit or with its terminal.
step_of() { head -c 100000 "$1/model.safetensors" | grep -ao '"step":"[0-9]*"' | grep -o '[0-9]*'; }
is_saved() { [ -e "$home/$1/model.safetensors" ]; }
has_learned() { [ "$(tail -n 1 "$home/$1/metrics.jsonl" | grep -o '"step":[0-9]*' | grep -o '[0-9]*')" -gt "$saved" ]; }
save_and_train() {
  "$program" &
  attnscope=$!
  within 30 window_is_there
  xdotool windowfocus --sync "$window"
  within 120 title_is "?* — attnscope"
  ctrl s # whether the folder has been read or not
  xdotool type --delay 20 "$1"
  xdotool key Return
  within 60 is_saved "$1"
  saved="$(step_of "$home/$1")"
  xdotool key space
  within 60 title_is "*(training)*"
  within 120 has_learned "$1"
}
save_and_train quit
ctrl q
expect_end 0 Ctrl+Q
[ "$(step_of "$home/quit")" -gt "$saved" ] || fail "what was trained was not saved at Ctrl+Q"
save_and_train hangup
kill -HUP "$attnscope"
expect_end 129 SIGHUP
[ "$(step_of "$home/hangup")" -gt "$saved" ] || fail "what was trained was not saved on SIGHUP"
echo "saved on the way out"

# In a window of any size training goes on: larger than a texture may be, or hardly there.
"$program" &
attnscope=$!
within 30 window_is_there
xdotool windowfocus --sync "$window"
within 120 title_is "?* — attnscope"
xdotool key space
within 60 title_is "*(training)*"
for size in "20000 20" "1 1" "3 4000" "1280 720"; do
  xdotool windowsize "$window" $size
  sleep 1
  has_ended && fail "it ended at a size of $size"
done
xdotool windowfocus --sync "$window"
xdotool key space
within 60 title_is "*(paused)*"
ctrl q
expect_end 0 Ctrl+Q
rm -rf "$home/.local/state/attnscope"
echo "drawn in windows of 20000 × 20, 1 × 1 and 3 × 4000"

# An unsaved run is autosaved from the first step on, even if the process is killed, and is offered at the next start.
kept() { find "$home/.local/state/attnscope/runs" -mindepth 2 -maxdepth 2 -name model.safetensors 2>/dev/null; }
is_kept() { [ -n "$(kept)" ]; }
rm -rf "$home/.local/state/attnscope"
"$program" &
attnscope=$!
within 30 window_is_there
xdotool windowfocus --sync "$window"
within 120 title_is "?* — attnscope"
xdotool key space
within 60 is_kept
kill -KILL "$attnscope"
wait "$attnscope" 2>/dev/null || true
run="$(dirname "$(kept)")"
[ "$(step_of "$run")" -gt 0 ] || fail "what was kept is of no step"
"$program" &
attnscope=$!
within 30 window_is_there
xdotool windowfocus --sync "$window"
within 120 title_is "?* — attnscope"
ctrl q
expect_end 0 Ctrl+Q
grep -q "\"offered_run\": \"$run\"" "$home/attnscope/settings.json" || fail "the run that was kept was not offered"
echo "kept through kill -9 and offered again"

# Losing the display ends the window too, and the run is saved.
save_and_train display
kill "$screen"
expect_end 1 "the end of its display"
screen=""
[ "$(step_of "$home/display")" -gt "$saved" ] || fail "what was trained was not saved when the display went"
start_screen
echo "saved when the display went"

# A signal ends the window like Quit: the user's settings are saved.
rm "$home/attnscope/settings.json"
"$program" &
attnscope=$!
within 30 window_is_there
within 120 title_is "?* — attnscope"
kill -TERM "$attnscope"
expect_end 143 SIGTERM
[ -s "$home/attnscope/settings.json" ] || fail "the settings were not kept on SIGTERM"
echo "ended by a signal, settings kept"

# A window attached to a remote training shows it, and shows that it has ended.
"$program" train --preset tiny --corpus copy --steps 100000 --out "$home/elsewhere" --serve 0 2>"$home/elsewhere.log" &
training=$!
attnscope=$training
is_decided() { grep -qsE "serving at|no networking" "$home/elsewhere.log"; }
within 120 is_decided
station="$(sed -n 's/^serving at \(.*\): open it with attnscope attach$/\1/p' "$home/elsewhere.log")"
if [ -n "$station" ]; then
  "$program" attach "$station" &
  attnscope=$!
  within 30 window_is_there
  within 60 title_is "elsewhere (training) — attnscope"
  kill -INT "$training"
  within 60 title_is "elsewhere — attnscope"
  xdotool windowfocus --sync "$window"
  ctrl q
  expect_end 0 Ctrl+Q
  echo "attached to a training elsewhere"
fi

# A window serves its own run to another, and stops.
port=$((20000 + RANDOM % 20000))
"$program" &
attnscope=$!
within 30 window_is_there
within 120 title_is "?* — attnscope"
served="$(title)"
first="$attnscope" firsts_window="$window"
xdotool windowfocus --sync "$window"
ctrl p
sleep 0.5
xdotool type --delay 20 "Serve…"
sleep 0.5
xdotool key Return
sleep 0.5
ctrl a
xdotool type --delay 20 "$port"
xdotool key Return
can_be_reached() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }
if [ -n "$station" ]; then
  within 30 can_be_reached
  training=$first  # to be ended in any case
  "$program" attach "127.0.0.1:$port" &
  attnscope=$!
  second_is_there() { window="$(xdotool search --onlyvisible --class attnscope | grep -v "^$firsts_window\$" | head -n 1)"; [ -n "$window" ]; }
  within 30 second_is_there
  within 60 title_is "$served"
  xdotool windowfocus --sync "$window"
  ctrl q
  expect_end 0 Ctrl+Q
  attnscope=$first
  training=""
  window="$firsts_window"
  xdotool windowfocus --sync "$window"
  xdotool key Escape
  echo "served its own run to another window"
fi
ctrl q
expect_end 0 Ctrl+Q
