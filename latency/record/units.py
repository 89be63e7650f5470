"""The units of recorded values as types: a field's type says what it counts and what a file may hold for it."""

from typing import Annotated

from msgspec import Meta

_FURTHEST = 1e9
"""Beyond any instant, duration or count of a recording."""

Instant = Annotated[float, Meta(ge=0, le=_FURTHEST, description="instant")]
"""A point in time, seconds: on the server's monotonic clock while a call runs, on the recording's clock in a run
folder, where 0 is the first sample of the session's WAV file."""
EarlierInstant = Annotated[float, Meta(ge=-_FURTHEST, le=_FURTHEST, description="earlier instant")]
"""The same, but it may lie before the recording, as for what the server did when the call began."""
Seconds = Annotated[float, Meta(ge=-_FURTHEST, le=_FURTHEST, description="seconds")]
"""A duration."""
Milliseconds = Annotated[float, Meta(ge=-_FURTHEST, le=_FURTHEST, description="milliseconds")]
"""A duration."""
Number = Annotated[float, Meta(ge=-_FURTHEST, le=_FURTHEST)]
Probability = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, le=int(_FURTHEST))]
"""A number of things, or a position, which counts from 0."""
