"""Which beginnings of conversations a model has read lately: what is cached costs no second reading."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

from voice.simulator.conversation import Message, token_count
from voice.simulator.journal import Exchange

_MOST_PREFIXES = 4096


class PrefixCache:
    """Remembers the prefixes of served conversations, the latest few thousand.

    Real caches begin at 1024 tokens and forget after minutes; this one holds any length and as long as there is room.
    """

    def __init__(self) -> None:
        self._prefixes: OrderedDict[bytes, None] = OrderedDict()

    def cached_tokens(self, fixed: str, messages: Sequence[Message]) -> int:
        """Tokens of the longest known beginning of a conversation.

        Args:
            fixed: what stands before the messages: model, instructions and tools; any change of it starts anew.
            messages: the conversation.
        """
        counts = [_count(message) for message in messages]
        for length, digest in reversed(list(enumerate(_digests(fixed, messages)))):
            if digest in self._prefixes:
                self._prefixes.move_to_end(digest)
                return token_count(fixed) + sum(counts[:length])
        return 0

    def remember(self, fixed: str, messages: Sequence[Message]) -> None:
        """A conversation has been read."""
        for digest in _digests(fixed, messages):
            self._prefixes[digest] = None
            self._prefixes.move_to_end(digest)
        while len(self._prefixes) > _MOST_PREFIXES:
            self._prefixes.popitem(last=False)


def conversation_tokens(fixed: str, messages: Sequence[Message]) -> int:
    """How many tokens a request is."""
    return token_count(fixed) + sum(_count(message) for message in messages)


def read_prefix(cache: PrefixCache, exchange: Exchange, fixed: str, messages: Sequence[Message]) -> int:
    """Read a request through the cache and note in its record what that was.

    Returns:
        The tokens to be read again: those before the newest message that were not in the cache.
    """
    cached = cache.cached_tokens(fixed, messages)
    cache.remember(fixed, messages)
    exchange.input_tokens, exchange.cached_tokens = conversation_tokens(fixed, messages), cached
    return max(0, conversation_tokens(fixed, messages[:-1]) - cached)


def _count(message: Message) -> int:
    framing = 4  # role and marks around every message
    return token_count(message.text) + framing


def _digests(fixed: str, messages: Sequence[Message]) -> list[bytes]:
    """One digest per beginning, the empty one first."""
    running = hashlib.blake2b(fixed.encode(), digest_size=16)
    found = [running.digest()]
    for message in messages:
        running.update(f"\0{message.role}\0{message.text}".encode())
        found.append(running.digest())
    return found
