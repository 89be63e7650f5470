"""What has to become of each broken turn: the table of the matrix."""

import re

from tests.faults.matrix import CELLS, FAILURES, MOMENTS, PARTS, Cell, Part

TABLE = """
                            before      speaking    deciding             answering            after
recogniser process dies     answered    repeated    repeated             answered             answered
recogniser process hangs    repeated    repeated    repeated             answered             answered
recogniser process slow     answered    answered    answered             -                    -
recogniser process garbage  answered    repeated    repeated             -                    -
recogniser process refuses  repeated    repeated    repeated             answered             answered
Whisper service dies        repeated    repeated    repeated|answered    -                    -
Whisper service hangs       repeated    repeated    repeated|answered    -                    -
Whisper service slow        answered    answered    answered             -                    -
Whisper service garbage     told        told        told|answered        -                    -
Whisper service refuses     repeated    repeated    repeated|answered    -                    -
voice detector dies         closed      closed      closed               closed               closed
voice detector hangs        closed      closed      closed               closed               answered
voice detector slow         answered    answered    answered             answered             answered
voice detector garbage      closed      closed      closed               closed               closed
Smart Turn dies             answered    answered    answered             -                    -
Smart Turn hangs            answered    answered    answered             -                    -
Smart Turn slow             answered    answered    answered             -                    -
Smart Turn garbage          answered    answered    answered             -                    -
Smart Turn refuses          answered    answered    answered             -                    -
large model dies            rescued     rescued     rescued              answered             -
large model hangs           rescued     rescued     rescued              answered             -
large model slow            rescued     rescued     rescued              answered             -
large model garbage         rescued     rescued     rescued              answered             -
large model refuses         rescued     rescued     rescued              answered             -
fast model dies             answered    answered    answered             -                    -
fast model hangs            answered    answered    answered             -                    -
fast model slow             answered    answered    answered             -                    -
fast model garbage          answered    answered    answered             -                    -
fast model refuses          answered    answered    answered             -                    -
tool dies                   told        told        told                 -                    -
tool hangs                  apologised  apologised  apologised           -                    -
tool slow                   answered    answered    answered             -                    -
tool garbage                told        told        told                 -                    -
tool refuses                told        told        told                 -                    -
synthesis dies              apologised  apologised  apologised           apologised|answered  -
synthesis hangs             apologised  apologised  apologised           apologised|answered  -
synthesis slow              answered    answered    answered             answered             -
synthesis garbage           apologised  apologised  apologised           apologised|answered  -
synthesis refuses           apologised  apologised  apologised           apologised|answered  -
client's socket dies        answered    answered    answered             answered             answered
client's socket hangs       answered    repeated    repeated|answered    answered             answered
client's socket slow        answered    answered    answered             answered             answered
client's socket garbage     closed      closed      closed               closed               closed
client's socket refuses     answered    told        answered             answered             answered
provider's socket dies      answered    answered    answered             apologised|answered  answered
provider's socket hangs     apologised  apologised  apologised           apologised|answered  answered
provider's socket slow      answered    answered    answered             answered             -
provider's socket garbage   answered    answered    answered             apologised|answered  -
provider's socket refuses   apologised  apologised  apologised           apologised|answered  answered
recording's disk dies       -           -           -                    answered             answered
recording's disk hangs      -           -           -                    answered             answered
recording's disk slow       -           -           -                    answered             answered
recording's disk refuses    -           -           -                    answered             answered
"""
"""A bar stands between outcomes of which chance, or how busy the machine is, decides.

A caller whose connection breaks while they speak is heard in two parts, and the scripted recogniser makes the words
of the whole turn of each: the model is told what nobody said.
"""

NAMED: dict[Part, re.Pattern[str]] = {
    "recogniser process": re.compile(r"recogniser"),
    "Whisper service": re.compile(r"scripted:whisper failed|recogniser gave no text"),
    "voice detector": re.compile(r"voice detector"),
    "Smart Turn": re.compile(r"turn taking"),
    "large model": re.compile(r"sim:sonnet|language model"),
    "fast model": re.compile(r"sim:groq-fast"),
    "tool": re.compile(r"tool"),
    "synthesis": re.compile(r"speech synthesis"),
    "client's socket": re.compile(r"connection|closed the call|turn taking"),
    "provider's socket": re.compile(r"sim:sonnet|sim:groq-fast|language model"),
    "recording's disk": re.compile(r"No space left|Read-only"),
}
"""How the reason for a loss names the part."""
OF_MODELS = ("large model", "fast model")
"""Elsewhere it is all the same which model answers: on a busy machine, the fast one does."""


def _read() -> dict[Cell, frozenset[str]]:
    lines = {line[:28].strip(): line[28:].split() for line in TABLE.splitlines() if line.strip()}
    found = {}
    for part in PARTS:
        for failure in FAILURES:
            for moment, words in zip(MOMENTS, lines.get(f"{part} {failure}", []), strict=False):
                allowed = set(words.split("|"))
                if part not in OF_MODELS and "answered" in allowed:
                    allowed.add("rescued")
                if words != "-":
                    found[Cell(part, failure, moment)] = frozenset(allowed)
    return found


EXPECTED = _read()
assert set(EXPECTED) == set(CELLS), set(EXPECTED) ^ set(CELLS)
