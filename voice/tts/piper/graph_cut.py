"""Cuts a Piper voice's graph in two, so that it can synthesise piece by piece. Pure: a model in, two models out.

A VITS voice draws its noise and processes the whole sentence before the generator (`dec`, a HiFi-GAN). From the
generator's first convolution on, each sample depends on only a few frames. Their number is computed from the graph, so
that the pieces equal the audio synthesised at once.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto
from onnx.helper import get_attribute_value, make_tensor_value_info
from onnx.utils import Extractor

GENERATOR_INPUT = "conv_pre"
"""The name that Piper's exporter gives the generator's first convolution; part of the name of a node or a weight."""

SAMPLEWISE = frozenset(["Add", "Cast", "Div", "Identity", "LeakyRelu", "Mul", "Squeeze", "Sub", "Tanh", "Unsqueeze"])
"""Operations that compute a sample from samples of the same instant."""


class NotLocal(Exception):
    """An operation depends on more than a fixed number of samples on each side."""


@dataclass(frozen=True, slots=True)
class CutGraph:
    """A voice in two parts.

    Parameters:
        encoder: serialised; computes `latent`, and `durations` if the voice has them, from the voice's inputs.
        decoder: serialised; computes the audio from `latent` and the voice's inputs named in `decoder_inputs`.
        latent: name of the tensor that the encoder passes to the decoder, [1, channels, frames].
        durations: name of the tensor with the frames of each phoneme id; None if the graph does not report them.
        decoder_inputs: names of the voice's inputs that the decoder needs, such as the speaker's number.
        context: frames on each side on which a frame's audio depends.
        hop: samples per frame.
    """

    encoder: bytes
    decoder: bytes
    latent: str
    durations: str | None
    decoder_inputs: tuple[str, ...]
    context: int
    hop: int


def cut_graph(model: ModelProto) -> CutGraph | None:
    """Cut at the generator's first convolution; None if there is none or the audio depends on more than its input."""
    found = [node for node in model.graph.node if _is_generator_input(node)]
    if len(found) != 1:
        return None
    latent, output = found[0].input[0], model.graph.output[0].name
    audible = _depending_on(latent, model.graph.node)
    if output not in audible:
        return None
    try:
        context = _context(latent, output, [node for node in model.graph.node if audible & set(node.output)], audible)
    except NotLocal:
        return None
    weights = {weight.name: weight for weight in model.graph.initializer}
    inputs = _inputs_behind(latent, output, model)
    if inputs - {"sid"} or found[0].input[1] not in weights:
        return None
    channels = weights[found[0].input[1]].dims[1]
    model.graph.value_info.append(make_tensor_value_info(latent, TensorProto.FLOAT, [1, channels, "frames"]))
    durations = durations_of(model)
    extractor = Extractor(model)
    wanted = [latent, *([durations] if durations else [])]
    everything = [tensor.name for tensor in model.graph.input]
    # The encoder may not need every input; onnx accepts inputs that are listed but not used.
    encoder = extractor.extract_model(everything, wanted)
    decoder = extractor.extract_model([latent, *sorted(inputs)], [output])
    return CutGraph(
        encoder=encoder.SerializeToString(),
        decoder=decoder.SerializeToString(),
        latent=latent,
        durations=durations,
        decoder_inputs=tuple(sorted(inputs)),
        context=context,
        hop=prod(
            _integers(node, "strides")[0]
            for node in model.graph.node
            if node.op_type == "ConvTranspose" and node.output[0] in audible
        ),
    )


def durations_of(model: ModelProto) -> str | None:
    """Name of the graph's tensor with the frames of each phoneme id; None without one.

    It is the output of the graph's only Ceil, as in Piper's own alignments.
    """
    found = [node.output[0] for node in model.graph.node if node.op_type == "Ceil"]
    if len(found) != 1:
        return None
    if found[0] not in {known.name for known in (*model.graph.value_info, *model.graph.output)}:
        model.graph.value_info.append(ValueInfoProto(name=found[0]))
    return found[0]


def _is_generator_input(node: NodeProto) -> bool:
    return node.op_type == "Conv" and any(GENERATOR_INPUT in name for name in (node.name, *node.input[1:2]))


def _depending_on(tensor: str, nodes: Iterable[NodeProto]) -> set[str]:
    found = {tensor}
    for node in nodes:
        if found.intersection(node.input):
            found.update(node.output)
    return found


def _inputs_behind(latent: str, output: str, model: ModelProto) -> set[str]:
    """The voice's inputs, apart from `latent`, on which the audio depends."""
    needed = {output}
    for node in reversed(model.graph.node):
        if needed.intersection(node.output):
            needed.update(name for name in node.input if name)
            needed.discard(latent)
    return needed.intersection(tensor.name for tensor in model.graph.input)


def _context(latent: str, output: str, nodes: list[NodeProto], audible: set[str]) -> int:
    """Frames of `latent` on each side on which a frame's samples depend.

    Walks from the audio to the latent, counting the samples needed on each side at each tensor's own rate.

    Raises:
        NotLocal: the number cannot be determined, or is unlimited.
    """
    needed = {output: 0}
    for node in reversed(nodes):
        if node.output[0] not in needed:
            continue
        reach = _reach(node, needed[node.output[0]], audible)
        for name in audible.intersection(node.input):
            needed[name] = max(needed.get(name, 0), reach)
    return needed[latent]


def _reach(node: NodeProto, needed: int, audible: set[str]) -> int:
    """Samples of a node's input needed on each side for `needed` samples of its output."""
    if node.op_type in SAMPLEWISE:
        return needed
    if node.op_type not in ("Conv", "ConvTranspose") or audible.intersection(node.input[1:]):
        raise NotLocal
    (size,), (stride,) = _integers(node, "kernel_shape"), _integers(node, "strides")
    (dilation,), pads = _integers(node, "dilations"), _integers(node, "pads")
    if pads[0] != pads[1]:
        raise NotLocal
    if node.op_type == "Conv":
        if stride != 1 or 2 * pads[0] != dilation * (size - 1):
            raise NotLocal
        return needed + pads[0]
    if dilation != 1 or size - 2 * pads[0] != stride:
        raise NotLocal
    # Output sample o is computed from the inputs from (o + pad - size + 1) / stride to (o + pad) / stride.
    beside = max((size - 1 - pads[0]) // stride, (stride - 1 + pads[0]) // stride)
    return -(-needed // stride) + beside


def _integers(node: NodeProto, name: str) -> list[int]:
    """The values of an attribute always written by exporters.

    Raises:
        NotLocal: the node lacks it.
    """
    values = [get_attribute_value(attribute) for attribute in node.attribute if attribute.name == name]
    if len(values) != 1:
        raise NotLocal
    return list(values[0])
