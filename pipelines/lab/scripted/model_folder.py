"""Builds `scripted:whisper`: a genuine CTranslate2 Whisper model whose decoder emits a given text for any audio.

Nothing is downloaded. Every layer has Whisper's shape, so faster-whisper runs its whole path at true compute cost. The
layers' weights are near zero, and the decoder's position vectors point at the tokens of the text. The vocabulary has
the size and the special tokens of tiny.en, one token for each word of the text (about what GPT-2 needs for common
words), and fillers.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2.specs import whisper_spec
from numpy.typing import NDArray
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from pipelines.engines.scripted import SCRIPT

MODEL_NAME = "scripted:whisper"
# Model width, layers of encoder and of decoder, attention heads. "quick" takes the same path at little cost.
SIZES = {"quick": (64, 1, 1), "tiny": (384, 4, 6), "base": (512, 6, 8)}
CONTEXT = 448  # positions of Whisper's decoder
# The English models' vocabulary: 50256 text tokens, then the special ones. Multilingual models have one more, empty
# text token, by which the engine recognises them, and put language and task into the prompt.
TEXT_TOKENS = 50256
# Only these two are used, but the total number matters.
LANGUAGES = ["en", "language 1", "de", *(f"language {i}" for i in range(3, 99))]


def build(
    out: Path,
    *,
    text: str,
    size: str = "quick",
    name: str = MODEL_NAME,
    unsure: bool = False,
    multilingual: bool = False,
    vocabulary: Sequence[str] = (),
) -> Path:
    """Write the model folder `out` and return it.

    Args:
        out: Folder to create; files in it are overwritten.
        text: What the model hears in any audio; with more than 447 words, it never ends by itself.
        size: "quick" for tests of behaviour, "tiny" or "base" for true cost.
        name: The model's name; must begin with "scripted:", so that no report presents it as Whisper.
        unsure: Behave as Whisper does on silence: report no speech, and give `text` a low probability.
        multilingual: Use the vocabulary and prompt of "tiny" instead of "tiny.en"; it hears the text in English
            and in German.
        vocabulary: More words that get a token of their own.

    Raises:
        ValueError: The name does not begin with "scripted:", or the text has no words.
    """
    if not name.startswith("scripted:") or not text.strip():
        raise ValueError(f"name {name!r} must begin with 'scripted:' and text {text!r} must contain a word")
    out.mkdir(parents=True, exist_ok=True)
    (out / SCRIPT).unlink(missing_ok=True)  # from an earlier model in this folder
    words = re.findall(r"\s*\S+", " " + " ".join(text.split()))
    tokenizer = _tokenizer([*words, *(f" {word}" for word in vocabulary)], multilingual=multilingual)
    tokenizer.save(str(out / "tokenizer.json"))
    script = [_id(tokenizer, _shown(word)) for word in words]
    prompt = ["<|startoftranscript|>", *(["<|en|>", "<|transcribe|>"] if multilingual else []), "<|notimestamps|>"]
    spec = _spec(tokenizer, script, len(prompt), *SIZES[size], unsure=unsure)
    spec.validate()
    spec.optimize(quantization="int8")
    spec.save(str(out))
    config = out / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"name": name}, indent=2))
    return out


def _byte_alphabet() -> dict[int, str]:
    """GPT-2's printable stand-in for each byte, in the order of its token ids."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {**{byte: chr(byte) for byte in shown}, **{byte: chr(256 + i) for i, byte in enumerate(hidden)}}


ALPHABET = _byte_alphabet()


def _shown(text: str) -> str:
    return "".join(ALPHABET[byte] for byte in text.encode())


def _id(tokenizer: Tokenizer, token: str) -> int:
    found: int | None = tokenizer.token_to_id(token)
    if found is None:
        raise ValueError(f"the vocabulary has no token {token!r}")
    return found


def _tokenizer(words: Sequence[str], *, multilingual: bool) -> Tokenizer:
    """A byte-level tokenizer with a token for each of `words`, Whisper's special tokens, and fillers in between."""
    split = pre_tokenizers.ByteLevel(add_prefix_space=False)
    # "20%." is three tokens; without tokens for its parts, it would be one for each letter.
    shown = [piece for word in words for piece in (_shown(word), *(part for part, _ in split.pre_tokenize_str(word)))]
    tokens = [*ALPHABET.values(), *dict.fromkeys(token for token in shown if len(token) > 1)]
    tokens += [f"<filler {i}>" for i in range(len(tokens), TEXT_TOKENS)]
    tokens += [""] if multilingual else []
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=[], ignore_merges=True))
    tokenizer.pre_tokenizer = split
    tokenizer.decoder = decoders.ByteLevel()
    special = ["endoftext", "startoftranscript", *LANGUAGES, "translate", "transcribe", "startoflm", "startofprev"]
    special += ["nospeech", "notimestamps", *(f"{i * 0.02:.2f}" for i in range(1501))]
    tokenizer.add_special_tokens([AddedToken(f"<|{s}|>", special=True, normalized=False) for s in special])
    return tokenizer


def _positions(
    tokenizer: Tokenizer, script: Sequence[int], prompt_length: int, embedding: NDArray[np.float32], *, unsure: bool
) -> NDArray[np.float32]:
    """The decoder's position vectors, shape (CONTEXT, width): each points at the token to emit there.

    At position 0, after the start of transcript, Whisper reads the language and the no-speech probability; after the
    last token of the prompt, it reads the first token of the transcript.
    """
    end = _id(tokenizer, "<|endoftext|>")
    first = _id(tokenizer, "<|nospeech|>" if unsure else "<|en|>")
    wanted = [*[first] * (prompt_length - 1), *script, *[end] * CONTEXT][:CONTEXT]
    if unsure:
        # Twelve fillers score almost as high as each token, which leaves it about a tenth of the probability.
        for i, token in enumerate(dict.fromkeys([*script, end])):
            rivals = slice(TEXT_TOKENS - 12 * (i + 1), TEXT_TOKENS - 12 * i)
            embedding[rivals] = 0.98 * embedding[token]
    positions: NDArray[np.float32] = 6 * embedding[wanted]
    return positions


def _spec(
    tokenizer: Tokenizer,
    script: Sequence[int],
    prompt_length: int,
    width: int,
    layers: int,
    heads: int,
    *,
    unsure: bool,
) -> Any:
    """The model's weights: near zero in the decoder's layers, so that the position vectors decide the output."""
    rng = np.random.default_rng(0)

    def random(*shape: int, scale: float) -> NDArray[np.float32]:
        return (rng.standard_normal(shape) * scale).astype(np.float32)

    def norm(layer: Any) -> None:
        layer.gamma, layer.beta = np.ones(width, np.float32), np.zeros(width, np.float32)

    def linear(layer: Any, rows: int, columns: int, scale: float) -> None:
        layer.weight, layer.bias = random(rows, columns, scale=scale), np.zeros(rows, np.float32)

    def attention(layer: Any, scale: float, row_factors: Sequence[int]) -> None:
        norm(layer.layer_norm)
        for part, factor in zip(layer.linear, row_factors, strict=True):
            linear(part, factor * width, width, scale)

    def feed_forward(layer: Any, scale: float) -> None:
        norm(layer.layer_norm)
        linear(layer.linear_0, 4 * width, width, scale)
        linear(layer.linear_1, width, 4 * width, scale)

    spec = whisper_spec.WhisperSpec(layers, heads, layers, heads)
    for conv, channels in ((spec.encoder.conv1, 80), (spec.encoder.conv2, width)):
        conv.weight, conv.bias = random(width, channels, 3, scale=0.02), np.zeros(width, np.float32)
    spec.encoder.position_encodings.encodings = random(1500, width, scale=0.1)
    norm(spec.encoder.layer_norm)
    for layer in spec.encoder.layer:
        attention(layer.self_attention, 0.02, (3, 1))
        feed_forward(layer.ffn, 0.02)

    embedding = random(tokenizer.get_vocab_size(), width, scale=width**-0.5)
    spec.decoder.position_encodings.encodings = _positions(tokenizer, script, prompt_length, embedding, unsure=unsure)
    spec.decoder.embeddings.weight, spec.decoder.projection.weight = embedding, embedding * 3
    norm(spec.decoder.layer_norm)
    for layer in spec.decoder.layer:
        attention(layer.self_attention, 1e-3, (3, 1))
        attention(layer.attention, 1e-3, (1, 2, 1))
        feed_forward(layer.ffn, 1e-3)

    spec.register_vocabulary([tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())])
    spec.config.suppress_ids, spec.config.lang_ids = [], [_id(tokenizer, f"<|{name}|>") for name in LANGUAGES]
    spec.config.suppress_ids_begin = [_id(tokenizer, _shown(" ")), _id(tokenizer, "<|endoftext|>")]
    spec.config.alignment_heads = [(layers - 1, head) for head in range(heads)]
    return spec
