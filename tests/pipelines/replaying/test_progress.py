"""The lines that a replay shows for each turn."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from latency.record.json_form import from_json
from latency.record.turn import ServerTurn
from pipelines.replaying.progress import CallProgress, Progress, spoken_by
from voice.client.caller.scripted_caller import PlacedTurn
from voice.client.fixtures.fixture import FixtureTurn
from voice.client.playback.bot_utterances import Utterance


def report(
    number: int,
    *attempts: tuple[str, float | None, str],
    responses: bool = True,
    interrupted: bool = False,
    **told: Any,
) -> ServerTurn:
    """A turn committed at 100 s that had to have answer text by 100.45 s."""
    response = {"response": 0, "policy": "fallback", "reason": "large first", "commit": 100.0, "deadline": 100.45}
    told = {"limit": "llm", "charged": None, "said": [], "gave_up": None, "tier": None} | told
    content = {
        "turn": number,
        "marks": {"turn_commit": 100.0, "vad_stop": None},
        "interrupted": interrupted,
        "attempts": [
            {"response": 0, "tier": tier, "request": 100.0, "first_clause": clause, "end": 101.0, "outcome": outcome}
            for tier, clause, outcome in attempts
        ],
        "responses": [response | told] if responses else [],
    }
    return from_json(ServerTurn, content)


HOLD = [{"at": 100.43, "kind": "hold", "text": "One moment."}]


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        (report(0, ("large", 100.3, "spoken")), "large"),
        (report(0, ("large", None, "cancelled"), ("fast", 100.4, "spoken")), "fast, rescued"),
        (report(0, ("large", 100.77, "spoken")), "large, 320 ms late"),
        (report(0, ("large", 101.2, "spoken"), said=HOLD), "One moment. … large"),
        (report(0, ("large", None, "cancelled"), said=HOLD, interrupted=True), "One moment. …"),
        (report(0, ("large", None, "failed"), gave_up="large: down"), "no answer"),
        (report(0, ("large", None, None), interrupted=True), "no answer"),
        (report(0, ("large", None, "cancelled"), commit=None, deadline=None, limit=None), None),
        (report(0, ("responder", 100.1, "spoken"), responses=False), None),
        (report(0, responses=False), None),
        (ServerTurn(turn=0), None),
    ],
)
def test_a_turn_names_the_tier_that_answered_and_how(told: ServerTurn, shown: str | None) -> None:
    assert spoken_by(told) == shown


def placed(index: int) -> PlacedTurn:
    turn = FixtureTurn(
        name=f"{index}.wav", wav=Path(f"{index}.wav"), text="what time is it", speaker="someone",
        samples=np.zeros(32000, np.int16), speech=((0.5, 2.0),), labels=(), send_after=None, wants_answer=True,
        contains=(), truth="labelled", sha256="",
    )  # fmt: skip
    return PlacedTurn(index=index, turn=turn, position=index * 10 * 16000)


def shown(progress: CallProgress, file: io.StringIO) -> list[str]:
    with progress:
        progress.on_placed(placed(0))
        progress.on_heard("what time is it")
        progress.on_said("It is noon.")
        progress.on_turn(report(0, ("large", None, None)))
        progress.on_turn(report(0, ("large", None, "cancelled"), ("fast", 100.4, "spoken")))
        progress.on_placed(placed(1))
        # The end of the turn before, told late.
        progress.on_turn(report(0, ("large", 100.3, "spoken")))
        progress.on_heard("[thanks]")
    return [line.strip() for line in file.getvalue().splitlines()]


def test_a_turns_line_ends_with_its_own_tier_and_never_with_another_turns() -> None:
    file = io.StringIO()
    progress = CallProgress(Console(file=file, width=200), "a call (1/1)")
    utterance = Utterance(start=2.62, end=4.0, received=2.5)
    progress.result = lambda: SimpleNamespace(utterances=(utterance,), reached=(placed(0), placed(1)))  # type: ignore[assignment,return-value]
    title, first, second = shown(progress, file)
    assert title == "a call (1/1)"
    assert first == "620 ms  what time is it → It is noon.  (fast, rescued)"
    assert second == "–     [thanks] → (nothing)"


def test_a_turn_that_began_after_the_connection_was_lost_for_good_has_no_line() -> None:
    file = io.StringIO()
    progress = CallProgress(Console(file=file, width=200), "a call (1/1)")
    progress.result = lambda: SimpleNamespace(utterances=(), reached=(placed(0),))  # type: ignore[assignment,return-value]
    assert shown(progress, file) == ["a call (1/1)", "–     what time is it → It is noon.  (fast, rescued)"]


def test_lines_are_folded_to_80_columns_and_go_on_below_their_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    chosen = "llm: the responder, because no language model server answers here; `ollama run llama3.2` starts one"
    progress = Progress(calls=1)
    progress.serving({"components": {"vad": "silero", "llm": "a model [of some size] " * 9}, "chosen": [chosen]})
    progress.note("a recording " + "was converted and " * 9 + "read")
    call = progress.call("tour")
    call.result = lambda: SimpleNamespace(utterances=(), reached=(placed(0),))  # type: ignore[assignment,return-value]
    with call:
        call.on_placed(placed(0))
        call.on_heard("count to twenty")
        call.on_said(", ".join(map(str, range(1, 40))))
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line != line.rstrip()] == []
    auto = next(index for index, line in enumerate(lines) if line.startswith("  auto  llm: the responder"))
    assert lines[auto + 1].startswith(" " * 8 + "`ollama")
    assert next(line for line in lines if "count to twenty → 1, 2" in line).startswith("     –     count")
    assert lines[-1].startswith(" " * 11)
    assert lines[-1].endswith("39")
