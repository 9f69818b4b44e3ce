#!/bin/sh
# attnscope_run.py reads a run, a capture and the JSON of commands: the numbers are those of attnscope. With matplotlib,
# the manual's plot is drawn too. Skipped (77) if no python3 here has numpy (Debian: python3-numpy).
#
#   run_python_test.sh ATTNSCOPE FOLDER_OF_THE_MODULE MANUAL_PAGE
set -eu
attnscope=$(realpath "$1") module=$(realpath "$2") page=$(realpath "$3")
. "$(dirname "$0")/python_with.sh"
python_with numpy
[ "$(wc -l < "$module/attnscope_run.py")" -le 150 ]
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
run=$folder/run
"$attnscope" train --quiet --corpus copy --out "$run" --steps 30 --threads 1 --set model.d_model=16 \
  --set training.history_interval=10 --set training.validation_interval=10 --pin "a b c"
"$attnscope" attend --run "$run" --source "a b c" --json > "$folder/attend.json"
"$attnscope" page -q --run "$run" --out "$folder/page.html"
printf 'a b\nc a\n' | "$attnscope" translate -q --run "$run" --json > "$folder/translate.json"
cat > "$folder/check.py" <<'PYTHON'
import base64, json, re, sys
import numpy
folder, module = sys.argv[1:]
sys.path.insert(0, module)
from attnscope_run import Run, read_capture, read_json, read_safetensors

run = Run(folder + "/run")
assert run.config["model"]["d_model"] == 16
points = [json.loads(line) for line in open(folder + "/run/metrics.jsonl")]
assert list(run.metrics["step"]) == list(range(1, 31))
assert list(run.metrics["loss"]) == [point["loss"] for point in points]
assert numpy.isnan(run.metrics["validation_nll"]).sum() == sum("validation_nll" not in point for point in points) == 27
(sentence,) = run.sentences
assert sentence.text == "a b c" and list(sentence.steps) == [0, 10, 20, 30]
last, attend = sentence.frames[-1], read_json(folder + "/attend.json")
for part in ("encoder", "decoder", "cross"):
    weights = getattr(last, part)
    assert weights.ndim == 4 and numpy.allclose(weights.sum(-1), 1, atol=1e-5)
    assert numpy.array_equal(weights, attend[part]), part
    assert numpy.array_equal(sentence.head(part, 0, 1)[-1], attend[part][0, 1])
assert last.output == attend["output"] and last.source == [token["token"] for token in attend["source"]]
assert len(last.candidates) == len(last.target_out) == len(last.entropies)
assert run.weights()["embedding.weight"].shape[1] == 16
assert [type(line) for line in read_json(folder + "/translate.json")] == [dict, dict]

html = open(folder + "/page.html").read()
with open(folder + "/page.safetensors", "wb") as file:
    file.write(base64.b64decode(re.search('id="capture">([^<]*)<', html).group(1)))
(captured,) = read_capture(folder + "/page.safetensors")
assert list(captured.steps) == [0, 10, 20, 30]
for one, other in zip(captured.frames, sentence.frames):
    assert numpy.array_equal(one.cross, other.cross) and one.target_out == other.target_out and one.output == other.output
    assert numpy.array_equal(one.entropies.astype("float32"), other.entropies)
    for mine, theirs in zip(one.candidates, other.candidates):
        assert [(text, numpy.float32(p)) for text, p in mine] == [(text, numpy.float32(p)) for text, p in theirs]

for damage in (b"", b"{}", open(folder + "/page.safetensors", "rb").read()[:-4]):
    with open(folder + "/damaged.safetensors", "wb") as file:
        file.write(damage)
    try:
        read_safetensors(folder + "/damaged.safetensors")
        sys.exit("nothing was refused")
    except ValueError as error:
        assert "damaged.safetensors" in str(error)
PYTHON
"$python" "$folder/check.py" "$folder" "$module"
if "$python" -c 'import matplotlib' 2>/dev/null; then
  sed -n '/^import matplotlib/,/^```$/p' "$page" | sed '/^```/d' > "$folder/plot.py"
  ln -s "$(dirname "$attnscope")/../share/attnscope/english-french" "$folder/english-french"
  (cd "$folder" && MPLBACKEND=agg PYTHONPATH="$module" "$python" plot.py)
  [ -s "$folder/head.png" ]
fi
