#!/usr/bin/env python3
"""A run exported as a HuggingFace folder, against an independent implementation of the families:

    export_check.py PATH/TO/hf_reference.py ATTNSCOPE TEXT RUN…

Every piece that attnscope writes of the text must be as probable there. Needs numpy and python3-sentencepiece."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

import numpy as np


def main():
    path, attnscope, text = sys.argv[1:4]
    spec = importlib.util.spec_from_file_location("hf_reference", path)
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    for run in sys.argv[4:]:
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            subprocess.run([attnscope, "export", "--quiet", "--run", run, "--format", "hf", out], check=True)
            written = subprocess.run([attnscope, "translate", "--run", run, "--json", "--limit", "12"], input=text + "\n",
                                     capture_output=True, text=True, check=True).stdout  # fmt: skip
            pieces = json.loads(written)["hypotheses"][0]["pieces"]
            model, tokenizer = reference.load_model(out), reference.load_tokenizer(out)
            ids, new = tokenizer.encode(text), [piece["id"] for piece in pieces]
            if model.seq2seq:
                fed = [model.decoding("decoder_start_token_id")] + new[:-1]
                logits = model.decode(fed, model.encode(ids))
            else:
                ids = reference.prompt(model, ids)
                logits = model.forward(ids + new[:-1])[len(ids) - 1 :]
            best = logits.max(-1, keepdims=True)
            log_probs = logits - best - np.log(np.exp(logits - best).sum(-1, keepdims=True))
            worst = max(abs(log_probs[t, id] - pieces[t]["log_prob"]) for t, id in enumerate(new))
            print(f"{run}: {model.config['model_type']}, {len(new)} pieces, at most {worst:.2g} nats apart")
            if worst > 1e-3:
                sys.exit(1)


if __name__ == "__main__":
    main()
