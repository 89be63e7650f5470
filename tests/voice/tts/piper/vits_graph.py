"""Piper voices of the true VITS architecture with random weights and fixed durations, built without torch.

The generator, the flow and the names of their parts are those of piper's exporter. The text encoder has its
feed-forward layers and no attention, and each phoneme lasts a fixed number of frames.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from piper.phoneme_ids import DEFAULT_PHONEME_ID_MAP

IDS = 256


@dataclass(frozen=True)
class Shape:
    """Sizes of a voice; those given are "small", with the reach of piper's "medium"."""

    rate: int = 22050
    hidden: int = 16
    filters: int = 32
    encoder_layers: int = 2
    flow_layers: int = 2
    generator: int = 64
    strides: Sequence[int] = (8, 8, 4)
    kernels: Sequence[int] = (16, 16, 8)
    blocks: Sequence[tuple[int, Sequence[int]]] = ((3, (1, 2)), (5, (2, 6)), (7, (3, 12)))
    second: bool = False
    """Whether each dilated convolution is followed by one that is not ("high" voices)."""
    speakers: int = 1
    frames: int = 1
    """That a phoneme lasts."""
    tells_durations: bool = True


SMALL = Shape()
SMALL_HIGH = Shape(
    strides=(8, 8, 2, 2),
    kernels=(16, 16, 4, 4),
    blocks=tuple((kernel, (1, 3, 5)) for kernel in (3, 7, 11)),
    second=True,
)
SMALL_OF_MANY = Shape(speakers=3)
MEDIUM = Shape(hidden=192, filters=768, encoder_layers=6, flow_layers=4, generator=256, frames=2)


class Builder:
    """Collects nodes and weights."""

    def __init__(self, seed: int = 0) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._random = np.random.default_rng(seed)

    def constant(self, name: str, value: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def weight(self, name: str, *shape: int) -> str:
        inputs = int(np.prod(shape[1:]))
        return self.constant(name, self._random.normal(0, 1.5 / np.sqrt(inputs), shape).astype(np.float32))

    def op(self, kind: str, name: str, *inputs: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(kind, list(inputs), [f"{name}_output_0"], name=name, **attributes))
        return f"{name}_output_0"

    def conv(self, name: str, source: str, inputs: int, outputs: int, size: int, dilation: int = 1) -> str:
        parameter = name.strip("/").replace("/", ".")
        weights = [self.weight(f"{parameter}.weight", outputs, inputs, size), self.weight(f"{parameter}.bias", outputs)]
        pad = dilation * (size - 1) // 2
        sizes = {"kernel_shape": [size], "dilations": [dilation], "pads": [pad, pad], "strides": [1], "group": 1}
        return self.op("Conv", f"{name}/Conv", source, *weights, **sizes)

    def upsample(self, name: str, source: str, inputs: int, size: int, stride: int) -> str:
        parameter = name.strip("/").replace("/", ".")
        weight, bias = self.weight(f"{parameter}.weight", inputs, inputs // 2, size), f"{parameter}.bias"
        pad = (size - stride) // 2
        sizes = {"kernel_shape": [size], "dilations": [1], "pads": [pad, pad], "strides": [stride], "group": 1}
        return self.op(
            "ConvTranspose", f"{name}/ConvTranspose", source, weight, self.weight(bias, inputs // 2), **sizes
        )


def vits_model(shape: Shape) -> onnx.ModelProto:
    """The graph: text encoder, durations, noise, flow, generator."""
    build = Builder()
    build.constant("zero", np.int64(0))
    build.constant("one", np.int64(1))
    inputs = [("input", TensorProto.INT64, [1, "phonemes"]), ("input_lengths", TensorProto.INT64, [1])]
    inputs.append(("scales", TensorProto.FLOAT, [3]))
    speaker = None
    if shape.speakers > 1:
        inputs.append(("sid", TensorProto.INT64, [1]))
        build.constant("last_axis", np.array([2], np.int64))
        table = build.weight("emb_g.weight", shape.speakers, shape.hidden)
        speaker = build.op(
            "Unsqueeze", "/emb_g/Unsqueeze", build.op("Gather", "/emb_g/Gather", table, "sid"), "last_axis"
        )
    means = _encode(build, shape)
    latent = _flow(build, shape, _noisy(build, means))
    _generate(build, shape, build.op("Mul", "/Mul_mask", latent, build.constant("mask", np.float32(1))), speaker)
    graph = helper.make_graph(
        build.nodes,
        "vits",
        [helper.make_tensor_value_info(*tensor) for tensor in inputs],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 1, "samples"])],
        build.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def _encode(build: Builder, shape: Shape) -> str:
    """Each phoneme's features, repeated for as many frames as it lasts: [1, hidden, frames]."""
    table = build.weight("enc_p.emb.weight", IDS, shape.hidden)
    hidden = build.op("Transpose", "/enc_p/Transpose", build.op("Gather", "/enc_p/emb", table, "input"), perm=[0, 2, 1])
    for layer in range(shape.encoder_layers):
        name = f"/enc_p/encoder/ffn_layers.{layer}"
        wide = build.conv(f"{name}/conv_1", hidden, shape.hidden, shape.filters, 3)
        narrow = build.conv(f"{name}/conv_2", build.op("Relu", f"{name}/Relu", wide), shape.filters, shape.hidden, 3)
        hidden = build.op("Tanh", f"{name}/Tanh", build.op("Add", f"{name}/Add", hidden, narrow))
    lasting = build.constant("durations", np.full(IDS, shape.frames - 0.5, np.float32))
    slower = build.op("Gather", "/dp/scale", "scales", "one")
    frames = build.op("Mul", "/dp/Mul", build.op("Gather", "/dp/Gather", lasting, "input"), slower)
    frames = build.op("Ceil", "/Ceil", frames)
    if not shape.tells_durations:
        build.op("Ceil", "/Ceil_1", frames)
    ends = build.op("CumSum", "/CumSum", frames, "one")
    build.constant("column", np.array([1], np.int64))
    total = build.op("Cast", "/total", build.op("ReduceSum", "/ReduceSum", frames, keepdims=0), to=TensorProto.INT64)
    instants = build.op("Cast", "/instants", build.op("Range", "/Range", "zero", total, "one"), to=TensorProto.FLOAT)
    later = build.op("GreaterOrEqual", "/later", build.op("Unsqueeze", "/at", instants, "column"), ends)
    count = build.op("Cast", "/count", later, to=TensorProto.INT64)
    return build.op("Gather", "/expand", hidden, build.op("ReduceSum", "/index", count, "column", keepdims=0), axis=2)


def _noisy(build: Builder, means: str) -> str:
    loud = build.op("Gather", "/noise_scale", "scales", "zero")
    noise = build.op("Mul", "/noise", build.op("RandomNormalLike", "/RandomNormalLike", means), loud)
    return build.op("Add", "/z_p", means, noise)


def _flow(build: Builder, shape: Shape, latent: str) -> str:
    """Four residual couplings: half of the channels shift the other half."""
    half = shape.hidden // 2
    build.constant("half", np.array([half, half], np.int64))
    for flow in range(4):
        build.nodes.append(helper.make_node("Split", [latent, "half"], [f"kept{flow}", f"shifted{flow}"], axis=1))
        name = f"/flow/flows.{flow}"
        hidden = build.conv(f"{name}/pre", f"kept{flow}", half, shape.hidden, 1)
        for layer in range(shape.flow_layers):
            part = f"{name}/enc/layers.{layer}"
            gate = build.conv(f"{part}/in", hidden, shape.hidden, shape.hidden * 2, 5)
            build.constant(f"{part}.sizes", np.array([shape.hidden] * 2, np.int64))
            build.nodes.append(helper.make_node("Split", [gate, f"{part}.sizes"], [f"{part}.t", f"{part}.s"], axis=1))
            gated = build.op(
                "Mul",
                f"{part}/Mul",
                build.op("Tanh", f"{part}/Tanh", f"{part}.t"),
                build.op("Sigmoid", f"{part}/Sigmoid", f"{part}.s"),
            )
            both = build.conv(f"{part}/res_skip", gated, shape.hidden, shape.hidden * 2, 1)
            build.nodes.append(helper.make_node("Split", [both, f"{part}.sizes"], [f"{part}.r", f"{part}.k"], axis=1))
            hidden = build.op("Add", f"{part}/Add", hidden, f"{part}.r")
        shift = build.conv(f"{name}/post", hidden, shape.hidden, half, 1)
        shifted = build.op("Sub", f"{name}/Sub", f"shifted{flow}", shift)
        latent = build.op("Concat", f"{name}/Concat", shifted, f"kept{flow}", axis=1)
    return latent


def _generate(build: Builder, shape: Shape, latent: str, speaker: str | None) -> None:
    """HiFi-GAN, to the graph's output."""
    channels = shape.generator
    sound = build.conv("/dec/conv_pre", latent, shape.hidden, channels, 7)
    if speaker:
        sound = build.op("Add", "/dec/Add", sound, build.conv("/dec/cond", speaker, shape.hidden, channels, 1))
    many = build.constant("blocks", np.float32(len(shape.blocks)))
    for stage, (stride, kernel) in enumerate(zip(shape.strides, shape.kernels, strict=True)):
        name = f"/dec/ups.{stage}"
        sound = build.upsample(
            name, build.op("LeakyRelu", f"{name}/LeakyRelu", sound, alpha=0.1), channels, kernel, stride
        )
        channels //= 2
        made = [
            _block(build, f"/dec/resblocks.{stage}.{block}", sound, channels, size, dilations, shape.second)
            for block, (size, dilations) in enumerate(shape.blocks)
        ]
        total = made[0]
        for block, other in enumerate(made[1:]):
            total = build.op("Add", f"{name}/sum.{block}", total, other)
        sound = build.op("Div", f"{name}/Div", total, many)
    sound = build.op("LeakyRelu", "/dec/LeakyRelu", sound, alpha=0.01)
    post = build.op("Tanh", "/dec/Tanh", build.conv("/dec/conv_post", sound, channels, 1, 7))
    build.nodes.append(helper.make_node("Identity", [post], ["output"], name="/Identity"))


def _block(
    build: Builder, name: str, sound: str, channels: int, size: int, dilations: Sequence[int], second: bool
) -> str:
    for number, dilation in enumerate(dilations):
        part = f"{name}/convs.{number}"
        made = build.op("LeakyRelu", f"{part}/LeakyRelu", sound, alpha=0.1)
        made = build.conv(f"{part}/1", made, channels, channels, size, dilation)
        if second:
            made = build.op("LeakyRelu", f"{part}/LeakyRelu_1", made, alpha=0.1)
            made = build.conv(f"{part}/2", made, channels, channels, size)
        sound = build.op("Add", f"{part}/Add", made, sound)
    return sound


def write_voice(folder: Path, shape: Shape) -> Path:
    """A voice's .onnx file, its .onnx.json beside it."""
    path = folder / "vits.onnx"
    onnx.save(vits_model(shape), path)
    settings = {
        "audio": {"sample_rate": shape.rate},
        "espeak": {"voice": "en-us"},
        "phoneme_type": "espeak",
        "num_symbols": IDS,
        "num_speakers": shape.speakers,
        "inference": {"noise_scale": 0.667, "length_scale": 1.0, "noise_w": 0.8},
        "phoneme_id_map": DEFAULT_PHONEME_ID_MAP,
        "speaker_id_map": {},
    }
    Path(f"{path}.json").write_text(json.dumps(settings), encoding="utf-8")
    return path
