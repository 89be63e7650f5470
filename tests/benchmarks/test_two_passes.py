"""The words of one pass, of two passes, and of whole windows; and how often the second pass changed any that matter.

VOICE_WHISPER_DIR=MODEL python -m pytest tests/benchmarks/test_two_passes.py -m slow -s

On `samples/people`, and on the fixtures in the folders that VOICE_RECORDINGS names (separated by ":"), without the
recordings that samples/people also has. Each is cut as in a call.
"""

import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from latency.judge.answer import normalised, word_errors
from pipelines.calibrating.measuring import utterances
from voice.asr.changed_words import ChangedWords, changed_words
from voice.asr.whisper.decoding import AUTO, FULL, WhisperPasses
from voice.asr.whisper.model import load_model
from voice.asr.whisper.service import is_likelier
from voice.asr.whisper.weights import from_folder
from voice.client.fixtures.fixture import load_fixtures

pytestmark = pytest.mark.slow

PEOPLE = Path(__file__).parents[2] / "samples" / "people"


@dataclass(frozen=True)
class Heard:
    truth: str
    first: str
    check: str
    full: str
    changed: ChangedWords | None
    likelier: bool

    @property
    def both(self) -> str:
        return self.check if self.changed and self.likelier else self.first

    def errors(self, text: str) -> int:
        return word_errors(self.truth, text)[0]


@pytest.mark.skipif("VOICE_WHISPER_DIR" not in os.environ, reason="needs the folder of a Whisper model")
def test_words_of_one_pass_against_two(capsys: pytest.CaptureFixture[str]) -> None:
    weights = from_folder(Path(os.environ["VOICE_WHISPER_DIR"]))
    model = load_model(weights.path, name=weights.name, device="cpu", compute_type="int8", threads=1)
    short, whole = (WhisperPasses(model, name=weights.name, language="en", decoding=way) for way in (AUTO, FULL))
    rows: dict[str, list[Heard]] = defaultdict(list)
    known = set()
    folders = [PEOPLE, *map(Path, filter(None, os.environ.get("VOICE_RECORDINGS", "").split(":")))]
    for folder in folders:
        for fixture in load_fixtures([folder]):
            group = fixture.name.split("/")[0] if folder == PEOPLE else folder.name
            for one in utterances([fixture]):
                if folder != PEOPLE and normalised(one.text) in known:
                    continue
                known.add(normalised(one.text))
                first, check, full = (
                    short.transcribe(one.samples), short.check(one.samples), whole.transcribe(one.samples)
                )  # fmt: skip
                changed = changed_words(first, check) if check else None
                likelier = check is not None and is_likelier(check, first)
                rows[group].append(Heard(one.text, first, check or "", full, changed, likelier))
    with capsys.disabled():
        print()
        for group, heard in [*rows.items(), ("people, all", [h for g, r in rows.items() if g in GROUPS for h in r])]:
            print(line(group, heard))
        for group, heard in rows.items():
            for one in heard:
                if one.changed:
                    verb = "changed" if one.likelier else "left"
                    before, after = one.errors(one.first), one.errors(one.check)
                    heard_as = f"“{one.changed.before}” to “{one.changed.after}”"
                    print(f"{group}, {verb}: {heard_as} (word errors {before}, {after}): {one.truth}")
    people = [one for group in GROUPS for one in rows[group]]
    assert sum(one.errors(one.both) for one in people) <= sum(one.errors(one.first) for one in people)


GROUPS = ("coffee", "orders", "prompts", "requests", "sentences")
"""The folders of samples/people."""


def line(group: str, heard: list[Heard]) -> str:
    words = sum(len(normalised(one.truth).split()) for one in heard)
    rates = {name: sum(one.errors(getattr(one, name)) for one in heard) / words for name in ("first", "both", "full")}
    used = [one for one in heard if one.changed and one.likelier]
    gained = np.array([one.errors(one.first) - one.errors(one.both) for one in used])
    return (
        f"{group}: {len(heard)} recordings, {words} words; one pass {rates['first']:.1%}, two {rates['both']:.1%}, "
        f"whole windows {rates['full']:.1%}; other words in {sum(one.changed is not None for one in heard)}, changed "
        f"{len(used)}: {(gained > 0).sum()} mended, {(gained < 0).sum()} spoiled"
    )
