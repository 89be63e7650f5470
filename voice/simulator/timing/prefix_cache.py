"""A model's prefix cache: the beginnings of conversations that it need not read again."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

from voice.simulator.conversation import Message, token_count
from voice.simulator.journal import Exchange

_MOST_PREFIXES = 4096


class PrefixCache:
    """Remembers the prefixes of the latest few thousand conversations.

    Real caches start at 1024 tokens and forget after minutes; this one keeps any length while there is room, since the
    published times to the first token are those of prompts that had been read. What is billed as cached is another
    matter: `Exchange.discounted_tokens`.
    """

    def __init__(self) -> None:
        self._prefixes: OrderedDict[bytes, None] = OrderedDict()

    def cached_tokens(self, fixed: str, messages: Sequence[Message]) -> int:
        """Tokens of the longest known beginning of a conversation.

        Args:
            fixed: the part of the prompt before the messages (instructions, tools); if it changes, nothing is cached.
            messages: the conversation.
        """
        counts = [_count(message) for message in messages]
        for length, digest in reversed(list(enumerate(_digests(fixed, messages)))):
            if digest in self._prefixes:
                self._prefixes.move_to_end(digest)
                return token_count(fixed) + sum(counts[:length])
        return 0

    def remember(self, fixed: str, messages: Sequence[Message]) -> None:
        """Remember all prefixes of a conversation that has been read."""
        for digest in _digests(fixed, messages):
            self._prefixes[digest] = None
            self._prefixes.move_to_end(digest)
        while len(self._prefixes) > _MOST_PREFIXES:
            self._prefixes.popitem(last=False)


def conversation_tokens(fixed: str, messages: Sequence[Message]) -> int:
    """The number of tokens of a request."""
    return token_count(fixed) + sum(_count(message) for message in messages)


def read_prefix(cache: PrefixCache, exchange: Exchange, fixed: str, messages: Sequence[Message]) -> int:
    """Look up a request in the cache, remember it, and record its token counts.

    Returns:
        The number of tokens to read again: those before the newest message that were not in the cache.
    """
    cached = cache.cached_tokens(fixed, messages)
    cache.remember(fixed, messages)
    exchange.input_tokens, exchange.cached_tokens = conversation_tokens(fixed, messages), cached
    return max(0, conversation_tokens(fixed, messages[:-1]) - cached)


def _count(message: Message) -> int:
    framing = 4  # tokens for the role and the marks around every message
    return token_count(message.text) + framing


def _digests(fixed: str, messages: Sequence[Message]) -> list[bytes]:
    """One digest for each prefix, from the empty one to the whole conversation."""
    running = hashlib.blake2b(fixed.encode(), digest_size=16)
    found = [running.digest()]
    for message in messages:
        running.update(f"\0{message.role}\0{message.text}".encode())
        found.append(running.digest())
    return found
