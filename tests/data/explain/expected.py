#!/usr/bin/env python3
"""Computes expected.json beside it: the margins of the shipped run under every change of explain, with an independent
implementation in float64.

    attnscope explain --run assets/english-french --corpus --json > pairs.json
    expected.py assets/english-french pairs.json

Needs numpy. margin: log p(answer) - log p(corrupted answer) after the prefix. Exchange: a row's softmax weights on the two
nouns, summed over each noun's tokens, swapped and spread evenly over the tokens.
"""
import json
import os
import struct
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
PAIRS = 6


def tensors(path):
    with open(path, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()
    return {name: np.frombuffer(data[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"]).astype(np.float64)
            for name, entry in header.items() if name != "__metadata__"}


def fields(message):
    """The length-delimited fields of a protobuf message: (number, bytes)."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 2:
            size = varint()
            yield key >> 3, message[at:at + size]
            at += size
        elif key & 7 == 0:
            varint()
        else:
            at += 4 if key & 7 == 5 else 8


def vocabulary(path):
    with open(path, "rb") as f:
        pieces = [body for number, body in fields(f.read()) if number == 1]
    return {next(body for number, body in fields(piece) if number == 1).decode(): i for i, piece in enumerate(pieces)}


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Run:
    def __init__(self, folder):
        self.p = tensors(os.path.join(folder, "model.safetensors"))
        self.ids = vocabulary(os.path.join(folder, "tokenizer.model"))
        with open(os.path.join(folder, "config.json")) as f:
            model = json.load(f)["model"]
        self.heads, self.clip, self.epsilon = model["num_heads"], model["max_distance"], model["norm_epsilon"]
        self.layers = model["num_encoder_layers"]

    def linear(self, x, name, rows=slice(None)):
        return x @ self.p[name + "weight"][rows].T + self.p[name + "bias"][rows]

    def norm(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + self.epsilon)
        return scaled * self.p[name + "weight"] + self.p[name + "bias"]

    def feed_forward(self, x, name):
        return self.linear(np.maximum(self.linear(x, name + "linear1."), 0), name + "linear2.")

    def attention(self, x, memory, name, causal, hook, site):
        """Heads' outputs before W_O, H×Q×d, after the hook; then W_O."""
        width = x.shape[1]
        d = width // self.heads
        parts = [self.p[name + "in_proj_" + kind].reshape(3, width, *rest) for kind, rest in (("weight", [width]), ("bias", []))]
        q, k, v = (y @ parts[0][i].T + parts[1][i] for i, y in enumerate((x, memory, memory)))
        split = lambda y: y.reshape(len(y), self.heads, d).transpose(1, 0, 2)
        q, k, v = split(q), split(k), split(v)
        scores = np.einsum("hqd,hkd->hqk", q, k)
        relative = name + "relative_k" in self.p
        if relative:
            distance = np.clip(np.arange(len(memory)) - np.arange(len(x))[:, None], -self.clip, self.clip) + self.clip
            scores += np.einsum("hqd,qkd->hqk", q, self.p[name + "relative_k"][distance])
        scores /= np.sqrt(d)
        if causal:
            scores = np.where(np.arange(len(memory)) > np.arange(len(x))[:, None], -np.inf, scores)
        weights = hook("weights", site, softmax(scores))
        outputs = np.einsum("hqk,hkd->hqd", weights, v)
        if relative:
            outputs += np.einsum("hqk,qkd->hqd", weights, self.p[name + "relative_v"][distance])
        outputs = hook("heads", site, outputs)
        return self.linear(outputs.transpose(1, 0, 2).reshape(len(x), width), name + "out_proj.")

    def margin(self, source, prefix, answers, hook):
        embedded = lambda tokens: self.p["embedding.weight"][[self.ids[t] for t in tokens]] * np.sqrt(128)
        x = embedded(source)
        for i in range(self.layers):
            name = f"encoder.layers.{i}."
            x = self.norm(x + self.attention(x, x, name + "self_attn.", False, hook, ("encoder", i)), name + "norm1.")
            x = hook("state", ("encoder", i + 1), self.norm(x + self.feed_forward(x, name), name + "norm2."))
        memory = self.norm(x, "encoder.norm.")
        x = embedded(["<s>"] + prefix)
        name = "decoder.layers.0."
        x = self.norm(x + self.attention(x, x, name + "self_attn.", True, hook, ("decoder", 0)), name + "norm1.")
        x = self.norm(x + self.attention(x, memory, name + "multihead_attn.", False, hook, ("cross", 0)), name + "norm2.")
        x = self.norm(self.norm(x + self.feed_forward(x, name), name + "norm3."), "decoder.norm.")
        logits = self.p["embedding.weight"] @ x[-1]
        return float(logits[self.ids[answers[0]]] - logits[self.ids[answers[1]]])


def subsets(heads):
    """(name, heads) of every subset."""
    for bits in range(1, 1 << heads):
        chosen = [h for h in range(heads) if bits >> h & 1]
        names = "all heads" if len(chosen) == heads else f"head {chosen[0] + 1}"
        yield names, chosen


def positions_of(tokens):
    """Words, as lists of positions: a word begins with the mark, punctuation is its own."""
    words = []
    for i, token in enumerate(tokens):
        if token.startswith("▁") or token in (".", "</s>"):
            words.append([])
        words[-1].append(i)
    return words


def case_of(run, clean, corrupted, facts):
    tokens, other_tokens, prefix, answers = facts["tokens"], facts["corrupted"], facts["prefix"], facts["answers"]
    words = {"".join(tokens[i] for i in word).lstrip("▁"): word for word in positions_of(tokens)}
    names = clean.rstrip(".").split() + ["."]
    noun = lambda i: words[names[i]]
    at = {"it": words["it"], ".": words["."], "adjective": noun(-2), "antecedent": noun(1), "other noun": noun(names.index("because") - 1)}
    kept = {}

    def keep(kind, site, value):
        kept[kind, site] = value
        return value

    corrupted_margin = run.margin(other_tokens, prefix, answers, keep)
    other, kept = kept, {}
    margin = run.margin(tokens, prefix, answers, keep)
    own = kept

    def with_patch(kind, site, heads, rows):
        def hook(this, here, value):
            if (this, here) != (kind, site):
                return value
            made = value.copy()
            if kind == "state":
                made[rows] = other[kind, site][rows]
            else:
                made[np.ix_(heads, rows)] = other[kind, site][np.ix_(heads, rows)]
            return made
        return run.margin(tokens, prefix, answers, hook)

    def with_exchange(layer, heads, rows):
        one, two = at["antecedent"], at["other noun"]

        def hook(this, here, value):
            if (this, here) != ("weights", ("encoder", layer)):
                return value
            made = value.copy()
            for h in heads:
                for row in rows:
                    first, second = value[h, row, one].sum(), value[h, row, two].sum()
                    made[h, row, one], made[h, row, two] = second / len(one), first / len(two)
            return made
        return run.margin(tokens, prefix, answers, hook)

    sets = {"it": at["it"], ".": at["."], "it and .": at["it"] + at["."]}
    figures = {}
    for layer in range(1, run.layers + 1):
        group = figures["encoder output" if layer == run.layers else f"residual stream before layer {layer + 1}"] = {}
        for name, rows in sets.items():
            group[name] = with_patch("state", ("encoder", layer), None, rows)
        group["all but it and ."] = with_patch("state", ("encoder", layer), None,
                                               [i for i in range(len(tokens)) if i not in sets["it and ."]])
    for layer in range(run.layers):
        figures[f"layer {layer + 1} head output at it and ."] = {
            name: with_patch("heads", ("encoder", layer), heads, sets["it and ."]) for name, heads in subsets(run.heads)}
    for part, label in (("decoder", "self"), ("cross", "cross")):
        figures[f"decoder layer 1 {label}-attention output at the step"] = {
            name: with_patch("heads", (part, 0), heads, [len(prefix)]) for name, heads in subsets(run.heads)}
    exchanged = {f"{name}, {word}": with_exchange(1, heads, rows)
                 for name, heads in subsets(run.heads) for word, rows in sets.items()}
    weights = {f"layer {layer + 1} head {h + 1}, {word} → {role}":
               float(own["weights", ("encoder", layer)][h][np.ix_(at[word], at[role])].sum(1).mean())
               for layer in range(run.layers) for h in range(run.heads) for word in ("it", ".")
               for role in ("antecedent", "other noun", "adjective")}
    return {"sentence": clean, "corrupted": corrupted, "answer": answers[0], "corrupted answer": answers[1], "positions": at,
            "margin": margin, "corrupted margin": corrupted_margin, "margin with these from the corrupted sentence": figures,
            "margin with the two nouns' weights exchanged in layer 2": exchanged, "weights": weights}


def main():
    folder, pairs = sys.argv[1:]
    run = Run(folder)
    with open(pairs) as f:
        found = json.load(f)
    answers = [t.lstrip("▁") for t in found["between"]]
    cases = []
    for pair in found["pairs"]["pairs"][:PAIRS]:
        facts = json.loads(os.popen(f"{os.environ.get('ATTNSCOPE', 'attnscope')} explain --json --run {folder} "
                                    f"--clean \"{pair['clean']}\" --corrupted \"{pair['corrupted']}\"").read())
        cases.append(case_of(run, pair["clean"], pair["corrupted"],
                             {"tokens": facts["clean"]["tokens"], "corrupted": facts["corrupted"]["tokens"],
                              "prefix": facts["prefix"], "answers": answers}))
    with open(os.path.join(HERE, "expected.json"), "w") as f:
        json.dump({"cases": cases}, f, ensure_ascii=False, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
