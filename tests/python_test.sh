#!/bin/sh
# Runs the manual's Python code on a model with the paper's sinusoids: torch.nn loads its weights with strict=True, and
# gives every token of an output the same probability as attnscope. Skipped (77) if Debian's python3-torch is not
# installed.
#
#   python_test.sh ATTNSCOPE manual
set -eu
attnscope=$1 readme=$2
. "$(dirname "$0")/python_with.sh"
python_with torch
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sed -n '/^```python$/,/^```$/p' "$readme" | sed '/^```/d' > "$folder/snippet.py"
run=$folder/run sentence="a t t e n t i o n s c o p e"
"$attnscope" train --quiet --corpus reverse --set tokenizer.type=char --set model.positions=sinusoidal --steps 200 \
  --threads 1 --out "$run"
"$attnscope" attend --run "$run" --source "$sentence" --json > "$folder/attend.json"
echo "$sentence" | "$attnscope" translate --run "$run" --json > "$folder/translate.json"
"$attnscope" export --run "$run" --format torchscript "$folder/module" --quiet
cat > "$folder/check.py" <<'PYTHON'
import json, sys
import torch
folder, run = sys.argv[1:]
sys.path.insert(0, folder)
from snippet import load

source = [token["id"] for token in json.load(open(folder + "/attend.json"))["source"]]
pieces = json.load(open(folder + "/translate.json"))["hypotheses"][0]["tokens"]
target = [1] + [piece["id"] for piece in pieces[:-1]]
inputs = torch.tensor([source]), torch.tensor([target])
for name, model in (("torch.nn", load(run)), ("TorchScript", torch.jit.load(folder + "/module/model.pt"))):
    with torch.no_grad():
        log_probs = torch.log_softmax(model(*inputs), -1)[0]
    worst = max(abs(log_probs[t, piece["id"]].item() - piece["log_prob"]) for t, piece in enumerate(pieces))
    print(f"{name}: {len(pieces)} pieces, at most {worst:.2g} nats apart")
    assert len(pieces) > 10 and worst < 1e-3
PYTHON
"$python" "$folder/check.py" "$folder" "$run"
