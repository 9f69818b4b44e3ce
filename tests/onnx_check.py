#!/usr/bin/env python3
"""A run exported as an ONNX model, against onnxruntime:

    onnx_check.py ATTNSCOPE TEXT RUN…

Every piece that attnscope writes of the text must be as probable there. Needs python3-onnxruntime (Debian 13)."""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime


def said(attnscope, *arguments, text=None):
    return json.loads(subprocess.run([attnscope, *arguments, "--json"], input=text, capture_output=True, text=True, check=True).stdout)  # fmt: skip


def log_probs(logits):
    best = logits.max(-1, keepdims=True)
    return logits - best - np.log(np.exp(logits - best).sum(-1, keepdims=True))


def main():
    attnscope, text = sys.argv[1:3]
    for run in sys.argv[3:]:
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            subprocess.run([attnscope, "export", "--quiet", "--run", run, "--format", "onnx", out], check=True)
            model = onnxruntime.InferenceSession(os.path.join(out, "model.onnx"), providers=["CPUExecutionProvider"])
            written = said(attnscope, "translate", "--run", run, "--limit", "12", text=text + "\n")
            pieces = written["hypotheses"][0]["pieces"]
            new = [piece["id"] for piece in pieces]
            look = {key: [token["id"] for token in tokens]
                    for key, tokens in said(attnscope, "attend", "--run", run, "--source", text).items()
                    if key in ("source", "target_in", "target_out")}  # fmt: skip
            # What stands before the first piece written: the start piece, or a language model's text.
            begin = next(t for t, id in enumerate(look["target_out"]) if look["target_out"][t : t + len(new)] == new)
            fed = look["target_in"][: begin + 1] + new[:-1]
            inputs = {"target": np.array([fed])}
            if look["source"]:
                inputs["source"] = np.array([look["source"]])
            found = log_probs(model.run(None, inputs)[0][0])[len(fed) - len(new) :]
            worst = max(abs(found[t, id] - pieces[t]["log_prob"]) for t, id in enumerate(new))
            print(f"{run}: {len(new)} pieces, at most {worst:.2g} nats apart")
            if worst > 1e-3:
                sys.exit(1)


if __name__ == "__main__":
    main()
