"""Audacity label files: the truth about a recording, `start<TAB>end<TAB>label` in seconds, one stretch a line. Pure."""

from voice.errors import FixtureError

LABELS = ("speech", "backchannel", "noise", "echo")
"""speech: the user speaks and wants to be understood; backchannel: "mm-hm" that is no turn; noise; echo: the bot's own
voice coming back."""

TOLERANCE = 0.01
"""Seconds a label may end after the recording: label files hold rounded numbers."""

Label = tuple[float, float, str]


def is_label_file(text: str) -> bool:
    """Whether the text can be labels at all; a transcript beside a recording has no tabs."""
    return "\t" in text


def parse_labels(text: str, *, source: str, duration: float) -> tuple[Label, ...]:
    """The labels of a recording in order.

    Args:
        text: the file's content; Audacity's frequency lines (beginning with a backslash) are skipped.
        source: the file's name, for errors.
        duration: seconds of the recording.

    Raises:
        FixtureError: a line is no label, a label is unknown, ends before it starts, lies outside the recording, or
            stretches of one label are unsorted or overlap.
    """
    labels = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("\\"):
            labels.append(_parse_line(line, f"{source} line {number}", duration))
    for name in LABELS:
        stretches = [label for label in labels if label[2] == name]
        for before, after in zip(stretches, stretches[1:], strict=False):
            if after[0] < before[1]:
                raise FixtureError(
                    f"{source}: the {name} labels are unsorted or overlap at {after[0]:g} s; sort them by start."
                )
    return tuple(sorted(labels))


def _parse_line(line: str, where: str, duration: float) -> Label:
    fields = line.split("\t")
    try:
        start, end, label = float(fields[0]), float(fields[1]), fields[2].strip()
    except (ValueError, IndexError):
        raise FixtureError(f"{where}: {line!r} is not start<TAB>end<TAB>label with times in seconds.") from None
    if label not in LABELS:
        raise FixtureError(f"{where}: unknown label {label!r}; use {', '.join(LABELS)}.")
    if not 0 <= start < end:
        raise FixtureError(f"{where}: {start:g} to {end:g} is no stretch; start at 0 s or later, end after it.")
    if end > duration + TOLERANCE:
        raise FixtureError(f"{where}: the label ends at {end:g} s, outside the recording of {duration:g} s.")
    return start, end, label
