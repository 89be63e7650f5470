"""Runs a GGUF file with llama.cpp, through the package `xllamacpp`.

llama.cpp applies the chat template that the file contains, and keeps the state of the last request: the next one reads
only what comes after the longest common beginning, so in a call only the new turn.
"""

import atexit
import secrets
from collections.abc import Callable, Sequence
from typing import Any

from voice.errors import ComponentError
from voice.inference_queue import IsWanted, WithdrawnError
from voice.llm.local.chat_template import Message, recent, torn
from voice.llm.local.engine import GenerationError, Usage, check_memory
from voice.llm.local.gguf_header import GgufFile
from voice.models.store import repair

CONTEXT_TOKENS = 2048
"""The most tokens of the conversation that a request has, as estimated from its characters."""
WINDOW = 4096
"""Tokens that the model holds: the conversation, the system prompt and the answer."""
CHARACTERS_PER_TOKEN = 4
MESSAGE_TOKENS = 6
"""Tokens around each message, about."""
REPETITION_PENALTY = 1.1
BATCH = 64
"""Tokens of a request that are read at a time. A request can be withdrawn between two batches, and each takes half a
second to a second for half a billion weights on one core. Larger batches are no faster."""


class GgufEngine:
    """A loaded file.

    xllamacpp runs llama.cpp's server inside this process. Its HTTP port is on loopback, takes a key that nobody knows,
    and is not used.

    Args:
        file: the model.
        threads: threads of one request; they sleep while there is nothing to do.
        context_tokens: the most tokens of the conversation that a request has.

    Raises:
        ComponentError: xllamacpp is not installed, there is not enough memory, or the file cannot be loaded.
    """

    at_once = 1

    def __init__(self, file: GgufFile, *, threads: int = 1, context_tokens: int = CONTEXT_TOKENS) -> None:
        library = require_library()
        check_memory(file.path, file.size)
        self._context_tokens = context_tokens
        parameters = library.CommonParams()
        parameters.model.path = str(file.path)
        for cpu in (parameters.cpuparams, parameters.cpuparams_batch):
            cpu.n_threads, cpu.poll = threads, 0
        parameters.n_parallel, parameters.n_ctx = 1, max(WINDOW, 2 * context_tokens)
        parameters.n_batch = parameters.n_ubatch = BATCH
        # Its cache of other conversations may grow to 8 GB; what the last request has read is kept without it.
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
        """See `Engine.generate`."""
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
            # llama.cpp would read control tokens out of the text.
            "messages": [
                {"role": message.role, "content": torn(message.text)} for message in (Message("system", prompt), *kept)
            ],
            "max_tokens": longest,
            "temperature": 0,
            "repeat_penalty": REPETITION_PENALTY,
            "stream": True,
            "stream_options": {"include_usage": True},
            "cache_prompt": True,
            # Reports each batch, so that `step` is called there, too.
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

    def close(self) -> None:
        """See `Engine.close`."""
        atexit.unregister(self.close)
        self._server = None


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
            "Linux (x86_64, aarch64) and macOS 13 or later; install it with pip install xllamacpp, or use a model "
            "folder for CTranslate2."
        ) from error
    return xllamacpp
