"""Whole calls with simulated language models under a budget: a slow, silent or broken one is hardly noticed."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import pytest

from pipelines.providers.sim import Fault
from tests.pipelines.conversations import write_conversation
from voice.language.english.phrases import ENGLISH

ROOT = Path(__file__).resolve().parents[2]
TWO = (("commands/02", "timer set for 10 minutes"), ("commands/03", "giraffe is spelled"))
VERDICTS = ("within", "rescued", "bridged", "missed")
REPORT = [sys.executable, "-m", "latency", "report", "--json"]


def replay(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pipelines.cli", "replay", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


def was_too_busy(done: "subprocess.CompletedProcess[str]") -> bool:
    """Whether no check could be judged because this machine did not feed the audio in real time."""
    return done.returncode == 3 and "LATENCIES REFUSED" in done.stdout


def report(folder: Path) -> dict[str, Any]:
    """The run's figures; those used here are the server's, so they hold where latencies are refused (status 3)."""
    printed = subprocess.run([*REPORT, str(folder)], cwd=ROOT, capture_output=True)
    assert printed.returncode in (0, 3, 4), printed.stderr
    found: dict[str, Any] = json.loads(printed.stdout)
    return found


def turns(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "turns.jsonl").read_text().splitlines()]


def set_all(**values: object) -> list[str]:
    return [part for key, value in values.items() for part in ("--set", f"{key.replace('__', '.')}={value}")]


def replayable(pipeline: str, *checks: str, **values: object) -> list[str]:
    """The options of a replay: a pipeline, settings and checks."""
    return ["--pipeline", pipeline, *set_all(**values), *(part for check in checks for part in ("--check", check))]


QUICK = {"llm__fast__ttft_ms": 100}
REPLAYS = {
    # It is waited for until just before the deadline; a busy machine may then speak a little late.
    "silent": replayable(
        "sim-fallback", "llm overshoot_max < 1000", llm__large__fault="silent", **QUICK,
        llm__large__wire="responses", llm__fast__wire="responses",
    ),
    # The fast one is spoken as soon as it answers, more than a second before the deadline.
    "broken": replayable(
        "sim-fallback", "llm rescued >= 1", llm__large__fault="500", llm__budget_ms=2000, **QUICK,
        llm__large__wire="chat", llm__fast__wire="chat",
    ),
    "down": replayable("sim-adaptive", "llm within > 0", llm__large__fault="refuse", llm__fast__fault="500"),
    # The first turn alone reaches the cap.
    "capped": replayable(
        "sim-fallback", "cost usd_per_100_turns < 5", llm__large__ttft_ms=50, **QUICK, llm__cap_usd_per_call=0.0001,
        llm__large__price="{input=5,output=25}", llm__fast__price="{input=0.1,output=0.3,cached_input=0.05}",
    ),
    "slow": replayable("sim-single", llm__bridge="true", llm__large__ttft_ms=1800),
    "relay": replayable("sim-relay", llm__large__ttft_ms=1500, llm__fast__ttft_ms=60, llm__fast__p95_ms=1000),
}  # fmt: skip
"""The options of each replay of the conversation `TWO`."""
Replayed = Callable[[str], tuple[Path, "subprocess.CompletedProcess[str]"]]
"""The run folder of one of the `REPLAYS`, and what was printed."""


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replayed]:
    """Makes all replays, two at a time: a call mostly waits for its caller."""
    root = tmp_path_factory.mktemp("replays")
    fixture = str(write_conversation(root / "two", *TWO))
    with ThreadPoolExecutor(2) as pool:
        runs = {name: pool.submit(replay, fixture, "--out", str(root / name), *REPLAYS[name]) for name in REPLAYS}
        yield lambda name: (root / name, runs[name].result())


@pytest.mark.parametrize(("fault", "outcome"), [("silent", "cancelled"), ("broken", "failed")])
def test_a_large_model_that_does_not_answer_is_replaced_within_the_turn_and_the_report_says_so(
    fault: str, outcome: str, replayed: Replayed
) -> None:
    folder, done = replayed(fault)
    assert done.returncode == 0 or was_too_busy(done), done.stdout + done.stderr

    found = turns(folder)
    for turn in found:
        assert [(a["tier"], a["model"], a["outcome"]) for a in turn["attempts"]] == [
            ("large", "sim:sonnet", outcome),
            ("fast", "sim:groq-fast", "spoken"),
        ]
        (response,) = turn["responses"]
        assert (response["tier"], response["policy"], response["said"]) == ("fast", "fallback", [])
        assert response["commit"] < response["deadline"], "on the recording's clock, as the marks"
        assert response["commit"] == pytest.approx(turn["marks"]["turn_commit"], abs=0.05)
    figures = report(folder)
    assert figures["turns"]["answers_ok"] == 2
    assert (figures["llm"]["within"], figures["llm"]["bridged"]) == (0, 0)
    if fault == "silent":
        assert figures["llm"]["overshoot_ms"]["max"] < 1000
    else:
        assert figures["llm"]["rescued"] == 2
    headline = re.sub(r"\n {2,}", " ", done.stdout).splitlines()[1]
    assert headline.startswith("SIMULATED, not real: ")
    assert "sim:sonnet" in headline
    assert "sim:groq-fast" in headline


def test_a_call_whose_cap_is_reached_goes_on_with_the_cheaper_tier_and_everything_is_billed(
    replayed: Replayed,
) -> None:
    folder, done = replayed("capped")
    assert done.returncode == 0 or was_too_busy(done), done.stdout + done.stderr
    first, second = turns(folder)
    (answer,) = second["responses"]
    assert {attempt["tier"] for attempt in second["attempts"]} == {"fast"}
    assert (answer["policy"], answer["cap"]) == ("capped", "call")
    assert answer["reason"] == "the call's cap of $0.0001 is reached"
    assert first["responses"][0]["policy"] == "fallback"
    assert done.stderr.count("the call's cap of $0.0001 is reached: from this turn on fast alone answers") == 1

    made = [attempt for turn in (first, second) for own in turn["server_turns"] for attempt in own["attempts"]]
    cost = report(folder)["cost"]
    assert cost["usd"] == pytest.approx(sum(attempt["usd"] for attempt in made))
    assert cost["usd_per_100_turns"] == pytest.approx(50 * cost["usd"])
    assert cost["simulated"] == cost["usd"]
    assert cost["capped"] == {"call": 1}
    for attempt in made:
        tokens, (dear, cached, out) = (
            attempt["tokens"],
            {"large": (5, 5, 25), "fast": (0.1, 0.05, 0.3)}[attempt["tier"]],
        )
        hits = tokens["cached"] or 0
        assert attempt["usd"] == pytest.approx(
            ((tokens["in"] - hits) * dear + hits * cached + tokens["out"] * out) / 1e6
        )
    assert "reached for a call: the cheapest tier alone was asked in 1 turn" in re.sub(r"\s+", " ", done.stdout)


def test_when_no_tier_can_be_reached_the_caller_is_told_and_the_call_goes_on(replayed: Replayed) -> None:
    folder, done = replayed("down")
    # Where nothing can be judged, what is left to say is that a component failed.
    assert done.returncode == 1 or (done.returncode == 4 and "LATENCIES REFUSED" in done.stdout), done.stdout
    found = turns(folder)
    assert [turn["said"] for turn in found] == [ENGLISH.not_answering] * 2
    for turn in found:
        assert turn["marks"]["first_audible"] > turn["speech"][-1][1], "it was heard"
        assert "sim:sonnet at the simulator broke the connection off" in turn["failed"]
        assert "sim:groq-fast at the simulator answered HTTP 500" in turn["failed"]
    assert report(folder)["turns"]["unanswered"] == {"component failed": 2}


def test_who_is_asked_to_wait_is_answered_after_the_phrase_and_only_the_answer_counts(replayed: Replayed) -> None:
    folder, done = replayed("slow")
    assert done.returncode == 0, done.stderr
    for turn in turns(folder):
        (server_turn,) = turn["server_turns"]
        assert server_turn["opening"] in ENGLISH.hold
        assert server_turn["opening"] not in turn["said"]
        marks = turn["marks"]
        assert marks["first_audible"] < marks["llm_first_clause"] < marks["answer_end"]
    figures = report(folder)
    assert figures["turns"]["answers_ok"] == 2
    assert figures["answer_ms"]["p50"] > figures["turn_ms"]["p50"] + 500, "a phrase is heard first, and is no answer"


def test_a_fast_model_opens_the_answer_of_a_slow_one_and_only_the_answer_counts(replayed: Replayed) -> None:
    folder, done = replayed("relay")
    assert done.returncode == 0, done.stderr
    for turn in turns(folder):
        last = [response for response in turn["responses"] if response["commit"] is not None][-1]
        assert (last["policy"], last["tier"]) == ("relay", "large")
        opening = last["said"][0]
        assert opening["kind"] == "opening"
        assert opening["text"].endswith("let me see.") or opening["text"] == "Let me think about that."
        assert opening["text"] not in turn["said"]
        used = [attempt for attempt in turn["attempts"] if attempt["response"] == last["response"]]
        assert [(attempt["tier"], attempt["outcome"]) for attempt in used] == [("fast", "opened"), ("large", "spoken")]
        assert turn["marks"]["first_audible"] < turn["marks"]["llm_first_clause"]
        # The conversation keeps what was heard, in its order.
        played = turn["server_turns"][-1]["played"]
        assert played.startswith(opening["text"])
        assert played.endswith(turn["said"][-12:])
    figures = report(folder)
    assert figures["turns"]["answers_ok"] == 2
    assert (figures["llm"]["within"], figures["llm"]["bridged"]) == (0, 2)
    assert figures["answer_ms"]["p50"] > figures["turn_ms"]["p50"] + 500, "an opening is no answer"


@pytest.mark.slow
def test_silent_models_are_admitted_by_two_and_a_half_seconds_and_given_up(
    conversation: Callable[..., Path], tmp_path: Path
) -> None:
    fixture = conversation("silent", *TWO)
    options = set_all(llm__large__fault="silent", llm__fast__fault="keepalive")
    done = replay(str(fixture), "--pipeline", "sim-fallback", "--out", str(tmp_path / "run"), *options)
    assert done.returncode == 0, done.stderr
    for turn in turns(tmp_path / "run"):
        hold, delay = turn["responses"][0]["said"]
        assert hold["text"] in ENGLISH.hold
        assert delay["text"] in ENGLISH.delay
        assert delay["at"] - turn["marks"]["turn_commit"] < 2.6
        assert turn["said"] == ENGLISH.not_answering
    assert report(tmp_path / "run")["turns"]["unanswered"] == {"component failed": 2}


@pytest.mark.slow
@pytest.mark.parametrize("fault", get_args(Fault))
def test_ten_turns_of_each_fault_are_answered_within_the_turn(fault: str, tmp_path: Path) -> None:
    """The tour, a minute each: `pytest -m slow -s tests/pipelines/test_tiered_call.py`."""
    options = set_all(llm__large__fault=fault, llm__fast__ttft_ms=100)
    done = replay("--pipeline", "sim-fallback", "--out", str(tmp_path / "run"), *options)
    assert done.returncode == 0, done.stderr
    llm = report(tmp_path / "run")["llm"]
    verdicts = {name: llm[name] for name in VERDICTS}
    print(f"{fault:12} {verdicts}, overshoot {llm.get('overshoot_ms')}")
    assert (verdicts["within"] + verdicts["rescued"], verdicts["bridged"] + verdicts["missed"]) == (10, 0)
