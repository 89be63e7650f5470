"""Runs a model folder with CTranslate2.

CTranslate2 keeps the state of one fixed beginning, which is the system prompt here; it cannot go on from the state of
an earlier turn. So every request reads the conversation anew, and only its latest part is given.
"""

import atexit
from collections.abc import Callable, Sequence
from typing import Any

from voice.errors import ComponentError, ConfigurationError
from voice.inference_queue import IsWanted, WithdrawnError
from voice.llm.local.chat_template import Message, recent
from voice.llm.local.engine import GenerationError, Usage, check_memory
from voice.llm.local.model_folder import ModelFolder, read_tokenizer

CONTEXT_TOKENS = 256
"""The most tokens of the conversation that a request reads: they cost about 0.4 s on two cores (0.5B, int8)."""
KEPT_PROMPTS = 4
"""System prompts whose state is kept; it is never freed, so there is a limit."""
REPETITION_PENALTY = 1.1
"""Small models repeat themselves without one."""


class CTranslate2Engine:
    """A loaded folder.

    Args:
        folder: the model.
        threads: threads of one request.
        context_tokens: the most tokens of the conversation that a request reads.
        compute_type: CTranslate2's; "default" keeps that of the file.

    Raises:
        ConfigurationError: the model cannot use the compute type.
        ComponentError: there is not enough memory, or the folder cannot be loaded.
    """

    at_once = 2

    def __init__(
        self,
        folder: ModelFolder,
        *,
        threads: int = 1,
        context_tokens: int = CONTEXT_TOKENS,
        compute_type: str = "default",
    ) -> None:
        check_memory(folder.path, folder.size)
        self._template = folder.template
        self._tokenizer: Any = read_tokenizer(folder)
        self._context_tokens = context_tokens
        self._kept: set[str] = set()
        self._ends = [end for end in folder.template.ends if self._tokenizer.token_to_id(end) is not None]
        self._generator: Any = _load(folder, threads=threads, compute_type=compute_type, at_once=self.at_once)
        # Left loaded, CTranslate2 sometimes aborts the process when the interpreter ends.
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
        from tokenizers.decoders import DecodeStream

        written = [self._tokens(self._template.message(message)) for message in messages]
        kept = recent(messages, [len(tokens) for tokens in written], limit=self._context_tokens)
        head = self._tokens(self._template.head(prompt))
        rest = [token for tokens in written[len(written) - len(kept) :] for token in tokens]
        rest += self._tokens(self._template.tail())
        stream, count = DecodeStream(skip_special_tokens=False), 0

        def step(result: Any) -> bool:
            """Take one token; returns whether to stop."""
            nonlocal count
            if not is_wanted():
                return True
            count += 1
            number = self._tokenizer.token_to_id(result.token)
            # Other tokens without words are passed on: they tell thoughts and calls from words.
            if number is not None and result.token not in self._ends and (text := stream.step(self._tokenizer, number)):
                on_text(text)
            return False

        keeps, was_kept = self._keeps(prompt)
        if not is_wanted():
            raise WithdrawnError
        try:
            self._generator.generate_batch(
                [rest],
                static_prompt=head,
                cache_static_prompt=keeps,
                include_prompt_in_result=False,
                max_length=longest,
                end_token=self._ends,
                sampling_topk=1,
                repetition_penalty=REPETITION_PENALTY,
                callback=step,
            )
        except (RuntimeError, ValueError) as error:
            raise GenerationError(f"CTranslate2 failed ({str(error).rstrip('.')})") from error
        if not is_wanted():
            raise WithdrawnError
        return Usage(prompt=len(head) + len(rest), kept=len(head) if was_kept else 0, answer=count)

    def close(self) -> None:
        """See `Engine.close`."""
        atexit.unregister(self.close)
        if self._generator is not None:
            self._generator.unload_model()
            self._generator = None

    def _keeps(self, prompt: str) -> tuple[bool, bool]:
        """Whether the state of a system prompt is kept from now on, and whether it was before."""
        was_kept = prompt in self._kept
        if not was_kept and len(self._kept) < KEPT_PROMPTS:
            self._kept.add(prompt)
        return prompt in self._kept, was_kept

    def _tokens(self, text: str) -> list[str]:
        tokens: list[str] = self._tokenizer.encode(text, add_special_tokens=False).tokens
        return tokens


def _load(folder: ModelFolder, *, threads: int, compute_type: str, at_once: int) -> Any:
    from ctranslate2 import Generator

    try:
        return Generator(
            str(folder.path), device="cpu", compute_type=compute_type, inter_threads=at_once, intra_threads=threads
        )
    except ValueError as error:
        raise ConfigurationError(f"The model in {folder.path} cannot run with {compute_type}: {error}.") from error
    except (RuntimeError, MemoryError) as error:
        raise ComponentError(
            f"CTranslate2 cannot load the model in {folder.path} ({str(error).rstrip('.') or 'no memory'}); "
            "copy or convert it again."
        ) from error
