"""A turn with a value of another form is refused in one sentence, or reported; it is never a traceback."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from latency.audio import recording
from latency.cli import main
from latency.record.json_form import TurnError
from latency.record.turn import TurnRecord
from tests.latency.conversations import Conversation, MakeRun

Place = tuple[str | int, ...]
WRONG: tuple[Any, ...] = (
    None, True, False, 0, -1, 7, 1.5, -1e300, 1e300, 10**400, float("nan"), float("inf"), "", "x", "soon", "\ud800",
    "\x1b[31m", [], [None], [1], ["x"], [[]], [[1, 2]], [[1, 2, 3]], {}, {"x": 1}, {"at": []}, [{}], [{"at": "x"}],
    [{"tokens": 3}],
)  # fmt: skip
"""Values of every form that JSON has, and some that Python's reader takes for JSON."""


@pytest.fixture
def line() -> dict[str, Any]:
    """A turn that has everything a turn may have."""
    attempt = {"tier": "large", "model": "sim:sonnet", "request": 2.1, "first_token": 2.3, "first_clause": 2.35,
               "end": 2.9, "outcome": "spoken", "failed": None, "response": 0, "continues": None, "calls": ["clock"],
               "tokens": {"in": 90, "out": 12, "estimated": False}}  # fmt: skip
    response = {"response": 0, "policy": "fallback", "reason": "large first", "commit": 2.2, "deadline": 2.65,
                "limit": "llm", "charged": "endpointing", "gave_up": None, "tier": "large",
                "said": [{"at": 2.4, "kind": "hold", "text": "One moment."}]}  # fmt: skip
    marks = {"vad_stop": 2.15, "eager_hint": 2.1, "turn_commit": 2.2, "transcript_final": 2.18, "llm_request": 2.1,
             "llm_first_token": 2.3, "clause_ready": 2.35, "llm_first_clause": 2.36, "clause_to_tts": 2.36,
             "tts_first_sample": 2.42, "first_sent": 2.43}  # fmt: skip
    shared = {"heard": "what time is it", "said": "It is ten.", "ended_by": "smart_turn", "interrupted": False,
              "failed": None, "smart_turn": {"probability": 0.9, "ms": 12.0}, "marks": marks, "attempts": [attempt],
              "responses": [response]}  # fmt: skip
    ahead = {"hints": 2, "started": 2, "discarded": 1, "used": True, "request": 2.1, "spoken_ahead": False}
    server_turn = {"turn": 0, "final": True, "opening": "One moment.", "opening_seconds": 0.4, "answer_pending": False,
                   "stalls": 1, "speculation": ahead, **shared}  # fmt: skip
    return {
        "schema": 1, "session": "call", "turn": 0, "scenario": "made/call", "fixture": "made/01.wav",
        "cold": False, "late_ms_max": 3.0, "barge_in": False, "backchannel": False,
        "text": "what time is it", "truth": "labelled", "speech": [[1.0, 1.4], [1.6, 2.0]],
        "labels": [[0.1, 0.2, "noise"]], "wants_answer": True, "contains": ["ten"],
        "server_turns": [server_turn], "stalls": [{"at": 2.3, "ms": 40.0, "kind": "event loop"}], **shared,
    }  # fmt: skip


def places(value: Any, reached: Place = ()) -> Iterator[Place]:
    """Where a value can be changed in a JSON object, at any depth."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*reached, key)
        yield from places(child, (*reached, key))


def changed(line: dict[str, Any], place: Place, value: Any) -> dict[str, Any]:
    holder = copied = copy.deepcopy(line)
    for key in place[:-1]:
        holder = holder[key]  # type: ignore[index]
    holder[place[-1]] = value  # type: ignore[index]
    return copied


def mutants(line: dict[str, Any]) -> Iterator[tuple[Place, dict[str, Any]]]:
    for place in places(line):
        for value in WRONG:
            yield place, changed(line, place, value)


@pytest.fixture
def write_run(make_run: MakeRun) -> Callable[..., Path]:
    """Write lines as the turns of a run whose sessions share a recording."""

    def write(lines: list[dict[str, Any]]) -> Path:
        made = make_run([TurnRecord(session="commands", turn=0, wants_answer=False)], None)
        run = json.loads((made / "run.json").read_text())
        folder = made.parent / f"damaged-{len(list(made.parent.iterdir()))}"
        folder.mkdir()
        talk = Conversation(4).user(1, 2).bot(2.5, 3.6)
        recording.write(folder / "call.wav", talk.samples)
        names = dict.fromkeys(str(line["session"]) for line in lines)
        run["sessions"] = [{"name": name, "wav": "call.wav", "seconds": 4.0, "turns": 1} for name in names]
        (folder / "run.json").write_text(json.dumps(run))
        (folder / "turns.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return folder

    return write


def test_every_wrong_value_is_refused_in_a_sentence_or_reported(
    line: dict[str, Any], write_run: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken, refused = [], []
    # All of them pass, but take half a minute.
    for _, mutant in random.Random(4).sample(list(mutants(line)), 1000):
        try:
            TurnRecord.from_json(json.dumps(mutant))
        except TurnError as error:
            refused.append(str(error))
        else:
            taken.append(mutant)
    assert len(refused) > 500
    assert all(sentence.isprintable() and len(sentence) < 1000 for sentence in refused)
    for number, mutant in enumerate(taken):
        mutant["session"] = f"call {number}"
    folder = write_run(taken)
    for form in ([], ["--json"], ["--csv"], ["--trace", str(tmp_path / "trace.json")]):
        assert main(["report", str(folder), *form]) == 0
        assert capsys.readouterr().out
    few = taken[::20]
    folder = write_run(few)
    for mutant in few:
        assert main(["turn", str(folder), mutant["session"], str(mutant["turn"]), "--no-wav"]) == 0


def test_the_command_refuses_a_wrong_value_in_one_line(
    line: dict[str, Any], write_run: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for place in (("attempts", 0, "outcome"), ("responses", 0, "response"), ("attempts", 0, "tokens", "in")):
        folder = write_run([changed(line, place, ["x"])])
        assert main(["report", str(folder)]) == 2
        found = capsys.readouterr()
        assert (found.out, found.err.count("\n")) == ("", 1)
        assert found.err.startswith(f"latency: {folder / 'turns.jsonl'} is damaged in line 1 (")
        assert f"{place[-1]} is ['x'], not a" in found.err
        assert found.err.rstrip().endswith("take the line out, or replay again")
