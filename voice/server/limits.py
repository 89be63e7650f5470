"""The limits of what clients may do: calls, sizes, rates and times, and the bucket that keeps count of a rate. Pure.

What a client sends is bounded before it is parsed.
"""

import resource
from typing import NamedTuple


class Rate(NamedTuple):
    """How often something may happen."""

    a_second: float
    """On average."""
    at_once: int


MOST_CALLS = 32
"""Calls that a server takes at once, unless it is set: more than two cores can answer in time."""
MOST_FROM_ONE = 8
"""Calls that a server takes at once from one other machine, unless it is set."""
LONGEST_CALL = 3600.0
"""Seconds after which a call is closed, unless it is set."""
RESUME_WITHIN = 30.0
"""Seconds for which a call waits for a client whose connection broke, unless it is set."""
IDLE = 60.0
"""Seconds without a message from the client after which a call is closed, unless it is set."""
DRAIN_WITHIN = 30.0
"""Seconds that the calls under way may take after SIGTERM, unless it is set."""
REQUEST_WITHIN = 10.0
"""Seconds from the connection to the end of its first request."""
LARGEST_HEAD = 16 << 10
"""Bytes of a request's line and headers; some with long cookies have 8 kB."""
MOST_HEADERS = 100
LARGEST_BODY = 16 << 10
"""Bytes of a request's body; only `POST /start` has one."""
OPENED = Rate(40.0, 8)
"""New connections and further requests, per second on average and at once: each takes 2 ms of the event loop. Others
wait, 50 of them for a second."""
DESCRIPTORS_OF_A_CALL = 4
MOST_RESERVED = 32
"""File descriptors reserved for the calls under way; new connections do not get them."""

LARGEST_MESSAGE = 1 << 20
"""Bytes of a message, all fragments together: enough for an image from pipecat's eval harness."""
LARGEST_AUDIO = 128 << 10
"""Bytes of a message with audio: 4 s of it at 16 kHz."""
LARGEST_TEXT = 64 << 10
"""Characters of an RTVI message. Messages of this project have a few hundred, or up to 24,000 if each character of a
text is escaped; applications may send larger ones."""
DEEPEST = 32
"""Nesting depth of an RTVI message; its envelope takes three."""
FRAMES = Rate(400.0, 4000)
"""WebSocket frames, per second on average and at once: six times one frame per 16 ms of audio, and the frames that a
client sends again after half a minute away."""
CONTROLS = Rate(10.0, 50)
"""Pings and pongs."""
RTVI = Rate(20.0, 200)
"""RTVI messages."""
READ = Rate(1000.0, 64)
"""Messages taken from one client's socket; beyond this rate it is not read, so no other client waits."""
RTVI_READ = Rate(50.0, 10)
"""Messages without audio: each passes through the whole pipeline."""
READ_BYTES = 16 << 10
"""Bytes read from a socket at once."""
CHARACTERS = Rate(float(64 << 10), 256 << 10)
"""Characters of RTVI messages."""
LONGEST_TEXT = 2000
"""Characters of a text sent in place of speech: two minutes of speech."""
ASKED = Rate(2.0, 3)
"""Messages that interrupt or request an answer and are handled at once; others wait. A caller needs one every few
seconds."""
ASKED_WITHIN = 5.0
"""Seconds that such a message waits at most; one that would wait longer is refused."""
MOST_QUEUED = 100
"""RTVI messages that may wait to be handled; further ones are dropped."""
MOST_WAITING = 64
"""Messages of a client that may wait before reading its socket stops: a second of audio."""
AHEAD = 10.0
"""Seconds by which audio may run ahead of real time. A microphone never does, and recognising faster audio would take
the cores from the calls under way."""
BEHIND = 60.0
"""Seconds of audio that may be late: a network that stalls for so long delivers it all at once."""

READ_WITHIN = 5.0
"""Seconds for which a client may leave its audio unread: more than any jitter buffer holds."""
MOST_UNREAD = 1 << 20
"""Bytes that may wait for a client: pongs are queued even if it reads nothing."""


class Bucket:
    """A token bucket, full at first.

    Args:
        rate: tokens added per second, and the most it holds.
    """

    def __init__(self, rate: Rate) -> None:
        self._rate, self._level, self._then = rate, float(rate.at_once), float("-inf")

    def take(self, now: float, tokens: float = 1.0) -> bool:
        """Take tokens if there are enough; returns whether there were."""
        self._fill(now)
        if self._level < tokens:
            return False
        self._level -= tokens
        return True

    def wait(self, now: float, longest: float = float("inf")) -> float | None:
        """Take a token, perhaps in advance; returns the seconds until it is due, None if more than `longest`."""
        self._fill(now)
        wait = max(0.0, (1.0 - self._level) / self._rate.a_second)
        if wait > longest:
            return None
        self._level -= 1.0
        return wait

    def _fill(self, now: float) -> None:
        if now > self._then:
            self._level = min(self._rate.at_once, self._level + (now - self._then) * self._rate.a_second)
            self._then = now


def descriptors() -> int:
    """How many descriptors the process may open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(soft, 1 << 20) if soft != resource.RLIM_INFINITY else 1 << 20


def most_connections() -> int:
    """The most connections: a quarter of the process's descriptors, so that calls have enough."""
    return max(16, min(descriptors(), 4096) // DESCRIPTORS_OF_A_CALL)
