"""Writes `scripted:own`: a GGUF file of Qwen2's shape with made-up weights, which says a given text.

Attention and feed-forward add nothing, so a token's vector arrives at the projection as it was embedded, and the
projection turns it into the token that follows in the text. Every layer runs, at the cost of its size.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

NAME = "scripted:own"
TEXT = "It is half past ten and the kettle sings. Nothing else happened."
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
END = MARKS[2]


def build(
    out: Path, *, text: str = TEXT, name: str = NAME, width: int = 64, layers: int = 1, fillers: int = 64,
    endless: bool = False,
) -> Path:  # fmt: skip
    """Write the file; no word of the text may come twice. An endless model begins again at the end."""
    import gguf

    words = [_written(word) for word in re.findall(r"\s*\S+", text)]
    assert len(set(words)) == len(words)
    tokens = [*_BYTES, *MARKS, *words, *(f"filler{i}" for i in range(fillers))]
    follows = dict(zip((_written("\n"), *words), (*words, words[0] if endless else END), strict=True))
    heads, inner = width // 16, 2 * width
    writer: Any = gguf.GGUFWriter(out, "qwen2")
    writer.add_name(name)
    writer.add_context_length(8192)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads // 2)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * 256 + [3] * len(MARKS) + [1] * (len(words) + fillers))
    writer.add_token_merges(["t h"])
    writer.add_eos_token_id(tokens.index(END))
    writer.add_chat_template(TEMPLATE)
    for tensor, values in _weights(tokens, follows, width=width, layers=layers, inner=inner).items():
        writer.add_tensor(tensor, values)
    for write in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file):
        write()
    writer.close()
    return out


def _weights(
    tokens: list[str], follows: dict[str, str], *, width: int, layers: int, inner: int
) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(7)
    shared = width // 2

    def drawn(*shape: int) -> np.ndarray[Any, Any]:
        return (rng.standard_normal(shape) * 0.05).astype(np.float32)

    embedded = rng.standard_normal((len(tokens), width)).astype(np.float32)
    projection = np.zeros((len(tokens), width), np.float32)
    for word, following in follows.items():
        projection[tokens.index(following)] += embedded[tokens.index(word)]
    weights = {"token_embd.weight": embedded, "output.weight": projection}
    ones = np.ones(width, np.float32)
    weights["output_norm.weight"] = ones
    for layer in range(layers):
        sizes = {"q": width, "k": shared, "v": shared}
        weights |= {f"blk.{layer}.attn_{each}.weight": drawn(size, width) for each, size in sizes.items()}
        weights |= {f"blk.{layer}.attn_{each}.bias": drawn(size) for each, size in sizes.items()}
        weights |= {f"blk.{layer}.attn_norm.weight": ones, f"blk.{layer}.ffn_norm.weight": ones}
        weights |= {f"blk.{layer}.ffn_{each}.weight": drawn(inner, width) for each in ("gate", "up")}
        weights[f"blk.{layer}.attn_output.weight"] = np.zeros((width, width), np.float32)
        weights[f"blk.{layer}.ffn_down.weight"] = np.zeros((width, inner), np.float32)
    return weights


def _bytes() -> list[str]:
    """GPT-2's character for each byte."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte if byte in shown else next(others)) for byte in range(256)]


_BYTES = _bytes()


def _written(text: str) -> str:
    return "".join(_BYTES[byte] for byte in text.encode())
