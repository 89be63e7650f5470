"""Reads the JSON of a client's messages, which may be made to take long: bounded before it is parsed. Pure."""

import json
from typing import Any

import numpy as np

from voice.errors import WireError
from voice.plain_text import plain_values
from voice.server.limits import DEEPEST

_STEPS = np.zeros(256, np.int8)
"""By how much each character of a JSON text changes its nesting."""
_STEPS[[ord("["), ord("{")]], _STEPS[[ord("]"), ord("}")]] = 1, -1


class CompactRepr(dict[str, Any]):
    """A JSON object that is short as text: pipecat formats the message of a frame at each part of the pipeline."""

    def __repr__(self) -> str:
        return f"{len(self)} fields"


def read_message(text: str) -> CompactRepr:
    """Read a client's message; its texts are made plain.

    Raises:
        WireError: its lists and objects are nested too deeply, or it is no JSON object.
    """
    if is_deep(text):
        raise WireError(f"a message has more than {DEEPEST} lists and objects in one another")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError("a message is not JSON") from error
    if not isinstance(content, dict):
        raise WireError("a message is not a JSON object")
    return CompactRepr(plain_values(content))


def is_deep(text: str) -> bool:
    """Whether more than `DEEPEST` lists and objects of a JSON text are in one another.

    Few brackets cannot be deep, so that most texts are not scanned.
    """
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    # Without escapes, each quote begins or ends a string. Other characters than ASCII become one question mark each.
    plain = text.replace("\\\\", "").replace('\\"', "").encode("ascii", "replace")
    characters = np.frombuffer(plain, np.uint8)
    steps = _STEPS[characters]
    steps[np.cumsum(characters == ord('"')) % 2 == 1] = 0
    return bool(steps.cumsum(dtype=np.int32).max(initial=0) > DEEPEST)
