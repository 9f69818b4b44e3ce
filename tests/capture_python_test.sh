#!/bin/sh
# attnscope_capture.py writes captures that attnscope opens: its numbers come back, its refusals name both numbers.
# Skipped (77) if no python3 here has numpy (Debian: python3-numpy).
#
#   capture_python_test.sh ATTNSCOPE FOLDER_OF_THE_MODULE
set -eu
attnscope=$1 module=$2
. "$(dirname "$0")/python_with.sh"
python_with numpy
[ "$(wc -l < "$module/attnscope_capture.py")" -le 100 ]
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/write.py" <<'PYTHON'
import json, sys
import numpy
folder, module = sys.argv[1:]
sys.path.insert(0, module)
from attnscope_capture import Capture

random = numpy.random.default_rng(1)
def attention(layers, heads, queries, keys, dtype="float64"):
    weights = numpy.exp(random.normal(size=(layers, heads, queries, keys)))
    return (weights / weights.sum(-1, keepdims=True)).astype(dtype)

class Tensor:  # what a torch tensor offers, here in bfloat16's place
    def __init__(self, values): self.values = values
    def detach(self): return self
    def cpu(self): return self
    def float(self): return self
    def numpy(self): return self.values.astype("float32")

capture = Capture()
tokens = ["[CLS]", "the", "bank", "\n", "😀", "[SEP]"]
first = attention(2, 3, 6, 6)
number = capture.add(tokens, first, text="bank", hidden=random.normal(size=(3, 6, 8)), loss=2, labels={"model": "a"})
second = attention(2, 3, 6, 6, "float16")
assert capture.add(tokens, second, step=10, sentence=number, loss=1) == 0
layers = [Tensor(attention(1, 4, 3, 3)) for _ in range(2)]  # batches of one, as transformers returns them
capture.add(target=["a", "b", "a"], decoder=layers, cross=attention(1, 1, 3, 5), source=list("vwxyz"))
capture.save(folder + "/mine.safetensors")
json.dump([first.tolist(), second.astype("float32").tolist()], open(folder + "/expected.json", "w"))
for wrong in (lambda: capture.add(tokens, attention(1, 1, 512, 512)), lambda: capture.add(tokens, attention(1, 1, 6, 5)),
              lambda: capture.add(tokens, numpy.ones((2, 6, 6))), lambda: capture.add(tokens, numpy.ones((1, 2, 3, 6, 6))),
              lambda: capture.add(tokens), lambda: capture.add(tokens, attention(1, 1, 6, 6) * numpy.nan),
              lambda: capture.add(tokens, -attention(1, 1, 6, 6)), lambda: capture.add(tokens, first, txt="bank"),
              lambda: capture.add(target=["a"], decoder=numpy.ones((1, 1, 1, 1)), logits=numpy.ones((2, 1, 3)),
                                  candidates=list("abc")),
              lambda: capture.add(target=["a"], decoder=numpy.ones((1, 1, 1, 1)), logits=numpy.ones((1, 1, 2)),
                                  candidates=list("abc"))):
    try:
        wrong()
        sys.exit("nothing was refused")
    except (ValueError, TypeError) as error:
        print(error)
scores = numpy.array([[[[1, -numpy.inf], [2, -3]]]])
signed = Capture(signed=True)
signed.add(target=["a", "b"], decoder=scores, logits=numpy.zeros((1, 2, 2)), candidates=["b", "c"],
           hidden=numpy.ones((2, 1, 2, 3)), step=4)
signed.save(folder + "/signed.safetensors")
PYTHON
"$python" "$folder/write.py" "$folder" "$module" > "$folder/refusals"
grep -q '512 queries, but 6 source tokens' "$folder/refusals"
grep -q '5 keys, but 6 source tokens' "$folder/refusals"
grep -q 'NaN or infinite' "$folder/refusals"
grep -q 'Capture(signed=True)' "$folder/refusals"
grep -q "unexpected keyword argument 'txt'" "$folder/refusals"
grep -q '3 dimensions (2, 1, 3), but 2 are needed, of one sentence' "$folder/refusals"
grep -q 'shape (1, 2), but tokens, candidates: (1, 3)' "$folder/refusals"
"$attnscope" attend --capture "$folder/signed.safetensors" > "$folder/signed.json"
"$attnscope" attend --capture "$folder/mine.safetensors" --step 10 --part encoder --layer 2 --head 3 > "$folder/one.json"
"$attnscope" attend --capture "$folder/mine.safetensors" --step 10 --head 3 --format csv > "$folder/one.csv"
"$attnscope" heads --capture "$folder/mine.safetensors" --step 10 --json > "$folder/ten.json"
refused() { if "$attnscope" attend "$@" 2> "$folder/refusal"; then exit 1; fi; }
refused --capture "$folder/mine.safetensors" --step 7
grep -q 'no sentence has step 7; recorded: 0, 10' "$folder/refusal"
refused --capture "$folder/mine.safetensors" --layer 9
grep -q 'layer 9' "$folder/refusal"
refused --capture "$folder/mine.safetensors" --off encoder.1.1
grep -q -- '--capture excludes --off' "$folder/refusal"
refused --run "$folder/mine.safetensors" --source x
grep -q -- "Use --capture $folder/mine.safetensors instead of --run" "$folder/refusal"
"$attnscope" attend --capture "$folder/mine.safetensors" --json > "$folder/attend.json"
"$attnscope" attend --capture "$folder/mine.safetensors" --format csv > "$folder/attend.csv"
"$attnscope" heads --capture "$folder/mine.safetensors" --json > "$folder/heads.json"
"$attnscope" heads --capture "$folder/mine.safetensors" | grep -q '^encoder L1 H1 '
cat > "$folder/check.py" <<'PYTHON'
import csv, json, sys
folder = sys.argv[1]
read = json.load(open(folder + "/attend.json"))
expected = json.load(open(folder + "/expected.json"))
assert not read["signed"] and [s["step"] for s in read["sentences"]] == [0, 10, 0]
assert read["sentences"][0]["labels"] == {"model": "a"} and read["sentences"][0]["source"][3:5] == ["\n", "😀"]
for sentence, maps in zip(read["sentences"], expected):
    for head in sentence["encoder"]:
        wanted = maps[head["layer"] - 1][head["head"] - 1]
        assert all(abs(a - b) < 1e-6 for x, y in zip(head["weights"], wanted) for a, b in zip(x, y))
assert len(read["sentences"][2]["decoder"]) == 8 and len(read["sentences"][2]["cross"]) == 1
rows = list(csv.DictReader(open(folder + "/attend.csv", newline="")))
assert len(rows) == 2 * 2 * 3 * 36 + 8 * 9 + 15
assert rows[4]["key_token"] == "😀" and abs(float(rows[4]["value"]) - expected[0][0][0][0][4]) < 1e-6
heads = json.load(open(folder + "/heads.json"))["heads"]
assert {h["part"] for h in heads} == {"encoder", "decoder", "cross"}
assert all(h["induction"] is not None for h in heads if h["part"] == "decoder")
assert all(h["distance"] is None for h in heads if h["part"] == "cross")
signed = json.load(open(folder + "/signed.json"))["sentences"][0]
assert signed["decoder"][0]["values"] == [[1, None], [2, -3]], "a masked score is null"
assert signed["hidden"] == [[[1, 1, 1]] * 2] * 2
candidate = signed["predictions"][1]["candidates"][1]
assert candidate == {"token": "c", "logit": 0, "probability": 0.5}
one = json.load(open(folder + "/one.json"))["sentences"]
assert [s["step"] for s in one] == [10] and [(h["layer"], h["head"]) for h in one[0]["encoder"]] == [(2, 3)]
rows = list(csv.DictReader(open(folder + "/one.csv", newline="")))
assert {(r["step"], r["layer"], r["head"]) for r in rows} == {("10", "1", "3"), ("10", "2", "3")}
assert {h["part"] for h in json.load(open(folder + "/ten.json"))["heads"]} == {"encoder"}
PYTHON
"$python" "$folder/check.py" "$folder"
