"""Runs a GGUF file with llama.cpp, through the package `xllamacpp`.

llama.cpp applies the file's chat template, and keeps the state of the last request: the next one processes only the
text after the longest common prefix, in a call only the new turn.
"""

import atexit
import math
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from voice.errors import ComponentError
from voice.inference_queue import IsWanted, WithdrawnError
from voice.llm.wires.in_process.gguf_file import GgufFile
from voice.models.store import repair

CONTEXT_TOKENS = 2048
"""The most tokens of conversation in a request, estimated from its characters."""
WINDOW = 1.5
"""The model's context, as a multiple of the conversation's tokens: it also holds the system prompt and the answer, and
the estimate may be wrong."""
CHARACTERS_PER_TOKEN = 4
MESSAGE_TOKENS = 6
"""Approximate overhead per message, in tokens."""
REPETITION_PENALTY = 1.1
"""Penalty without which small models repeat themselves."""
BATCH = 64
"""Tokens of a request processed at a time. A request can be withdrawn between two batches; each takes half a second to
a second for half a billion weights on one core. Larger batches are no faster."""
LIKELIEST = 300
"""The number of next tokens whose probabilities `Engine.next_tokens` asks for."""
Role = Literal["system", "user", "assistant"]
_CONTROL = re.compile(r"<(?=[^\s\d<=>])|\[(?=/?[A-Za-z_]+\])")


@dataclass(frozen=True, slots=True)
class Message:
    """A message of one side."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The tokens of one request.

    Parameters:
        prompt: all input tokens.
        kept: tokens of the prompt whose state was reused from an earlier request.
        answer: generated tokens.
    """

    prompt: int
    kept: int
    answer: int


class GenerationError(Exception):
    """The engine refused a request or broke; the message is a clause without a full stop."""


class Engine:
    """A loaded file that runs one request at a time; `generate` blocks and runs in the model's thread.

    xllamacpp runs llama.cpp's server inside this process. Its HTTP port is on loopback, locked by a random key, and
    unused.

    Args:
        file: the model.
        threads: threads of one request; they sleep when idle.
        context_tokens: the most tokens of the conversation that a request has.
        window: the model's context in tokens, whose state takes memory; None for `WINDOW` times the conversation.

    Raises:
        ComponentError: xllamacpp is not installed, there is not enough memory, or the file cannot be loaded.
    """

    def __init__(
        self, file: GgufFile, *, threads: int = 1, context_tokens: int = CONTEXT_TOKENS, window: int | None = None
    ) -> None:
        library = require_library()
        _check_memory(file)
        self._context_tokens = context_tokens
        parameters = library.CommonParams()
        parameters.model.path = str(file.path)
        for cpu in (parameters.cpuparams, parameters.cpuparams_batch):
            cpu.n_threads, cpu.poll = threads, 0
        parameters.n_parallel = 1
        parameters.n_ctx = window or int(WINDOW * max(CONTEXT_TOKENS, context_tokens))
        parameters.n_batch = parameters.n_ubatch = BATCH
        # Repacked weights take memory besides the mapped file, and are no faster (measured on x86_64).
        parameters.no_extra_bufts = True
        # The model is known to fit; llama.cpp would load it twice to find out.
        parameters.fit_params = False
        # Its cache of other conversations may grow to 8 GB; the last request's state is kept without it.
        parameters.cache_ram_mib = 0
        parameters.hostnames, parameters.port = ["127.0.0.1"], 0
        parameters.api_keys = [secrets.token_hex(16)]
        parameters.ui = parameters.endpoint_slots = False
        parameters.verbosity = -1
        try:
            self._server: Any = library.Server(parameters)
        except RuntimeError as error:
            raise ComponentError(
                f"llama.cpp cannot load {file.path}: it is damaged, or a kind of model that xllamacpp "
                f"{library.__version__} does not know; {repair(file.path)}, or take another one."
            ) from error
        atexit.register(self.close)

    def generate(
        self,
        prompt: str,
        messages: Sequence[Message],
        *,
        longest: int,
        is_wanted: IsWanted,
        on_text: Callable[[str], None],
    ) -> Usage:
        """Answer a conversation; pass each piece of the answer to `on_text` as soon as it is generated.

        Args:
            prompt: the system prompt.
            longest: the most tokens of the answer.
            is_wanted: called at each token; generation stops when it returns False.

        Raises:
            WithdrawnError: it was withdrawn.
            GenerationError: llama.cpp refused or broke.
        """
        sizes = [len(message.text) // CHARACTERS_PER_TOKEN + MESSAGE_TOKENS for message in messages]
        kept = recent(messages, sizes, limit=self._context_tokens)
        usage, failure = Usage(prompt=0, kept=0, answer=0), ""

        def step(chunk: dict[str, Any]) -> bool:
            """Take one piece of the answer; returns whether to stop."""
            nonlocal usage, failure
            if "error" in chunk:
                failure = str(chunk["error"].get("message", "unknown error"))
            elif is_wanted():
                usage = _usage(chunk) or usage
                for choice in chunk.get("choices", ()):
                    if text := choice.get("delta", {}).get("content"):
                        on_text(text)
            return not is_wanted()

        if not is_wanted():
            raise WithdrawnError
        request = {
            # llama.cpp would parse control tokens in the text.
            "messages": [
                {"role": message.role, "content": without_control_tokens(message.text)}
                for message in (Message("system", prompt), *kept)
            ],
            "max_tokens": longest,
            "temperature": 0,
            "repeat_penalty": REPETITION_PENALTY,
            "stream": True,
            "stream_options": {"include_usage": True},
            "cache_prompt": True,
            # Reports each batch, so that `step` is also called between batches.
            "return_progress": True,
            "chat_template_kwargs": {"enable_thinking": False},
        }
        try:
            self._server.handle_chat_completions(request, step)
        except RuntimeError as error:
            raise GenerationError(f"llama.cpp failed ({str(error).rstrip('.')})") from error
        if not is_wanted():
            raise WithdrawnError
        if failure:
            raise GenerationError(f"llama.cpp refused the request ({failure.rstrip('.')})")
        return usage

    def next_tokens(self, prompt: str) -> list[tuple[str, float]]:
        """The likeliest next tokens after a prompt with control tokens, and their probabilities, 0 to 1.

        The text of a control token is empty.

        Raises:
            ComponentError: llama.cpp refused or broke; the message is a clause without a full stop.
        """
        request = {
            "prompt": prompt,
            "n_predict": 1,
            "n_probs": LIKELIEST,
            "temperature": 0,
            "cache_prompt": True,
        }
        answers: list[dict[str, Any]] = []
        try:
            self._server.handle_completions(request, answers.append)
        except RuntimeError as error:
            raise ComponentError(f"llama.cpp failed ({str(error).rstrip('.')})") from error
        answer = answers[0] if answers else {}
        if "error" in answer or not answer.get("choices"):
            raise ComponentError(f"llama.cpp refused the request ({answer.get('error', 'no answer')})")
        likeliest = answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        if any(one["logprob"] is None for one in likeliest):
            raise ComponentError("llama.cpp gives no probabilities, as with damaged weights")
        return [(one["token"], math.exp(one["logprob"])) for one in likeliest]

    def close(self) -> None:
        """Free the model, after the last request has ended; may be called twice."""
        atexit.unregister(self.close)
        self._server = None


def without_control_tokens(text: str) -> str:
    """The text with the control tokens of all models broken up, such as `<|im_end|>`, `</s>` or `[INST]`.

    A tokenizer takes such a name for the token anywhere in a text; with a space in it, it is only text.
    """
    return _CONTROL.sub(r"\g<0> ", text)


def recent(messages: Sequence[Message], sizes: Sequence[int], *, limit: int) -> list[Message]:
    """The latest messages with at most `limit` tokens in total, beginning with a user message.

    The last message is always kept.

    Args:
        messages: the conversation.
        sizes: the tokens of each.
        limit: tokens.
    """
    total, first = 0, len(messages) - 1
    for index in range(len(messages) - 1, -1, -1):
        total += sizes[index]
        if total > limit:
            break
        if messages[index].role == "user":
            first = index
    return list(messages[max(0, first) :])


def _check_memory(file: GgufFile) -> None:
    """Refuse a model that does not fit into the free memory.

    Raises:
        ComponentError: less than the file's size is free.
    """
    import psutil

    free = psutil.virtual_memory().available
    if file.size > free:
        raise ComponentError(
            f"The model in {file.path} needs {file.size / 1e9:.1f} GB of memory and {free / 1e9:.1f} GB are free; "
            "choose a smaller model, or end other programs."
        )


def _usage(chunk: dict[str, Any]) -> Usage | None:
    usage = chunk.get("usage")
    if not usage:
        return None
    kept = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    return Usage(prompt=usage["prompt_tokens"], kept=kept, answer=usage["completion_tokens"])


def require_library() -> Any:
    """The package that runs GGUF files.

    Raises:
        ComponentError: it is not installed.
    """
    try:
        import xllamacpp
    except ImportError as error:
        raise ComponentError(
            f"A GGUF file needs the package xllamacpp, which cannot be imported here ({error}): it has wheels for "
            "Linux (x86_64, aarch64) and macOS 13 or later; install it with pip install xllamacpp, or serve the model "
            'with a server such as Ollama (provider = "openai").'
        ) from error
    return xllamacpp
