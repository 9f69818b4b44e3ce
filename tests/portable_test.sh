#!/bin/sh
# A portable bundle on a system without attnscope's build packages: from a read-only folder with a space and letters
# outside ASCII, it trains, continues from the checkpoint, exports, plays a lesson, and opens its window under Xvfb.
# The system needs xz, and for the window: xvfb xdotool libegl1 libgl1-mesa-dri.
#
#   portable_test.sh BUNDLE.tar.xz
set -eu
bundle=$(realpath "$1")
folder=$(mktemp -d)
at="$folder/mon dossier é"
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
mkdir "$at"
tar -xf "$bundle" -C "$at"
chmod -R a-w "$at"
cd "$folder"
export HOME="$folder/home" XDG_CONFIG_HOME="$folder/home/config" XDG_DATA_HOME="$folder/home/data" OMP_NUM_THREADS=1
mkdir "$HOME"
top=$(echo "$at"/*)
attnscope="$top/bin/attnscope"

system=/usr/lib/x86_64-linux-gnu fallbacks="$top/lib/fallback/gcc" # as the launcher chooses them
[ -e $system/libEGL.so.1 ] || fallbacks="$fallbacks:$top/lib/fallback/gl"
[ -e $system/libX11.so.6 ] || fallbacks="$fallbacks:$top/lib/fallback/x11"
find "$top/lib" "$top/libexec" -type f | while read -r file; do
  case "$file" in */lib/fallback/*) continue ;; *.so*|*/libexec/*) ;; *) continue ;; esac
  if LD_LIBRARY_PATH="$fallbacks" ldd "$file" | grep 'not found'; then
    echo "$file needs them" && exit 1
  fi
done
"$attnscope" --version
"$attnscope" presets >presets
[ -s presets ]
"$attnscope" install-desktop
grep -q "^Exec=\"$attnscope\"$" "$XDG_DATA_HOME/applications/attnscope.desktop"
find "$top/share/doc" -name copyright | grep -q .
grep -q '^PackageName: attnscope$' "$top"/share/doc/attnscope/*.spdx

if [ -e "$top/lib/attnscope/attnscope_engine.so" ]; then
  "$attnscope" train -q --corpus copy --out run --steps 20 --threads 1 --set model.d_model=16 --pin "a b c"
  "$attnscope" train -q --resume --out run --steps 30 --threads 1
  echo "a b c" | "$attnscope" translate -q --run run
  "$attnscope" page -q --run run --out page.html
  "$attnscope" export -q --run run --format torchscript exported
  [ -s exported/model.pt ] && [ -s page.html ]
  "$attnscope" screenshot -q --lesson word-order --part 2 --out lesson.png
  "$attnscope" screenshot -q --source "日本語" --out cjk.png
  ATTNSCOPE_LEVEL=baseline "$attnscope" train --corpus copy --out slow --steps 2 --set model.d_model=16 2>said
  grep -q "without AVX2" said
  [ -s lesson.png ] && [ -s cjk.png ]
fi

if command -v Xvfb >/dev/null && command -v xdotool >/dev/null; then
  Xvfb -displayfd 3 -screen 0 1280x800x24 3>display 2>/dev/null &
  server=$!
  while [ ! -s display ]; do sleep 0.1; done
  DISPLAY=":$(cat display)"
  export DISPLAY
  "$attnscope" &
  window=$!
  xdotool search --sync --onlyvisible --name attnscope >/dev/null
  sleep 3
  kill -0 "$window"
  kill -TERM "$window"
  wait "$window" || [ $? -eq 143 ]
  kill "$server"
  echo "the window opened"
fi
echo "the bundle works"
