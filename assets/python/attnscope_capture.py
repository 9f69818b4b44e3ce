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


def as_array(values, dimensions, name, signed=True, batch=1):
    """Returns float32 or float16 with so many dimensions. Layers may be a list; axis `batch` may hold one item."""
    if isinstance(values, (list, tuple)):
        values = numpy.stack([as_array(layer, None, name) for layer in values])
    if hasattr(values, "detach"):  # a torch tensor, which numpy cannot read in bfloat16
        values = values.detach().cpu().float().numpy()
    array = numpy.asarray(values)
    array = array if array.dtype == numpy.float16 else array.astype(numpy.float32)
    if dimensions and array.ndim == dimensions + 1 and array.shape[batch] == 1:
        array = array.squeeze(batch)
    if dimensions and array.ndim != dimensions:
        raise ValueError(f"{name}: {array.ndim} dimensions {array.shape}, but {dimensions} are needed, of one sentence")
    if not signed and (array < 0).any():
        raise ValueError(f"{name}: {array.min()} is no weight; use Capture(signed=True) for other values")
    if not (array < numpy.inf).all():
        raise ValueError(f"{name}: some values are NaN or infinite")
    return numpy.ascontiguousarray(array)


class Capture:
    """signed: the values are scores, gradients or relevance, not weights."""

    def __init__(self, signed=False):
        self.signed, self.sentences, self.tensors, self.losses = signed, [], {}, {}

    def add(self, source=None, encoder=None, *, target=None, decoder=None, cross=None, hidden=None, logits=None,
            candidates=None, step=0, sentence=None, loss=None, text=None, labels=None, grid=None, sentence_b=None,
            output=None, output_text=None, forced=None):
        """Adds one step of a sentence. Returns the sentence's number, which further steps pass as `sentence`.

        source, target: lists of tokens. encoder (source × source), decoder (target × target), cross (target ×
        source): attention of every layer and head, at least one of them. hidden: layers + 1 × tokens × d_model.
        logits: target tokens × candidates. labels: {"model": …}. grid: (rows, columns) of the image patches, the last
        source tokens. sentence_b: index of its first token. The manual explains output, output_text and forced.
        """
        texts = dict(source=source, target=target, text=text, labels=labels, grid=grid, sentence_b=sentence_b,
                     output=output, output_text=output_text, forced=forced)
        texts = {key: value for key, value in texts.items() if value is not None}
        count = {"source": len(source or []), "target": len(target or [])}
        number = len(self.sentences) if sentence is None else sentence
        where = f"sentence {number}, step {step}"
        arrays = {kind: as_array(values, 4, f"{where}, {kind}", self.signed)
                  for kind, values in zip(KINDS, (encoder, decoder, cross)) if values is not None}
        if not arrays:
            raise ValueError(f"{where}: neither encoder, decoder nor cross")
        for kind, array in arrays.items():
            for side, found, what in zip(KINDS[kind], array.shape[2:], ("queries", "keys")):
                if found != count[side]:
                    raise ValueError(f"{where}, {kind}: {found} {what}, but {count[side]} {side} tokens")
        if hidden is not None:
            arrays["hidden"] = as_array(hidden, 3, f"{where}, hidden")
        if logits is not None:
            texts["candidates"] = list(candidates or [])
            arrays["logits"] = as_array(logits, 2, f"{where}, logits", batch=0)
            needed = (count["target"], len(texts["candidates"]))
            if arrays["logits"].shape != needed:
                raise ValueError(f"{where}, logits: shape {arrays['logits'].shape}, but tokens, candidates: {needed}")
        if sentence is None:
            self.sentences.append(texts)
        elif any(self.sentences[number].get(key) != value for key, value in texts.items()):
            self.sentences[number].setdefault("steps", {})[str(step)] = texts
        self.tensors.update({f"{number}/{step}/{kind}": array for kind, array in arrays.items()})
        self.losses.update({} if loss is None else {str(step): float(loss)})
        return number

    def save(self, path):
        """Writes the file under a temporary name first: an existing one is replaced completely or not at all."""
        metadata = {"format": "attnscope-capture", "version": "1", "signed": "true" if self.signed else "false",
                    "sentences": json.dumps(self.sentences), "loss": json.dumps(self.losses)}
        header, end = {"__metadata__": metadata}, 0
        tensors = sorted(self.tensors.items(), key=lambda item: (-item[1].itemsize, item[0]))
        for name, array in tensors:
            header[name] = {"dtype": f"F{8 * array.itemsize}", "shape": array.shape,
                            "data_offsets": [end, end + array.nbytes]}
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
