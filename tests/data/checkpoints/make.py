#!/usr/bin/env python3
"""Writes the small checkpoints beside it: random weights in the layouts of HuggingFace's families, tokenizers trained on
the sentences below, and what an independent implementation makes of them.

    make.py PATH/TO/hf_reference.py

Needs numpy and python3-sentencepiece. Nothing here was trained or written by others.
"""
import importlib.util
import json
import os
import struct
import sys
import tempfile
import unicodedata

import numpy as np
import sentencepiece

HERE = os.path.dirname(os.path.abspath(__file__))
ENGLISH = ["I am tired.", "The animal didn't cross the street because it was too tired.", "Where is my book?",
           "The street was too wide.", "A cat and a dog are in the garden.", "She reads an old book in the street."]  # fmt: skip
FRENCH = ["Je suis fatigué.", "L'animal n'a pas traversé la rue parce qu'il était trop fatigué.", "Où est mon livre ?",
          "La rue était trop large.", "Un chat et un chien sont dans le jardin.", "Elle lit un vieux livre dans la rue."]  # fmt: skip
TEXTS = {"empty": "", "word": "street", "unicode": "“Déjà vu?” – 3½ km… 東京 & ﬁne 🙂!", "animal": ENGLISH[1]}
TOKENIZED = [" two  spaces\tand a tab", "line one\nline two\r\n", "don't we'll I'VE they're", "a\u00a0b\u202fc\u3000d",
             "é vs é 👩‍👩‍👧 Привет العربية ½ Ⅷ ٣", " ", "▁under▁line", "Hello </s> world", "<pad> and <unk>.", "x \n y   z"]  # fmt: skip


def pieces(sentences, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m")
        with open(path + ".txt", "w") as f:
            f.write("\n".join(sentences * 3))
        sentencepiece.SentencePieceTrainer.train(input=path + ".txt", model_prefix=path, normalization_rule_name="identity",
                                                 character_coverage=1.0, hard_vocab_limit=False, minloglevel=2, num_threads=1, **options)  # fmt: skip
        with open(path + ".model", "rb") as f:
            return f.read()


def stored(array, dtype):
    if dtype == "BF16":  # the upper half, rounded
        return ((array.astype("<f4").view("<u4") + 0x8000) >> 16).astype("<u2").tobytes()
    return array.astype({"F32": "<f4", "F16": "<f2"}[dtype]).tobytes()


def write_tensors(path, tensors, dtype):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in tensors.items():
        raw = stored(array, dtype)
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


class Weights(dict):
    def __init__(self, seed):
        super().__init__()
        self.random = np.random.default_rng(seed)

    def normal(self, name, *shape, scale=None):
        self[name] = self.random.normal(size=shape) * (scale or 1.6 / np.sqrt(shape[-1]))

    def linear(self, name, out, into, bias=True):
        self.normal(name + ".weight", out, into)
        if bias:
            self.normal(name + ".bias", out, scale=0.3)

    def norm(self, name, d, bias=True):
        self[name + ".weight"] = self.random.uniform(0.5, 1.5, d) * self.random.choice([-1, 1], d)
        if bias:
            self.normal(name + ".bias", d, scale=0.3)


def write_json(folder, name, value):
    with open(os.path.join(folder, name), "w") as f:
        json.dump(value, f, ensure_ascii=False, indent=None)
        f.write("\n")


def write_bytes(folder, name, value):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(value)


def marian(folder):
    source, target = (pieces(text, vocab_size=90, model_type="unigram") for text in (ENGLISH, FRENCH))
    names = ["</s>", "<unk>", ">>fra<<"]
    for model in (source, target):
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        names += [p for p in map(processor.id_to_piece, range(3, processor.get_piece_size())) if p not in names]
    names.append("<pad>")
    write_bytes(folder, "source.spm", source)
    write_bytes(folder, "target.spm", target)
    write_json(folder, "vocab.json", {name: i for i, name in enumerate(names)})
    d, ff, v = 16, 24, len(names)
    write_json(folder, "config.json", {
        "model_type": "marian", "activation_function": "swish", "d_model": d, "encoder_layers": 2, "decoder_layers": 1,
        "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": ff, "decoder_ffn_dim": ff,
        "vocab_size": v, "max_position_embeddings": 96, "scale_embedding": True, "pad_token_id": v - 1,
        "decoder_start_token_id": v - 1, "eos_token_id": 0, "bad_words_ids": [[v - 1]], "num_beams": 4})  # fmt: skip
    w = Weights(1)
    w.normal("model.shared.weight", v, d, scale=0.5)
    w["model.shared.weight"][v - 1] = 0
    w.normal("final_logits_bias", 1, v, scale=0.5)
    w["final_logits_bias"][0, v - 1] = 12  # who forgets bad_words_ids writes it at once
    w["lm_head.weight"] = w["model.shared.weight"] * 0 + 7  # tied: must be passed over
    for side, layers in (("encoder", 2), ("decoder", 1)):
        for i in range(layers):
            name = f"model.{side}.layers.{i}."
            for attention in ["self_attn"] + ["encoder_attn"] * (side == "decoder"):
                for part in "qkv":
                    w.linear(f"{name}{attention}.{part}_proj", d, d)
                w.linear(f"{name}{attention}.out_proj", d, d)
                w.norm(f"{name}{attention}_layer_norm", d)
            w.linear(name + "fc1", ff, d)
            w.linear(name + "fc2", d, ff)
            w.norm(name + "final_layer_norm", d)
    write_tensors(os.path.join(folder, "model.safetensors"), w, "F16")
    return [("encoder", 1, 1), ("decoder", 0, 0), ("cross", 0, 1)]


def llama(folder):
    model = pieces(ENGLISH, vocab_size=340, model_type="bpe", byte_fallback=True, unk_id=0, bos_id=1, eos_id=2, pad_id=-1)
    write_bytes(folder, "tokenizer.model", model)
    write_json(folder, "tokenizer_config.json", {"legacy": False, "add_bos_token": True, "add_eos_token": False})
    d, heads, keys, width, ff = 20, 4, 2, 6, 28
    v = sentencepiece.SentencePieceProcessor(model_proto=model).get_piece_size()
    write_json(folder, "config.json", {
        "model_type": "llama", "hidden_act": "silu", "hidden_size": d, "intermediate_size": ff, "num_hidden_layers": 2,
        "num_attention_heads": heads, "num_key_value_heads": keys, "head_dim": width, "rms_norm_eps": 1e-5,
        "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}, "rope_scaling": None, "vocab_size": v,
        "tie_word_embeddings": True, "max_position_embeddings": 128, "bos_token_id": 1, "eos_token_id": 5})  # fmt: skip
    write_json(folder, "generation_config.json", {"bos_token_id": 1, "eos_token_id": [2]})
    w = Weights(2)
    w.normal("model.embed_tokens.weight", v, d, scale=0.7)
    for i in range(2):
        name = f"model.layers.{i}."
        w.linear(name + "self_attn.q_proj", heads * width, d, False)
        w.linear(name + "self_attn.k_proj", keys * width, d, False)
        w.linear(name + "self_attn.v_proj", keys * width, d, False)
        w.linear(name + "self_attn.o_proj", d, heads * width, False)
        w.linear(name + "mlp.gate_proj", ff, d, False)
        w.linear(name + "mlp.up_proj", ff, d, False)
        w.linear(name + "mlp.down_proj", d, ff, False)
        w.norm(name + "input_layernorm", d, False)
        w.norm(name + "post_attention_layernorm", d, False)
    w.norm("model.norm", d, False)
    shards = {"model-00001-of-00002.safetensors": {}, "model-00002-of-00002.safetensors": {}}
    for i, (name, array) in enumerate(w.items()):
        list(shards.values())[i % 2][name] = array
    for shard, tensors in shards.items():
        write_tensors(os.path.join(folder, shard), tensors, "BF16")
    write_json(folder, "model.safetensors.index.json", {"metadata": {}, "weight_map": {name: shard for shard, tensors in shards.items() for name in tensors}})  # fmt: skip
    return [("decoder", 0, 1), ("decoder", 1, 2)]


def gpt2(folder):
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters = [chr(b) for b in shown] + [chr(0x100 + n) for n in range(256 - len(shown))]
    merges = ["Ġ t", "Ġt h", "Ġth e", "r e", "Ġ a", "e t", "s t", "st re", "stre et", "w a", "Ġ wa", "Ġ 1", "Ġ1 2", "o o", "Ġt oo", "a n"]  # fmt: skip
    names = letters + ["".join(m.split()) for m in merges] + ["<|endoftext|>"]
    write_json(folder, "vocab.json", {name: i for i, name in enumerate(names)})
    write_bytes(folder, "merges.txt", ("#version: 0.2\n" + "\n".join(merges) + "\n").encode())
    d, v, positions = 18, len(names), 120
    write_json(folder, "config.json", {
        "model_type": "gpt2", "activation_function": "gelu_new", "n_embd": d, "n_head": 3, "n_layer": 2, "n_positions": positions,
        "n_inner": None, "layer_norm_epsilon": 1e-5, "vocab_size": v, "bos_token_id": v - 1, "eos_token_id": v - 1})  # fmt: skip
    w = Weights(3)
    p = "transformer."
    w.normal(p + "wte.weight", v, d, scale=0.6)
    w.normal(p + "wpe.weight", positions, d, scale=0.5)

    def conv1d(name, into, out):  # [in, out]
        w.normal(name + ".weight", into, out, scale=1.6 / np.sqrt(into))
        w.normal(name + ".bias", out, scale=0.3)

    for i in range(2):
        name = f"{p}h.{i}."
        w[name + "attn.bias"] = np.tril(np.ones((1, 1, 4, 4)))  # a mask, no weight
        conv1d(name + "attn.c_attn", d, 3 * d)
        conv1d(name + "attn.c_proj", d, d)
        conv1d(name + "mlp.c_fc", d, 4 * d)
        conv1d(name + "mlp.c_proj", 4 * d, d)
        w.norm(name + "ln_1", d)
        w.norm(name + "ln_2", d)
    w.norm(p + "ln_f", d)
    write_tensors(os.path.join(folder, "model.safetensors"), w, "F32")
    return [("decoder", 0, 2), ("decoder", 1, 0)]


def t5(folder, gated):
    model = pieces(ENGLISH + FRENCH, vocab_size=110, model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    write_bytes(folder, "spiece.model", model)
    write_json(folder, "tokenizer_config.json", {"extra_ids": 10})
    d, heads, width, ff = 20, 3, 8, 28
    v = sentencepiece.SentencePieceProcessor(model_proto=model).get_piece_size() + 10 + 6  # longer than the tokenizer
    config = {"model_type": "t5", "d_model": d, "d_kv": width, "d_ff": ff, "num_heads": heads, "num_layers": 2, "vocab_size": v,
              "relative_attention_num_buckets": 32, "layer_norm_epsilon": 1e-6, "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}  # fmt: skip
    if gated:
        config |= {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "num_decoder_layers": 1}
    write_json(folder, "config.json", config)
    w = Weights(4 + gated)
    w.normal("shared.weight", v, d, scale=1.0)
    if gated:
        w.normal("lm_head.weight", v, d, scale=0.6)
    for side, layers in (("encoder", 2), ("decoder", 1 if gated else 2)):
        for i in range(layers):
            name = f"{side}.block.{i}.layer."
            kinds = ["SelfAttention"] + ["EncDecAttention"] * (side == "decoder")
            for j, kind in enumerate(kinds):
                for part in "qkv":
                    w.normal(f"{name}{j}.{kind}.{part}.weight", heads * width, d, scale=0.7 / np.sqrt(d))
                w.linear(f"{name}{j}.{kind}.o", d, heads * width, False)
                w.norm(f"{name}{j}.layer_norm", d, False)
            if i == 0:
                w.normal(f"{name}0.SelfAttention.relative_attention_bias.weight", 32, heads, scale=1.0)
            j = len(kinds)
            for wi in ["wi_0", "wi_1"] if gated else ["wi"]:
                w.linear(f"{name}{j}.DenseReluDense.{wi}", ff, d, False)
            w.linear(f"{name}{j}.DenseReluDense.wo", d, ff, False)
            w.norm(f"{name}{j}.layer_norm", d, False)
        w.norm(f"{side}.final_layer_norm", d, False)
    write_tensors(os.path.join(folder, "model.safetensors"), w, "F32")
    return [("encoder", 1, 2), ("decoder", 0, 1), ("cross", 0, 0)]


# Llama's layers with GPT-2's tokenizer, in which every digit is a word, all of it in tokenizer.json.
def smollm(folder):
    gpt2(folder)
    names = json.load(open(os.path.join(folder, "vocab.json")))
    merges = open(os.path.join(folder, "merges.txt")).read().split("\n")[1:-1]
    for name in ("vocab.json", "merges.txt"):
        os.remove(os.path.join(folder, name))
    v = len(names) + 2
    added = [{"id": i, "content": text, "special": True} for i, text in ((v - 3, "<|endoftext|>"), (v - 2, "<|im_start|>"), (v - 1, "<|im_end|>"))]  # fmt: skip
    write_json(folder, "tokenizer.json", {
        "version": "1.0", "added_tokens": added, "normalizer": None, "post_processor": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True},
                          {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}]},
        "model": {"type": "BPE", "vocab": names, "merges": [m.split() for m in merges]}})  # fmt: skip
    write_json(folder, "tokenizer_config.json", {"tokenizer_class": "GPT2Tokenizer", "eos_token": "<|im_end|>", "add_prefix_space": False})
    d, heads, keys, ff = 24, 6, 2, 40
    write_json(folder, "config.json", {
        "model_type": "llama", "hidden_act": "silu", "hidden_size": d, "intermediate_size": ff, "num_hidden_layers": 2,
        "num_attention_heads": heads, "num_key_value_heads": keys, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "rope_scaling": None,
        "vocab_size": v, "tie_word_embeddings": True, "max_position_embeddings": 256, "bos_token_id": v - 2, "eos_token_id": v - 1,
        "attention_bias": False, "mlp_bias": False})  # fmt: skip
    w = Weights(6)
    w.normal("model.embed_tokens.weight", v, d, scale=0.7)
    for i in range(2):
        name = f"model.layers.{i}."
        for part, out in (("q", d), ("k", keys * d // heads), ("v", keys * d // heads), ("o", d)):
            w.linear(f"{name}self_attn.{part}_proj", out, d, False)
        w.linear(name + "mlp.gate_proj", ff, d, False)
        w.linear(name + "mlp.up_proj", ff, d, False)
        w.linear(name + "mlp.down_proj", d, ff, False)
        w.norm(name + "input_layernorm", d, False)
        w.norm(name + "post_attention_layernorm", d, False)
    w.norm("model.norm", d, False)
    write_tensors(os.path.join(folder, "model.safetensors"), w, "BF16")
    return [("decoder", 0, 1), ("decoder", 1, 4)]


def smollm_tokenizer(reference, folder):
    """The reference's GPT-2, from the one file, every digit a word."""
    file = json.load(open(os.path.join(folder, "tokenizer.json")))
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
        names = file["model"]["vocab"] | {token["content"]: token["id"] for token in file["added_tokens"]}
        write_json(plain, "vocab.json", names)
        write_bytes(plain, "merges.txt", "\n".join(" ".join(m) for m in file["model"]["merges"]).encode())
        tokenizer = SmolTokenizer(plain, None)
    tokenizer.specials = specials
    return tokenizer


FAMILIES = {"marian": marian, "llama": llama, "gpt2": gpt2, "t5": lambda f: t5(f, False), "t5-v1_1": lambda f: t5(f, True), "smollm": smollm}


def main():
    spec = importlib.util.spec_from_file_location("hf_reference", sys.argv[1])
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    for name in sys.argv[2:] or FAMILIES:
        folder = os.path.join(HERE, name)
        os.makedirs(folder, exist_ok=True)
        heads = FAMILIES[name](folder)
        model = reference.load_model(folder)
        tokenizer = smollm_tokenizer(reference, folder) if name == "smollm" else reference.load_tokenizer(folder)
        inputs = [reference.expected_entry(model, tokenizer, n, text, 12, heads) for n, text in TEXTS.items()]
        for entry in inputs:
            del entry["states"]
        tokenized = [{"text": text, "ids": tokenizer.encode(text)} for text in TOKENIZED]
        write_json(folder, "expected.json", {"max_new_tokens": 12, "inputs": inputs, "tokenizer_only": tokenized})
        print(name, [(e["name"], len(e["ids"]), e["greedy"]["text"][:30], e["greedy"]["smallest_gap"]) for e in inputs])


if __name__ == "__main__":
    main()
