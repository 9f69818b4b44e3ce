#!/usr/bin/env python3
"""Computes every expected.json beside it from the random checkpoints, with an independent implementation.

    ninja -C build write_random_checkpoints && build/bin/write_random_checkpoints FOLDER
    expected.py PATH/TO/hf_reference.py FOLDER [NAME...]

hf_reference.py needs numpy and SentencePiece: load_model, load_tokenizer, expected_entry and a class Gpt2Tokenizer.
hf_reference_more.py, in the same folder, has the same functions for the families in MORE.
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
             "é vs é 👩‍👩‍👧 Привет العربية ½ Ⅷ ٣", " ", "▁under▁line", "Hello </s> world", "<pad> and <unk>.", "x \n y   z",
             "de\u0301ja\u0300 vu", "a\u000b b\u0085 c\u000b\u000bd"]  # fmt: skip
# For the normalizers of encoders.
ENCODED = ["İstanbul ΟΔΥΣΣΕΥΣ Straße ﬁne ½ ① Å", "\x00zero\u200bwidth\ufeff \u202eRTL", "[CLS] in [SEP] and [MASK] <mask> too",
           "ＦＵＬＬ ｗｉｄｔｈ 안녕하세요 \u1112\u1161\u11ab 我爱你，呢？", "don't!?... a-b_c", "a" * 101, "नमस्ते ab̀çḍe 👩\u200d👧"]  # fmt: skip
# Kind of attention, layer, head: one of each kind, and in language models one of each layer.
HEADS = {"marian": [("encoder", 1, 1), ("decoder", 0, 0), ("cross", 0, 1)],
         "t5": [("encoder", 1, 2), ("decoder", 0, 1), ("cross", 0, 0)],
         "t5-v1_1": [("encoder", 1, 2), ("decoder", 0, 1), ("cross", 0, 0)],
         "gpt2": [("decoder", 0, 2), ("decoder", 1, 0)],
         "llama": [("decoder", 0, 1), ("decoder", 1, 2)],
         "smollm": [("decoder", 0, 1), ("decoder", 1, 4)],
         "qwen2": [("decoder", 0, 1), ("decoder", 1, 4)],
         "llama3": [("decoder", 0, 1), ("decoder", 1, 3)]}  # fmt: skip
# The mask token of every masked language model; None: it predicts no tokens.
ENCODERS = {"bert": "[MASK]", "roberta": "<mask>", "xlm-roberta": "<mask>", "distilbert": "[MASK]", "albert": "[MASK]", "electra": None}
HEADS |= {name: [("encoder", 0, 1), ("encoder", 1, 0)] for name in ENCODERS}
# Those with a tensors.json.
DECODERS = ("gpt_neox", "gpt_neo", "phi", "opt", "bloom", "qwen3", "llama-dynamic", "mistral", "gemma2", "gemma3")
TRANSLATORS = ("bart", "mbart", "m2m_100", "pegasus")
HEADS |= {name: [("decoder", 0, 1), ("decoder", 1, 2)] for name in DECODERS}
HEADS |= {name: [("encoder", 1, 1), ("decoder", 1, 3), ("cross", 0, 2)] for name in TRANSLATORS}
MORE = ("qwen2", "llama3", *ENCODERS, *DECODERS, *TRANSLATORS)
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


def load_reference(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    return reference


def ids_of(encoded):
    return encoded[0] if isinstance(encoded, tuple) else encoded  # hf_reference_more.py adds the token types


class More:
    """hf_reference_more.py behind the interface of hf_reference.py: its texts may come in pairs."""

    def __init__(self, path):
        self.functions = load_reference(path)
        self.load_model, self.load_tokenizer = self.functions.load_model, self.functions.load_tokenizer

    def encoder_entries(self, model, tokenizer, name):
        mask = ENCODERS[name] or "[MASK]"
        texts = {n: (text, None) for n, text in TEXTS.items()}
        texts |= {"masked": (f"The {mask} didn't cross the {mask}.", None), "pair": ("Who wrote this?", f"It was {mask} by him.")}
        entries = [self.functions.expected_entry(model, tokenizer, n, a, b, 0, HEADS[name]) for n, (a, b) in texts.items()]
        for entry in entries:
            for key in ("pooled", "pair_logits", "states"):
                entry.pop(key, None)
        return entries

    def expected_entry(self, model, tokenizer, name, text, max_new_tokens, heads):
        return self.functions.expected_entry(model, tokenizer, name, text, None, max_new_tokens, heads)


def main():
    one = load_reference(sys.argv[1])
    more = More(os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "hf_reference_more.py"))
    for name in sys.argv[3:] or HEADS:
        reference = more if name in MORE else one
        folder = os.path.join(sys.argv[2], name)
        model = reference.load_model(folder)
        tokenizer = smollm_tokenizer(reference, folder) if name == "smollm" else reference.load_tokenizer(folder)
        if name in ENCODERS:
            expected = {"inputs": more.encoder_entries(model, tokenizer, name),
                        "tokenizer_only": [{"text": text, "ids": ids_of(tokenizer.encode(text))} for text in [*TOKENIZED, *ENCODED]]}  # fmt: skip
            with open(os.path.join(HERE, name, "expected.json"), "w") as f:
                json.dump(expected, f, ensure_ascii=False, indent=None)
                f.write("\n")
            continue
        inputs = [reference.expected_entry(model, tokenizer, n, text, MAX_NEW_TOKENS, HEADS[name]) for n, text in TEXTS.items()]
        for entry in inputs:
            del entry["states"]
        expected = {"max_new_tokens": MAX_NEW_TOKENS, "inputs": inputs,
                    "tokenizer_only": [{"text": text, "ids": ids_of(tokenizer.encode(text))} for text in TOKENIZED]}  # fmt: skip
        with open(os.path.join(HERE, name, "expected.json"), "w") as f:
            json.dump(expected, f, ensure_ascii=False, indent=None)
            f.write("\n")
        print(name, [(e["name"], len(e["ids"]), e["greedy"]["text"][:30], e["greedy"]["smallest_gap"]) for e in inputs])


if __name__ == "__main__":
    main()
