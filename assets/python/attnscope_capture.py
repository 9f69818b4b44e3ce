"""Writes captures: attention and tokens of any program, which attnscope opens without the model.

    capture = attnscope_capture.Capture()
    capture.add(tokens, attention)  # a list of strings; layers × heads × queries × keys
    capture.save("mine.safetensors")  # attnscope mine.safetensors

Needs numpy only; torch tensors are accepted wherever arrays are. The manual's page "Captures" has examples.
"""
import json
import os
import struct

import numpy

KINDS = {"encoder": ("source", "source"), "decoder": ("target", "target"), "cross": ("target", "source")}


def as_array(values, dimensions, name):
    """Returns float32 or float16 with that many dimensions. Layers may be a list; a batch must have one item."""
    if isinstance(values, (list, tuple)):
        values = numpy.stack([as_array(layer, None, name) for layer in values])
    if hasattr(values, "detach"):  # a torch tensor, which numpy cannot read in bfloat16
        values = values.detach().cpu().float().numpy()
    array = numpy.asarray(values)
    if array.dtype != numpy.float16:
        array = array.astype(numpy.float32)
    if dimensions and array.ndim == dimensions + 1:  # layers × batch × …
        if array.shape[1] != 1:
            raise ValueError(f"{name}: a batch of {array.shape[1]}, but each sentence is added on its own")
        array = array[:, 0]
    if dimensions and array.ndim != dimensions:
        raise ValueError(f"{name}: {array.ndim} dimensions {array.shape}, but {dimensions} are needed")
    return numpy.ascontiguousarray(array)


class Capture:
    """signed: the values are scores, gradients or relevance, not weights."""

    def __init__(self, signed=False):
        self.signed = signed
        self.sentences = []
        self.tensors = {}
        self.losses = {}

    def add(self, source=None, encoder=None, *, target=None, decoder=None, cross=None, hidden=None, logits=None,
            candidates=None, step=0, sentence=None, loss=None, **facts):
        """Adds one step of a sentence. Returns the sentence's number, which further steps pass as `sentence`.

        source, target: lists of tokens. encoder (source × source), decoder (target × target), cross (target ×
        source): attention of every layer and head, at least one of them. hidden: layers + 1 × tokens × d_model.
        logits: target tokens × candidates. facts: text, labels={"model": …}, grid=(rows, columns) of the image patches
        that are the last source tokens, sentence_b (index of its first token), output, output_text, forced.
        """
        texts = {key: value for key, value in dict(facts, source=source, target=target).items() if value is not None}
        count = {"source": len(source or []), "target": len(target or [])}
        number = len(self.sentences) if sentence is None else sentence
        arrays = {}
        for kind, values in {"encoder": encoder, "decoder": decoder, "cross": cross}.items():
            if values is None:
                continue
            name = f"sentence {number}, step {step}, {kind}"
            arrays[kind] = as_array(values, 4, name)
            for side, found, what in zip(KINDS[kind], arrays[kind].shape[2:], ("queries", "keys")):
                if found != count[side]:
                    raise ValueError(f"{name}: {found} {what}, but {count[side]} {side} tokens")
        if not arrays:
            raise ValueError(f"sentence {number}, step {step}: neither encoder, decoder nor cross")
        if hidden is not None:
            arrays["hidden"] = as_array(hidden, 3, f"sentence {number}, step {step}, hidden")
        if logits is not None:
            arrays["logits"] = as_array(logits, None, "logits")
            texts["candidates"] = list(candidates)
        if sentence is None:
            self.sentences.append(texts)
        elif any(self.sentences[number].get(key) != value for key, value in texts.items()):
            self.sentences[number].setdefault("steps", {})[str(step)] = texts
        self.tensors.update({f"{number}/{step}/{kind}": array for kind, array in arrays.items()})
        if loss is not None:
            self.losses[str(step)] = float(loss)
        return number

    def save(self, path):
        """Writes the file under a temporary name first: an existing one is replaced completely or not at all."""
        metadata = {"format": "attnscope-capture", "version": "1", "signed": "true" if self.signed else "false",
                    "sentences": json.dumps(self.sentences), "loss": json.dumps(self.losses)}
        header, end = {"__metadata__": metadata}, 0
        tensors = sorted(self.tensors.items(), key=lambda item: (-item[1].itemsize, item[0]))
        for name, array in tensors:
            dtype = f"F{8 * array.itemsize}"
            header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": [end, end + array.nbytes]}
            end += array.nbytes
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(f"{path}.tmp", "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for _, array in tensors:
                file.write(array.astype(array.dtype.newbyteorder("<")).tobytes())
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{path}.tmp", path)
