"""Writes `scripted:own`: a CTranslate2 model of Qwen2's shape with made-up weights, which says a given text.

Attention and feed-forward add nothing, so a token's vector arrives at the projection as it was embedded, and the
projection turns it into the token that follows in the text. Every layer runs, at the cost of its size.
"""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2.specs import common_spec, transformer_spec
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

NAME = "scripted:own"
TEXT = "It is half past ten and the kettle sings. Nothing else happened."
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}{% endfor %}"
MARKS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>")
WORDS = r"\n|[^\S\n]*[^\s<]+|<"


def build(
    out: Path, *, text: str = TEXT, name: str = NAME, width: int = 64, layers: int = 1, fillers: int = 64,
    template: str | None = TEMPLATE, endless: bool = False,
) -> Path:  # fmt: skip
    """Write the model folder; no word of the text may come twice. An endless model begins again at the end."""
    out.mkdir(parents=True, exist_ok=True)
    words = re.findall(r"\s*\S+", text)
    assert len(set(words)) == len(words)
    tokens = ["<unk>", *MARKS, "\n", *words, *(f"<filler {i}>" for i in range(fillers))]
    tokens += [f"<pad {i}>" for i in range(-len(tokens) % 8)]
    (out / "tokenizer.json").write_text(_tokenizer(tokens).to_str())
    (out / "tokenizer_config.json").write_text(json.dumps({"chat_template": template} if template else {}))
    follows = dict(zip(("\n", *words), (*words, words[0] if endless else "<|im_end|>"), strict=True))
    spec = _spec(tokens, follows, width=width, layers=layers)
    spec.register_vocabulary(tokens)
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = "<unk>", MARKS[0], MARKS[2]
    spec.config.layer_norm_epsilon = 1e-6
    spec.validate()
    spec.optimize(quantization="int8")
    spec.save(str(out))
    config = json.loads((out / "config.json").read_text())
    (out / "config.json").write_text(json.dumps(config | {"name": name}))
    return out


def _tokenizer(tokens: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({token: i for i, token in enumerate(tokens)}, unk_token="<unk>"))
    tokenizer.add_special_tokens([AddedToken(mark, special=True, normalized=False) for mark in MARKS])
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(WORDS), "isolated")
    tokenizer.decoder = decoders.Fuse()
    return tokenizer


def _spec(tokens: list[str], follows: dict[str, str], *, width: int, layers: int) -> Any:
    rng = np.random.default_rng(7)
    heads, inner = width // 16, 2 * width
    spec = transformer_spec.TransformerDecoderModelSpec.from_config(
        layers, heads, activation=common_spec.Activation.SWISH, pre_norm=True, ffn_glu=True, rms_norm=True,
        rotary_dim=0, rotary_interleave=False, rotary_base=10000, num_heads_kv=None,
    )  # fmt: skip
    embedded = rng.standard_normal((len(tokens), width)).astype(np.float32)
    spec.decoder.scale_embeddings = False
    spec.decoder.embeddings.weight = embedded
    spec.decoder.layer_norm.gamma = np.ones(width, np.float32)
    for layer in spec.decoder.layer:
        layer.self_attention.layer_norm.gamma = layer.ffn.layer_norm.gamma = np.ones(width, np.float32)
        around = layer.self_attention.linear
        around[0].weight = (rng.standard_normal((3 * width, width)) * 0.05).astype(np.float32)
        around[0].bias = np.zeros(3 * width, np.float32)
        around[1].weight = np.full((width, width), 1e-6, np.float32)
        layer.ffn.linear_0.weight = (rng.standard_normal((inner, width)) * 0.05).astype(np.float32)
        layer.ffn.linear_0_noact.weight = (rng.standard_normal((inner, width)) * 0.05).astype(np.float32)
        layer.ffn.linear_1.weight = np.full((width, inner), 1e-6, np.float32)
    projection = np.full((len(tokens), width), 1e-6, np.float32)
    for word, following in follows.items():
        projection[tokens.index(following)] += embedded[tokens.index(word)]
    spec.decoder.projection.weight = projection
    return spec
