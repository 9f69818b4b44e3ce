"""Reads what attnscope writes into numpy arrays: runs, captures, and the JSON of its commands.

    run = attnscope_run.Run("my-run")
    run.metrics["loss"]                          # over run.metrics["step"]
    sentence = run.sentences[0]                  # a pinned sentence, with its frames
    sentence.frames[-1].encoder                  # layers × heads × queries × keys
    sentence.head("encoder", 1, 0)               # list of the frames' matrices: layer 2, head 1
    run.weights()["embedding.weight"]            # the embeddings: vocabulary × d_model
    attnscope_run.read_json("attend.json")["cross"]

Needs numpy only. The manual's page "Share results" draws a head over training with matplotlib.
"""
import json
import os

import numpy

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "?"}


def read_safetensors(path):
    """Returns the arrays by name, and the metadata. bfloat16 becomes float32."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8:8 + length])
        metadata = header.pop("__metadata__", {})
        arrays = {name: tensor_of(data[8 + length:], **tensor) for name, tensor in header.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: is not a safetensors file ({error})") from error
    return arrays, metadata


def tensor_of(data, dtype, shape, data_offsets):
    data = data[slice(*data_offsets)]
    if dtype == "BF16":  # the upper half of a float32
        return (numpy.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4").reshape(shape)
    return numpy.frombuffer(data, DTYPES[dtype]).reshape(shape)


def read_json(path):
    """Returns a command's JSON, or the list of its lines. Lists of numbers become arrays, and lists of heads one array,
    layers × heads × queries × keys."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        return as_arrays(json.loads(text))
    except json.JSONDecodeError:
        return [as_arrays(json.loads(line)) for line in text.split("\n") if line]


def as_arrays(value):
    if isinstance(value, dict):
        return {key: as_arrays(item) for key, item in value.items()}
    if not isinstance(value, list) or not value:
        return value
    if all(isinstance(item, dict) and {"layer", "head", "weights"} <= item.keys() for item in value):
        layers = max(item["layer"] for item in value)
        maps = [numpy.array(item["weights"], "float32") for item in sorted(value, key=lambda i: (i["layer"], i["head"]))]
        return numpy.stack(maps).reshape(layers, -1, *maps[0].shape)
    items = [as_arrays(item) for item in value]
    kinds = {item.shape if isinstance(item, numpy.ndarray) else type(item) for item in items}
    return numpy.array(items) if kinds <= {int, float} or (len(kinds) == 1 and isinstance(kinds.pop(), tuple)) else items


class Frame:
    """A sentence at one step. source, target_in, target_out: lists of tokens. output: the text. encoder, decoder, cross:
    layers × heads × queries × keys. entropies: of every output's distribution, in nats. candidates: of every output,
    (token, probability). None: not recorded."""
    NAMES = ("source", "target_in", "target_out", "output", "encoder", "decoder", "cross", "entropies", "candidates")

    def __init__(self, step, values):
        self.step = step
        for name in self.NAMES:
            setattr(self, name, values.get(name))


class Sentence:
    def __init__(self, text, frames):
        self.text = text
        self.frames = sorted(frames, key=lambda frame: frame.step)
        self.steps = numpy.array([frame.step for frame in self.frames])

    def head(self, part, layer, head):
        """The head's matrix at every step, counted from 0. Their sizes differ where the output does."""
        return [getattr(frame, part)[layer, head] for frame in self.frames]


def sentences_of(arrays, texts_of, texts):
    """The arrays are named SENTENCE/STEP/NAME."""
    frames = {}
    for name, array in arrays.items():
        sentence, step, kind = name.split("/")
        frames.setdefault((int(sentence), int(step)), {})[kind] = array
    return [Sentence(text, [Frame(step, {**arrays, **texts_of(number, step, arrays)}) for (index, step), arrays
                            in frames.items() if index == number]) for number, text in enumerate(texts)]


def read_capture(path):
    """Returns the sentences of a capture. Hidden states and logits: see read_safetensors."""
    arrays, metadata = read_safetensors(path)
    sentences = json.loads(metadata["sentences"])

    def texts_of(number, step, _):
        texts = {**sentences[number], **sentences[number].get("steps", {}).get(str(step), {})}
        predictions = texts.get("predictions", [])
        return {"source": texts.get("source"), "target_in": texts.get("target"), "output": texts.get("output_text"),
                "target_out": texts.get("output", texts.get("target")),
                "entropies": numpy.array([each["entropy"] for each in predictions]),
                "candidates": [[tuple(candidate) for candidate in each["candidates"]] for each in predictions]}

    return sentences_of(arrays, texts_of, [sentence.get("text", "") for sentence in sentences])


class Run:
    """A run's folder. config: as in config.json. metrics: arrays by name, NaN at steps that did not measure it."""

    def __init__(self, folder):
        self.folder = folder
        self.config = read_json(os.path.join(folder, "config.json"))
        files = os.listdir(folder)
        self.metrics = self.read_metrics() if "metrics.jsonl" in files else {}
        self.sentences = self.read_history() if "history.safetensors" in files else []

    def weights(self, name="model.safetensors"):
        """The weights by PyTorch's parameter names. name: another file, such as checkpoints/00001200.safetensors."""
        return read_safetensors(os.path.join(self.folder, name))[0]

    def read_metrics(self):
        path = os.path.join(self.folder, "metrics.jsonl")
        with open(path, encoding="utf-8") as file:  # a last line without line end was not written completely
            points = [json.loads(line) for line in file if line.endswith("\n")]
        keys = dict.fromkeys(key for point in points for key in point)
        return {key: numpy.array([numpy.nan if point.get(key) is None else point[key] for point in points]) for key in keys}

    def read_history(self):
        arrays, metadata = read_safetensors(os.path.join(self.folder, "history.safetensors"))
        history = json.loads(metadata["history"])
        tokens = [text for _, text in history["tokens"]]

        def texts_of(number, step, arrays):
            texts = {side: [tokens[i] for i in arrays[side]] for side in ("source", "target_in", "target_out") if side in arrays}
            pairs = [(tokens[i], float(p)) for i, p in zip(arrays["candidates"], arrays["probabilities"])]
            counts, ends = arrays["candidate_counts"], numpy.cumsum(arrays["candidate_counts"])
            texts["candidates"] = [pairs[end - count:end] for end, count in zip(ends, counts)]
            frames = history["sentences"][number]["frames"]
            return dict(texts, output=next(frame["output"] for frame in frames if frame["step"] == step))

        return sentences_of(arrays, texts_of, [sentence["text"] for sentence in history["sentences"]])
