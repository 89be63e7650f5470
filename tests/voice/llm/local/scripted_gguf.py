"""Writes a GGUF file of Qwen2's shape with made-up weights, named `scripted:gguf`; it says nothing that makes sense."""

from pathlib import Path
from typing import Any

import numpy as np

NAME = "scripted:gguf"
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
WIDTH, HEADS, SHARED, INNER = 64, 4, 32, 128


def build(out: Path) -> Path:
    """Write the file; needs the package gguf."""
    import gguf

    rng = np.random.default_rng(0)
    tokens = [*_bytes(), *MARKS]
    writer: Any = gguf.GGUFWriter(out, "qwen2")
    writer.add_name(NAME)
    writer.add_context_length(8192)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS // 2)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * 256 + [3] * len(MARKS))
    writer.add_token_merges(["t h"])
    writer.add_eos_token_id(258)
    writer.add_chat_template(TEMPLATE)

    def add(name: str, *shape: int) -> None:
        writer.add_tensor(name, (rng.standard_normal(shape) * 0.3).astype(np.float32))

    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))
    add("token_embd.weight", len(tokens), WIDTH)
    add("output.weight", len(tokens), WIDTH)
    for name, size in (("q", WIDTH), ("k", SHARED), ("v", SHARED)):
        add(f"blk.0.attn_{name}.weight", size, WIDTH)
        add(f"blk.0.attn_{name}.bias", size)
    add("blk.0.attn_output.weight", WIDTH, WIDTH)
    add("blk.0.ffn_gate.weight", INNER, WIDTH)
    add("blk.0.ffn_up.weight", INNER, WIDTH)
    add("blk.0.ffn_down.weight", WIDTH, INNER)
    for write in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file):
        write()
    writer.close()
    return out


def _bytes() -> list[str]:
    """GPT-2's character for each byte."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte if byte in shown else next(others)) for byte in range(256)]
