"""Recorded silences made by hand."""

from collections.abc import Sequence

from pipelines.lab.curve.recorded import STEP, Clip, Kind, MessageRun, Silence, TimedVerdict

STOP = 0.2


def silence(
    kind: Kind, began: float, counted: float, *, sound: float = 0.5, pause: int | None = None, goes_on: bool = False
) -> Silence:
    """A silence of this length, without sounds in doubt."""
    messages = max(1, round((counted - STOP) / STEP))
    return Silence(
        kind=kind,
        pause=pause,
        began=began,
        stopped=began + STOP if counted >= STOP else None,
        resumed=None if goes_on else began + counted,
        counted=counted,
        runs=(MessageRun(at=began + STOP, counted=STOP, messages=messages, doubtful=False),) if counted >= STOP else (),
        asked=tuple(TimedVerdict(after=after, probability=sound) for after in (0.096, 0.2) if counted >= after),
        spoken=began,
        speech=began,
        text="",
        pauses=(),
    )


def clip(
    name: str, *silences: Silence, pauses: Sequence[float] = (), speaker: str = "Ann", synthetic: bool = False
) -> Clip:
    """A recording that begins with 1 s of speech; more follows after each of the labelled pauses."""
    speech = [(0.0, 1.0)]
    for pause in pauses:
        begins = speech[-1][1] + pause
        speech.append((begins, begins + 1.0))
    return Clip(
        name=name,
        wav="",
        sha256="",
        speaker=speaker,
        synthetic=synthetic,
        inserted=False,
        text="",
        truth="labelled",
        speech=tuple(speech),
        alignment="none",
        silences=silences,
    )


def turn(name: str, *, pause: float | None, sound: float, end_sound: float, speaker: str = "Ann") -> Clip:
    """A turn with one pause, or with none; `sound` is Smart Turn's probability in it."""
    if pause is None:
        return clip(name, silence("end", 1.0, 3.0, sound=end_sound, goes_on=True), speaker=speaker)
    return clip(
        name,
        silence("pause", 1.0, pause, sound=sound, pause=0),
        silence("end", 2.0 + pause, 3.0, sound=end_sound, goes_on=True),
        pauses=[pause],
        speaker=speaker,
    )
