#!/usr/bin/env bash
# Checks the program's accesses: confined_test.sh PROGRAM. Trains, translates, draws and shows the window under strace.
# The program uses no network, and opens files for writing only in the run, the settings, the state folder, its cache
# and the graphics driver's. Exit 77: tools are missing, or processes may not be traced here.
set -euo pipefail
program="$1"

for tool in strace Xvfb xdotool; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
strace -o /dev/null true 2>/dev/null || { echo "skipped: processes may not be traced here"; exit 77; }

home="$(mktemp -d)"
screen=""
trap 'if [ -n "$screen" ]; then kill "$screen" 2>/dev/null || true; fi; rm -rf "$home"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

export HOME="$home" XDG_CACHE_HOME="$home/.cache" WAYLAND_DISPLAY=""
unset XDG_STATE_HOME XDG_CONFIG_HOME XDG_RUNTIME_DIR
export ASAN_OPTIONS=detect_leaks=0 # LeakSanitizer uses tracing, too

# One file per thread: in a common file, calls would be split.
traced() {
  rm -rf "$home/trace"
  mkdir "$home/trace"
  strace -ff -qq -y -e trace=%network,%file -e signal=none -o "$home/trace/of" "$@"
}

# The calls that change the disk, with names relative to an open folder made absolute.
changes() {
  grep -hE '^((rename|unlink|mkdir|rmdir|link|symlink|mknod|truncate|chmod|chown|creat)[a-z0-9]*|open(at2?)?)\(' "$home/trace"/* |
    grep -vE '^open.*O_RDONLY| = -1 ' |
    sed -E 's/[0-9A-Z_]+<([^>]*)>, "([^/"][^"]*)"/"\1\/\2"/g' | grep -oE '"/[^"]*"' | tr -d '"' |
    grep -vE '^/dev/(null|shm|dri|udmabuf)|^/proc/|^/memfd:' | sort -u || true
}

# expect_confined NAME FOLDER…: the traced program changed only these folders in the home folder, and made no remote
# connection.
expect_confined() {
  local name="$1" folder changed far
  shift
  far="$(grep -E 'AF_INET|AF_NETLINK|AF_PACKET|AF_VSOCK' "$home/trace"/* || true)"
  [ -z "$far" ] || fail "$name speaks to a network: $(head -n 3 <<<"$far")"
  changed="$(changes)"
  for folder in "$@"; do changed="$(grep -v "^$home/$folder" <<<"$changed" || true)"; done
  [ -z "$changed" ] || fail "$name changes: $changed"
  echo "$name: $(cat "$home/trace"/* | wc -l) calls, confined"
}

mkdir -p "$home/.cache" "$home/.config" "$home/.local/state"
printf 'a b c\tc b a\nd e\te d\nf g h\th g f\nb a\ta b\nc d e\te d c\n' >"$home/pairs.tsv"
traced "$program" train --corpus "$home/pairs.tsv" --out "$home/run" --steps 20 --threads 1 --quiet \
  --set model.d_model=16 --set model.num_heads=2 --set model.d_ff=32 --set tokenizer.vocab_size=32 2>"$home/said" ||
  fail "train: $(cat "$home/said")"
expect_confined train run
echo "a b c" | traced "$program" translate --run "$home/run" >/dev/null
expect_confined translate nowhere
mkdir "$home/pictures"
traced "$program" screenshot --run "$home/run" --source "a b c" --out "$home/pictures/a.png" --size 900x600 2>"$home/said" ||
  fail "screenshot: $(cat "$home/said")"
expect_confined screenshot pictures .cache/mesa

mkfifo "$home/number"
Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp -noreset 3>"$home/number" 2>"$home/xvfb.log" &
screen=$!
read -r number <"$home/number" || fail "Xvfb did not start: $(cat "$home/xvfb.log")"
export DISPLAY=":$number"
traced "$program" &
tracer=$!
for _ in $(seq 600); do
  case "$(xdotool search --onlyvisible --class attnscope getwindowname 2>/dev/null | head -n 1)" in
    ?*" — attnscope"*) break ;;
  esac
  sleep 0.1
done
window="$(xdotool search --onlyvisible --class attnscope | head -n 1)" || fail "there is no window"
xdotool windowfocus --sync "$window" key space
for _ in $(seq 600); do
  if [ -n "$(find "$home/.local/state/attnscope/runs" -name model.safetensors 2>/dev/null)" ]; then break; fi
  sleep 0.1
done
xdotool keydown ctrl key q keyup ctrl
wait "$tracer" || fail "the window ended with $?"
expect_confined "the window" .config/attnscope .local/state/attnscope .cache/attnscope .cache/mesa
