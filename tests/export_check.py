#!/usr/bin/env python3
"""A run exported for another program, against that program:

    export_check.py PATH/TO/hf_reference.py ATTNSCOPE TEXT RUN…   a HuggingFace folder, an independent implementation
    export_check.py onnxruntime ATTNSCOPE TEXT RUN…               an ONNX model, onnxruntime (Debian 13: python3-onnxruntime)

Every piece that attnscope writes of the text must be as probable there. Needs numpy; the former python3-sentencepiece."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

import numpy as np


def said(attnscope, *arguments, text=None):
    return json.loads(subprocess.run([attnscope, *arguments, "--json"], input=text, capture_output=True, text=True,
                                     check=True).stdout)  # fmt: skip


def export(attnscope, run, form, folder):
    subprocess.run([attnscope, "export", "--quiet", "--run", run, "--format", form, folder], check=True)


class HuggingFace:
    def __init__(self, path):
        spec = importlib.util.spec_from_file_location("hf_reference", path)
        self.reference = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.reference)

    def logits(self, attnscope, run, text, new, folder):
        """Of the pieces `new`, each after those before it."""
        export(attnscope, run, "hf", folder)
        model, ids = self.reference.load_model(folder), self.reference.load_tokenizer(folder).encode(text)
        if model.seq2seq:
            return model.decode([model.decoding("decoder_start_token_id")] + new[:-1], model.encode(ids))
        ids = self.reference.prompt(model, ids)
        return model.forward(ids + new[:-1])[len(ids) - 1 :]


class Onnx:
    def __init__(self):
        self.runtime = importlib.import_module("onnxruntime")

    def logits(self, attnscope, run, text, new, folder):
        export(attnscope, run, "onnx", folder)
        model = self.runtime.InferenceSession(os.path.join(folder, "model.onnx"), providers=["CPUExecutionProvider"])
        look = said(attnscope, "attend", "--run", run, "--source", text)
        source, fed, written = ([token["id"] for token in look[key]] for key in ("source", "target_in", "target_out"))
        # The decoder's input before the first generated token: the start token, or a language model's text.
        begin = next(t for t in range(len(written)) if written[t : t + len(new)] == new)
        inputs = {"target": np.array([fed[: begin + 1] + new[:-1]])}
        if source:
            inputs["source"] = np.array([source])
        return model.run(None, inputs)[0][0][begin:]


def main():
    other, attnscope, text = sys.argv[1:4]
    program = Onnx() if other == "onnxruntime" else HuggingFace(other)
    for run in sys.argv[4:]:
        written = said(attnscope, "translate", "--run", run, "--limit", "12", text=text + "\n")
        pieces = written["hypotheses"][0]["tokens"]
        with tempfile.TemporaryDirectory() as folder:
            new = [piece["id"] for piece in pieces]
            logits = program.logits(attnscope, run, text, new, os.path.join(folder, "out"))
        best = logits.max(-1, keepdims=True)
        log_probs = logits - best - np.log(np.exp(logits - best).sum(-1, keepdims=True))
        worst = max(abs(log_probs[t, piece["id"]] - piece["log_prob"]) for t, piece in enumerate(pieces))
        print(f"{run}: {len(pieces)} pieces, at most {worst:.2g} nats apart")
        if worst > 1e-3:
            sys.exit(1)


if __name__ == "__main__":
    main()
