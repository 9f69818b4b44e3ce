#!/usr/bin/env python3
"""Computes every expected.json beside it from the random checkpoints, with an independent implementation.

    ninja -C build write_random_checkpoints && build/bin/write_random_checkpoints FOLDER
    expected.py PATH/TO/hf_reference.py FOLDER [NAME...]

hf_reference.py needs numpy and SentencePiece: load_model, load_tokenizer, expected_entry and a class Gpt2Tokenizer.
"""
import importlib.util
import json
import os
import sys
import tempfile
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = {"empty": "", "word": "street", "unicode": "“Déjà vu?” – 3½ km… 東京 & ﬁne 🙂!",
         "animal": "The animal didn't cross the street because it was too tired."}  # fmt: skip
TOKENIZED = [" two  spaces\tand a tab", "line one\nline two\r\n", "don't we'll I'VE they're", "a\u00a0b\u202fc\u3000d",
             "é vs é 👩‍👩‍👧 Привет العربية ½ Ⅷ ٣", " ", "▁under▁line", "Hello </s> world", "<pad> and <unk>.", "x \n y   z"]  # fmt: skip
# Kind of attention, layer, head: one of each kind, and in language models one of each layer.
HEADS = {"marian": [("encoder", 1, 1), ("decoder", 0, 0), ("cross", 0, 1)],
         "t5": [("encoder", 1, 2), ("decoder", 0, 1), ("cross", 0, 0)],
         "t5-v1_1": [("encoder", 1, 2), ("decoder", 0, 1), ("cross", 0, 0)],
         "gpt2": [("decoder", 0, 2), ("decoder", 1, 0)],
         "llama": [("decoder", 0, 1), ("decoder", 1, 2)],
         "smollm": [("decoder", 0, 1), ("decoder", 1, 4)]}  # fmt: skip
MAX_NEW_TOKENS = 12


def smollm_tokenizer(reference, folder):
    """SmolLM's tokenizer.json: GPT-2's tokenizer, but every digit is a token and the special tokens are named."""
    with open(os.path.join(folder, "tokenizer.json")) as f:
        file = json.load(f)
    specials = [token["content"] for token in file["added_tokens"]]

    class SmolTokenizer(reference.Gpt2Tokenizer):
        def encode(self, text, side="source", end=True):
            ids = []
            for part, special in reference.split_specials(text, specials, strip=False):
                if special:
                    ids.append(self.vocab[part])
                    continue
                cuts = "".join(f"\0{c}\0" if unicodedata.category(c)[0] == "N" else c for c in part).split("\0")
                for word in (word for cut in cuts for word in reference.gpt2_split(cut)):
                    ids += [self.vocab[p] for p in self.merge(self.letters[b] for b in word.encode("utf-8"))]
            return ids

    with tempfile.TemporaryDirectory() as plain:
        with open(os.path.join(plain, "vocab.json"), "w") as f:
            json.dump(file["model"]["vocab"] | {token["content"]: token["id"] for token in file["added_tokens"]}, f)
        with open(os.path.join(plain, "merges.txt"), "w") as f:
            f.write("\n".join(" ".join(merge) for merge in file["model"]["merges"]))
        tokenizer = SmolTokenizer(plain, None)
    tokenizer.specials = specials
    return tokenizer


def main():
    spec = importlib.util.spec_from_file_location("hf_reference", sys.argv[1])
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    for name in sys.argv[3:] or HEADS:
        folder = os.path.join(sys.argv[2], name)
        model = reference.load_model(folder)
        tokenizer = smollm_tokenizer(reference, folder) if name == "smollm" else reference.load_tokenizer(folder)
        inputs = [reference.expected_entry(model, tokenizer, n, text, MAX_NEW_TOKENS, HEADS[name]) for n, text in TEXTS.items()]
        for entry in inputs:
            del entry["states"]
        expected = {"max_new_tokens": MAX_NEW_TOKENS, "inputs": inputs,
                    "tokenizer_only": [{"text": text, "ids": tokenizer.encode(text)} for text in TOKENIZED]}  # fmt: skip
        with open(os.path.join(HERE, name, "expected.json"), "w") as f:
            json.dump(expected, f, ensure_ascii=False, indent=None)
            f.write("\n")
        print(name, [(e["name"], len(e["ids"]), e["greedy"]["text"][:30], e["greedy"]["smallest_gap"]) for e in inputs])


if __name__ == "__main__":
    main()
