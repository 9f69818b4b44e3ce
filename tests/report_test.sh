#!/bin/sh
# Reports of one run and of two: every section is there, its numbers are those of the other commands, a part that cannot
# be computed says why, and a folder with files is left alone.
#
#   report_test.sh ATTNSCOPE
set -eu
attnscope=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
pin="a <b> c"
for run in first second; do
  "$attnscope" train -q --corpus copy --out "$run" --steps 30 --threads 1 --set model.d_model=16 --seed "${#run}" \
    --set training.validation_interval=10 ${pin:+--pin "$pin"}
  pin=
done

"$attnscope" report -q --run first --out one
for title in Settings Data Curves Evaluation "Sample outputs" Heads Embeddings Circuit "To reproduce"; do
  grep -q "<h2>$title</h2>" one/report.html || { echo "no section $title"; exit 1; }
done
! grep -qE '<script|https?://|<b>' one/report.html
grep -q "default-src 'none'" one/report.html
grep -q '<td>model.d_model</td><td>16</td><td>128</td>' one/report.html
hash=$(sha256sum <first/model.safetensors | cut -c1-64)
grep -q "<td>model.safetensors</td><td>$hash</td>" one/report.html
"$attnscope" evaluate -q --run first --json >evaluation.json
python3 - <<'PYTHON'
import json, re
html = open("one/report.html").read()
of_test = json.load(open("evaluation.json"))
assert f"<td>{of_test['pairs']} pairs, " in html and f"<td>{of_test['nll']:.4f}</td>" in html
assert f"BLEU {of_test['bleu']:.2f}, exact match {100 * of_test['exact_match']:.2f} %" in html
loss = [json.loads(line) for line in open("first/metrics.jsonl")][-1]["loss"]
assert f"<td>training</td><td>{loss:.4f}</td><td>30</td><td>30</td>" in html
assert "tokens of the validation part" in html and html.count("<polyline") == 2
assert json.load(open("one/config-first.json")) == json.load(open("first/config.json"))
PYTHON
grep -q "id=\"capture\"" one/page-first.html
if command -v weasyprint >/dev/null || command -v chromium >/dev/null; then head -c 5 one/report.pdf | grep -q '%PDF-'; fi

# The commands of the report give the same weights.
cp one/config-first.json . && sed -n 's/^<pre>\(attnscope train.*\)/\1/p' one/report.html | sed 's/^attnscope/"$attnscope"/' >again.sh
attnscope="$attnscope" sh again.sh 2>/dev/null
cmp first/model.safetensors first-again/model.safetensors

"$attnscope" report -q --run first --run second --out two 2>/dev/null
grep -q "<title>first and second</title>" two/report.html
grep -q '<th>Setting</th><th>first</th><th>second</th><th>Default</th>' two/report.html
grep -q "second: not computed, because: no sentence is pinned" two/report.html
[ ! -e two/page-second.html ]
[ "$(grep -c '<polyline' two/report.html)" -eq 4 ]

if "$attnscope" report --run first --out one 2>refusal; then exit 1; fi
grep -q 'one: exists and is not an empty folder; nothing was written' refusal
if "$attnscope" report --run nowhere --out three 2>/dev/null; then exit 1; fi
[ ! -e three ]
