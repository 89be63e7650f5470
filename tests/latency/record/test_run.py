import hashlib
import json
import os
import wave
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from latency.record.run import Run, RunError, RunHeader, newest
from latency.record.run_writer import RunWriter, new_folder
from latency.record.session import ListedSession, Session
from latency.record.turn import TurnRecord

HEADER = RunHeader(created="2026-11-20T17:03:12+01:00", pipeline={"name": "embedded"}, host={"cpus": 2})
TURN = TurnRecord(session="commands", turn=0, wants_answer=True, speech=((1.0, 2.0),))


@pytest.fixture
def writer(tmp_path: Path) -> RunWriter:
    return RunWriter(new_folder(tmp_path / "runs", HEADER), header=HEADER)


def test_what_was_written_is_read(writer: RunWriter) -> None:
    stereo = np.arange(2000, dtype=np.int16).reshape(-1, 2)
    session = Session(name="commands", wav=writer.write_session_wav("commands", stereo), seconds=0.0625)
    writer.add_turns([TURN])
    writer.add_session(session)
    run = Run.load(writer.finish("complete", load_after=0.4))
    listed = ListedSession(name="commands", wav=session.wav, seconds=0.0625, turns=1)
    assert run.folder.name == "20261120-170312-embedded"
    assert (run.status, run.turns, run.sessions, run.notes) == ("complete", (TURN,), (listed,), ())
    assert run.header.host == {"cpus": 2, "load_after": 0.4}
    recording = run.recording(session)
    assert recording is not None
    assert np.array_equal(recording, stereo)


def test_runs_of_the_same_second_get_folders_of_their_own(tmp_path: Path) -> None:
    header = replace(HEADER, pipeline={"name": "my pipe/line"})
    names = [new_folder(tmp_path / "runs", header).name for _ in range(2)]
    assert names == ["20261120-170312-my-pipe-line", "20261120-170312-my-pipe-line-2"]


def test_a_run_goes_where_it_is_told_but_never_over_another(tmp_path: Path) -> None:
    RunWriter(tmp_path / "a" / "mine", header=HEADER)
    with pytest.raises(RunError, match="mine already holds a run; name another folder"):
        RunWriter(tmp_path / "a" / "mine", header=HEADER)


def test_a_run_is_running_from_its_first_moment(writer: RunWriter) -> None:
    content = json.loads((writer.folder / "run.json").read_text())
    assert (content["schema"], content["status"], content["sessions"]) == (1, "running", [])


def test_a_killed_writer_leaves_a_readable_run(writer: RunWriter) -> None:
    writer.add_turns([TURN])
    with (writer.folder / "turns.jsonl").open("a") as file:
        file.write(json.dumps(TURN.to_json())[:40])
    (writer.folder / "commands.wav.part").write_bytes(b"RIFF")
    run = Run.load(writer.folder)
    assert run.turns == (TURN,)
    assert run.recording(Session(name="commands")) is None
    assert run.notes == (
        "this run is not complete: its status is 'running'",
        "the last line of turns.jsonl was cut short and is not counted",
        "session 'commands' is not in run.json: the run ended while it was saved",
    )


def test_a_session_that_ended_early_is_told(writer: RunWriter) -> None:
    writer.add_turns([TURN])
    writer.add_session(Session(name="commands", closed="the server went away", never_sent=3))
    assert Run.load(writer.finish("complete")).notes == (
        "session 'commands' ended early: the server went away",
        "session 'commands' ended before 3 of its turns",
    )


def test_turns_that_are_lost_are_told_from_those_that_were_written(writer: RunWriter) -> None:
    writer.add_turns([replace(TURN, turn=number) for number in range(3)])
    writer.add_session(Session(name="commands"))
    folder = writer.finish("complete")
    turns = (folder / "turns.jsonl").read_text().splitlines(keepends=True)
    (folder / "turns.jsonl").write_text("".join(turns[:2]))
    assert Run.load(folder).notes == ("session 'commands': 2 of its 3 turns are left in turns.jsonl",)


def test_a_turn_that_was_written_twice_counts_once(writer: RunWriter) -> None:
    writer.add_turns([TURN, TURN])
    run = Run.load(writer.folder)
    assert run.turns == (TURN,)
    assert "turns.jsonl holds 1 of its turns twice; each is counted once" in run.notes


def test_a_recording_that_is_whole_but_shorter_than_its_session_is_told(writer: RunWriter) -> None:
    writer.add_turns([TURN])
    wav = writer.write_session_wav("commands", np.zeros((16000, 2), np.int16))
    writer.add_session(Session(name="commands", wav=wav, seconds=30.0))
    run = Run.load(writer.finish("complete"))
    assert run.recorded_until == {"commands": 1.0}
    assert "commands.wav was cut short: 1.0 of 30.0 s are there" in run.notes[0]


def test_a_recording_that_was_cut_short_or_lost_is_told(writer: RunWriter) -> None:
    for name in ("whole", "cut", "begun", "lost"):
        writer.add_turns([replace(TURN, session=name)])
        wav = writer.write_session_wav(name, np.zeros((32000, 2), np.int16))
        writer.add_session(Session(name=name, wav=wav))
    os.truncate(writer.folder / "cut.wav", 44 + 64001)
    os.truncate(writer.folder / "begun.wav", 20)
    (writer.folder / "lost.wav").unlink()
    run = Run.load(writer.finish("complete"))
    assert run.recorded_until == {"cut": 1.0, "begun": 0.0}
    assert run.notes == (
        "the recording cut.wav was cut short: 1.0 of 2.0 s are there, and turns that reach beyond have no latency",
        "the recording begun.wav was cut short before its first sample",
        "the recording lost.wav is missing: the turns of session 'lost' have no latency",
    )
    lengths = [None if (found := run.recording(session)) is None else len(found) for session in run.sessions]
    assert lengths == [32000, 16000, None, None]


def test_a_fixture_that_changed_since_is_told_and_one_that_has_gone_is_not(writer: RunWriter, tmp_path: Path) -> None:
    sources = {name: tmp_path / name for name in ("same.wav", "changed.wav", "gone.wav")}
    for source in sources.values():
        source.write_bytes(b"as it was")
    checksum = hashlib.sha256(b"as it was").hexdigest()
    writer.add_turns([TURN])
    session = Session(name="commands", fixtures=dict.fromkeys(sources, checksum))
    writer.add_session(session, sources={name: str(path) for name, path in sources.items()})
    sources["changed.wav"].write_bytes(b"as it is")
    sources["gone.wav"].unlink()
    assert Run.load(writer.finish("complete")).notes == (
        f"{sources['changed.wav']} has changed since it was replayed in this run",
    )


def test_a_run_from_before_sources_and_turns_were_counted_still_loads(writer: RunWriter) -> None:
    writer.add_turns([TURN])
    writer.add_session(Session(name="commands", fixtures={"01.wav": "abc"}))
    path = writer.finish("complete") / "run.json"
    content = json.loads(path.read_text())
    for key in ("turns", "sources"):
        del content["sessions"][0][key]
    path.write_text(json.dumps(content))
    assert Run.load(writer.folder).notes == ()


def test_recordings_must_be_stereo_int16(writer: RunWriter) -> None:
    with pytest.raises(ValueError, match=r"int16 of shape \(samples, 2\), not float64"):
        writer.write_session_wav("commands", np.zeros((10, 2)))  # type: ignore[arg-type]


def test_a_second_session_of_the_same_name_does_not_replace_the_first(writer: RunWriter) -> None:
    stereo = np.zeros((10, 2), np.int16)
    writer.write_session_wav("commands", stereo)
    with pytest.raises(ValueError, match="every session of a run needs a name of its own"):
        writer.write_session_wav("commands", stereo)


def test_a_mono_recording_is_refused(writer: RunWriter) -> None:
    with wave.open(str(writer.folder / "commands.wav"), "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", ""))
        file.writeframes(b"\0\0")
    writer.add_turns([TURN])
    with pytest.raises(RunError, match="1 channel.*; restore the file, or take it away"):
        Run.load(writer.folder).recording(Session(name="commands"))
    writer.add_session(Session(name="commands", wav="commands.wav"))
    with pytest.raises(RunError, match="1 channel"):
        Run.load(writer.folder)


SESSION = {"name": "commands"}
DISORDER = {"llm_request": 2.0, "llm_first_token": 1.0}


def line(**values: Any) -> str:
    return json.dumps({**TURN.to_json(), **values}) + "\n"


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def broken(change: Callable[[Path], object]) -> Callable[[Path], Path]:
    def prepare(root: Path) -> Path:
        folder = RunWriter(root / "run", header=HEADER).folder
        (folder / "turns.jsonl").write_text(json.dumps(TURN.to_json()) + "\n")
        change(folder)
        return folder

    return prepare


def edit(**values: Any) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        path = folder / "run.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **values}))

    return change


@pytest.mark.parametrize(
    ("prepare", "sentence", "exit_code"),
    [
        (lambda root: root / "nowhere", "does not exist", 2),
        (lambda root: Path(__file__), "is not a folder", 2),
        (lambda root: root, "is not a run: it has no run.json", 2),
        (broken(edit(schema=2)), "newer version .schema 2; this one reads 1.; upgrade with `pip", 2),
        (
            broken(lambda folder: append(folder / "turns.jsonl", line(schema=2, turn=1))),
            "turns.jsonl was written by a newer version .schema 2; this one reads 1.; upgrade with `pip",
            2,
        ),
        (
            broken(lambda folder: append(folder / "turns.jsonl", line(turn=1, speech=[[-1.0, 2.0]]))),
            r"turns.jsonl is damaged in line 2 .speech.0..0. is -1.0, not a number >= 0",
            2,
        ),
        (broken(edit(schema=0, command=["voice", "replay", "my calls"])), "again with `voice replay 'my calls'`", 2),
        (broken(edit(schema=0)), "older version .schema 0; this one reads 1.; make the run again with `voice rep", 2),
        (broken(edit(status="finished")), "status is 'finished', not one of complete, interrupted, running", 2),
        (broken(edit(pipeline="embedded")), "pipeline is 'embedded', not an object", 2),
        (broken(edit(sessions=["commands"])), "sessions.0. is 'commands', not an object", 2),
        (broken(edit(sessions=[SESSION, SESSION])), "lists the session 'commands' twice: two runs are mixed", 2),
        (broken(lambda folder: append(folder / "run.json", (folder / "run.json").read_text())), "more than one run", 2),
        (broken(edit(status="complete")), "a session 'commands' that run.json does not list: two runs are mixed", 2),
        (broken(lambda folder: append(folder / "turns.jsonl", line(heard="no"))), "line 2: there is another turn 0", 2),
        (broken(lambda folder: append(folder / "turns.jsonl", line(turn="1"))), "turn is '1', not a whole number", 2),
        (broken(lambda folder: append(folder / "turns.jsonl", line(session=5))), "session is 5, not a text", 2),
        (
            broken(lambda folder: append(folder / "turns.jsonl", line(marks=DISORDER))),
            "llm_first_token .1.000 s. lies",
            2,
        ),
        (broken(edit(schema=None)), "has no schema number", 2),
        (broken(edit(sessions=[{}])), "is not a file of a run", 2),
        (broken(edit(command="voice replay")), "command is 'voice replay'", 2),
        (
            broken(edit(sessions=[{**SESSION, "pacing": {"frames": "many", "late_over_20ms": 0}}])),
            r"sessions\[0\]\.pacing\.frames is 'many', not a whole number",
            2,
        ),
        (
            broken(edit(sessions=[{**SESSION, "server": {"rss_mb": []}}])),
            r"server\.rss_mb is \[\], not a number",
            2,
        ),
        (broken(lambda folder: (folder / "run.json").write_text("{")), "cannot be read", 2),
        (broken(lambda folder: (folder / "turns.jsonl").write_text('{"turn": 1}\n{}\n')), "in line 1 .the key", 2),
        (
            broken(lambda folder: (folder / "turns.jsonl").write_bytes(b"\x8f\x02 rubbish")),
            "in line 1 .no turn begins",
            2,
        ),
        (broken(lambda folder: append(folder / "turns.jsonl", "rubbish\nand more")), "in line 2 .not JSON", 2),
        (broken(lambda folder: append(folder / "turns.jsonl", "rubbish")), "in line 2 .no turn begins there.; take", 2),
        (
            broken(lambda folder: (folder / "turns.jsonl").unlink()),
            "holds no turns yet; replay again",
            3,
        ),
    ],
)
def test_what_is_no_run_is_refused_with_one_sentence(
    prepare: Callable[[Path], Path], sentence: str, exit_code: int, tmp_path: Path
) -> None:
    with pytest.raises(RunError, match=sentence) as caught:
        Run.load(prepare(tmp_path))
    assert caught.value.exit_code == exit_code


def test_the_newest_run_is_found_by_its_name(tmp_path: Path) -> None:
    for name in ("20261120-170312-embedded", "20261121-090000-local", "20261121-08-z", "notes", "20261122-070000-x"):
        (tmp_path / name).mkdir()
        if name != "20261122-070000-x":
            (tmp_path / name / "run.json").write_text("{}")
    assert newest(tmp_path).name == "20261121-090000-local"


def test_the_newest_run_may_have_any_name(tmp_path: Path) -> None:
    for name, created in (
        ("20261120-170312-embedded", '{"created": "2026-11-20T17:03:12+01:00"}'),
        ("second", '{"created": "2026-11-20T16:30:00+00:00"}'),
        ("20261121-090000-damaged", '{"created": "2026-11-21'),
        (".hidden", '{"created": "2026-11-22T16:30:00+00:00"}'),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(created)
    assert newest(tmp_path).name == "second"


def test_a_run_without_turns_does_not_stand_before_one_with_them(tmp_path: Path) -> None:
    for name, turns in (
        ("20261120-170312-full", "{}\n"),
        ("20261121-090000-killed", ""),
        ("20261121-100000-new", None),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text("{}")
        if turns is not None:
            (tmp_path / name / "turns.jsonl").write_text(turns)
    assert newest(tmp_path).name == "20261120-170312-full"


def test_a_discarded_run_leaves_nothing_and_spares_what_others_put_there(tmp_path: Path, writer: RunWriter) -> None:
    writer.write_session_wav("call", np.zeros((100, 2), np.int16))
    writer.add_session(Session(name="call", wav="call.wav"))
    assert writer.is_empty
    writer.discard()
    assert not writer.folder.exists()
    other = RunWriter(tmp_path / "mine", header=HEADER)
    (other.folder / "notes.txt").write_text("mine")
    other.discard()
    assert [path.name for path in other.folder.iterdir()] == ["notes.txt"]


def test_a_run_with_a_turn_is_not_empty(writer: RunWriter) -> None:
    writer.add_turns([TURN])
    assert not writer.is_empty


def test_no_run_yet_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="there is no run in .*; run `voice replay` first") as caught:
        newest(tmp_path / "runs")
    assert caught.value.exit_code == 3
