"""A model's prefix cache: the beginnings of conversations that it does not read again."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

from pipelines.lab.simulator.conversation import Message, token_count
from pipelines.lab.simulator.journal import Exchange

_MOST_PREFIXES = 4096
_FRAMING = 4
"""Tokens for the role and the marks around every message."""


class PrefixCache:
    """Remembers the prefixes of the latest few thousand conversations.

    Real caches start at 1024 tokens and forget after minutes. This one keeps any length while there is room, because
    the published times to the first token are those of cached prompts. For billing, see `Exchange.discounted_tokens`.
    """

    def __init__(self) -> None:
        self._prefixes: OrderedDict[bytes, None] = OrderedDict()

    def read(self, exchange: Exchange, fixed: str, messages: Sequence[Message]) -> int:
        """Look up a request, remember all its prefixes, and record its token counts.

        Args:
            exchange: the request's record.
            fixed: the part of the prompt before the messages (instructions, tools); if it changes, nothing is cached.
            messages: the conversation.

        Returns:
            The number of tokens to read again: those before the newest message that were not in the cache.
        """
        counts = [token_count(fixed), *(token_count(message.text) + _FRAMING for message in messages)]
        digests = _digests(fixed, messages)
        known = max((number for number, digest in enumerate(digests, 1) if digest in self._prefixes), default=0)
        for digest in digests:
            self._prefixes[digest] = None
            self._prefixes.move_to_end(digest)
        while len(self._prefixes) > _MOST_PREFIXES:
            self._prefixes.popitem(last=False)
        exchange.input_tokens, exchange.cached_tokens = sum(counts), sum(counts[:known])
        return max(0, sum(counts[: max(1, len(messages))]) - exchange.cached_tokens)


def _digests(fixed: str, messages: Sequence[Message]) -> list[bytes]:
    """One digest for each prefix, from the empty one to the whole conversation."""
    running = hashlib.blake2b(fixed.encode(), digest_size=16)
    found = [running.digest()]
    for message in messages:
        running.update(f"\0{message.role}\0{message.text}".encode())
        found.append(running.digest())
    return found
