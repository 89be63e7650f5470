"""How finished words read to a language model: the probability that the caller's message ends after them.

The model gets a conversation in ChatML: the agent's last sentence, then the caller's words without a mark at their end.
Its probabilities of a sentence mark and of the end of the message are added; nothing is fitted.
`pipelines.reader_loading` chooses and loads the model (`turns.reader`, SmolLM2 135M).
"""

import asyncio
import logging
from collections.abc import Callable, Sequence

from voice.errors import ComponentError
from voice.inference_queue import InferenceQueue
from voice.turns.words.trigram_reader import is_open

log = logging.getLogger(__name__)

NextTokens = Callable[[str], Sequence[tuple[str, float]]]
"""The likeliest next tokens after a prompt, with their probabilities; a control token's text is empty. Blocks."""
WINDOW = 512
"""The tokens that the model must hold: the prompt with the longest words."""
LONGEST_TEXT = 400
"""Characters read from the end of the caller's words; `LONGEST_SAID`, of the agent's."""
LONGEST_SAID = 200
LIMIT = 0.15
"""Seconds to wait for an answer, which takes 0.03 s on an idle core; without one, the trigram model decides."""
OPEN = 1e-4
"""The probability after words that a recogniser or the caller marks as unfinished."""
_SYSTEM = "<|im_start|>system\nYou are a helpful voice assistant.<|im_end|>\n"
_END_MARKS = ".?!…, -–—"
_MARKS = {".", "?", "!", '."', '?"', '!"'}


class EndReader:
    """A language model that reads the ends of turns, one question at a time, for all calls.

    Args:
        next_tokens: asks the model; raises `ComponentError` if it fails.
        name: the model's, for reports.
        close: frees the model.
    """

    def __init__(self, next_tokens: NextTokens, *, name: str, close: Callable[[], None] = lambda: None) -> None:
        self.name = name
        self._next_tokens, self._close = next_tokens, close
        self._queue = InferenceQueue("end-reader", threads=1)
        self._failed = False

    def prepare(self, said: str) -> None:
        """Have the model read the agent's last sentence, so that the next question is answered sooner."""
        self._queue.submit(lambda _is_wanted: self._read(prompt_of("", said)))

    async def probability(self, text: str, *, said: str = "") -> float | None:
        """The probability, 0 to 1, that the message ends after `text`.

        Cancelling it withdraws the question.

        Returns:
            None without words, after `LIMIT`, or if the model fails, which is logged once.

        Args:
            text: the caller's words.
            said: the agent's last sentence.
        """
        if not (words := bare(text)):
            return None
        if is_open(text):
            return OPEN
        prompt = prompt_of(words, said)
        try:
            async with asyncio.timeout(LIMIT):
                return await asyncio.wrap_future(self._queue.submit(lambda _is_wanted: self._read(prompt)))
        except TimeoutError:
            return None
        except ComponentError as error:
            if not self._failed:
                self._failed = True
                log.warning("%s cannot read the ends of turns: %s; the trigram model decides.", self.name, error)
            return None

    def read(self, text: str, *, said: str = "") -> float | None:
        """The same, in this thread and without a limit of time."""
        words = bare(text)
        return None if not words else OPEN if is_open(text) else self._read(prompt_of(words, said))

    def close(self) -> None:
        """Withdraw all questions and free the model; blocks."""
        self._queue.close(wait=True)
        self._close()

    def _read(self, prompt: str) -> float:
        return min(sum(probability for token, probability in self._next_tokens(prompt) if _ends(token)), 1.0)


def _ends(token: str) -> bool:
    """Whether a token ends a sentence or the message."""
    return not token or token.startswith("\n") or token.strip() in _MARKS


def bare(text: str) -> str:
    """The words, without marks at their end and without control tokens."""
    return text.strip().rstrip(_END_MARKS).replace("<|", "< |")[-LONGEST_TEXT:]


def prompt_of(words: str, said: str) -> str:
    """The prompt whose next token is asked for."""
    agent = f"<|im_start|>assistant\n{said[-LONGEST_SAID:].replace('<|', '< |')}<|im_end|>\n" if said else ""
    return f"{_SYSTEM}{agent}<|im_start|>user\n{words}"
