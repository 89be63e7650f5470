"""Scenario files: pipecat eval's scripted scenarios, as far as a caller who plays recordings needs them.

Meaning and defaults are pipecat's (`pipecat.evals.script`), which costs a second to import and is not needed for it;
everything it would read differently, or a replay cannot do, is refused here with a sentence.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from voice.errors import FixtureError

ANSWERS = ("response", "llm_response", "tts_response")
"""Events whose text is the bot's answer."""

AUDIBLE_EVENTS = ("bot_started_speaking", "bot_stopped_speaking")
"""What a turn's send_after may wait for: a caller has ears, not the server's log."""

_TURN_KEYS = {"user", "audio", "send_after", "expect", "image"}
_NOT_JUDGED = ("eval", "text_excludes", "within_ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class SendAfter:
    """When a turn starts, if not when the bot has finished."""

    event: str | None
    """One of `AUDIBLE_EVENTS`, heard since the turn before; None: the end of the speech before."""
    delay: float
    """Seconds after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioTurn:
    """One recording to play and what should come back."""

    text: str
    audio: str
    """Path relative to the scenario file, as written."""
    send_after: SendAfter | None
    wants_answer: bool
    contains: tuple[str, ...]
    """Each must be in the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One conversation."""

    name: str
    """`<file's name>/<scenario's name>`."""
    turns: tuple[ScenarioTurn, ...]
    notices: tuple[str, ...]


def read_scenarios(path: Path) -> tuple[str, list[Scenario]]:
    """The file's name and the scenarios it holds.

    Raises:
        FixtureError: the file cannot be read, is no valid scenario file, or needs more than recordings.
    """
    data = _load(path)
    name = data.get("name")
    if not isinstance(name, str) or not name:
        raise FixtureError(f"{path}: 'name:' is missing at the top of the scenario file.")
    if "scenarios" not in data:
        return name, [_scenario(data, name, str(path))]
    entries = data["scenarios"]
    if not isinstance(entries, list) or not entries:
        raise FixtureError(f"{path}: 'scenarios:' must be a list of at least one scenario.")
    defaults = {key: value for key, value in data.items() if key != "scenarios"}
    scenarios = []
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise FixtureError(f"{path}: scenario #{number} needs a 'name:'.")
        where = f"{path}: scenario {entry['name']}"
        scenarios.append(_scenario({**defaults, **entry}, f"{name}/{entry['name']}", where))
    names = [scenario.name for scenario in scenarios]
    if twice := sorted({one for one in names if names.count(one) > 1}):
        raise FixtureError(f"{path}: two scenarios have the same name: {', '.join(twice)}.")
    return name, scenarios


def _load(path: Path) -> dict[str, Any]:
    class Loader(yaml.SafeLoader):
        """Knows `!include <path>`, relative to this file."""

    def include(loader: yaml.SafeLoader, node: yaml.Node) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            raise FixtureError(f"{path}: !include expects a file path.")
        return _read_yaml(path.parent / str(loader.construct_scalar(node)), Loader)

    Loader.add_constructor("!include", include)
    data = _read_yaml(path, Loader)
    if not isinstance(data, dict):
        raise FixtureError(f"{path}: a scenario file is a mapping with 'name:' and 'scenarios:'.")
    return data


def _read_yaml(path: Path, loader: type[yaml.SafeLoader]) -> Any:
    try:
        return yaml.load(path.read_text(encoding="utf-8"), loader)
    except OSError as error:
        raise FixtureError(f"{path}: cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise FixtureError(f"{path}: a scenario file is UTF-8 text, and this is not.") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        raise FixtureError(f"{path}{line}: not valid YAML: {getattr(error, 'problem', None) or error}.") from error


def _scenario(data: dict[str, Any], name: str, where: str) -> Scenario:
    if "persona" in data:
        raise FixtureError(f"{where}: 'persona:' makes it a simulation, which has no recordings to replay.")
    turns = data.get("turns")
    if not isinstance(turns, list) or not turns:
        raise FixtureError(f"{where}: 'turns:' must be a list of at least one turn.")
    user = data.get("user")
    if not isinstance(user, dict) or user.get("modality") != "audio":
        raise FixtureError(f"{where}: 'user: {{modality: audio}}' is missing; only recorded turns can be replayed.")
    notices: list[str] = []
    parsed = [_turn(turn, f"{where}, turn #{number}", notices) for number, turn in enumerate(turns)]
    return Scenario(name=name, turns=tuple(parsed), notices=tuple(dict.fromkeys(notices)))


def _turn(turn: Any, where: str, notices: list[str]) -> ScenarioTurn:
    if not isinstance(turn, dict):
        raise FixtureError(f"{where}: a turn is a mapping with 'user:' and 'audio:'.")
    if "dtmf" in turn:
        raise FixtureError(f"{where}: 'dtmf:' presses keys; a replay plays recordings only.")
    if unknown := sorted(map(str, turn.keys() - _TURN_KEYS)):
        raise FixtureError(f"{where}: unknown key '{unknown[0]}:'; a turn knows {', '.join(sorted(_TURN_KEYS))}.")
    if not isinstance(turn.get("user"), str):
        raise FixtureError(f"{where}: 'user:' must be the text that the recording says.")
    if not isinstance(turn.get("audio"), str) or not turn["audio"]:
        raise FixtureError(f"{where}: 'audio:' is missing; name the recording of this turn.")
    expect = _expectations(turn.get("expect", []), where)
    wanted = [one for one in expect if not one.get("absent", False)]
    answers = [one for one in wanted if one["event"] in ANSWERS]
    for key in _NOT_JUDGED:
        if any(key in one for one in expect):
            notices.append(f"{where.split(', turn')[0]}: '{key}:' is judged by pipecat eval, not by a replay")
    return ScenarioTurn(
        text=turn["user"],
        audio=turn["audio"],
        send_after=_send_after(turn["send_after"], where) if "send_after" in turn else None,
        wants_answer=bool(answers) or any(one["event"] == "bot_started_speaking" for one in wanted),
        contains=tuple(_contains(one, where) for one in answers if one.get("text_contains") is not None),
    )


def _expectations(expect: Any, where: str) -> list[dict[str, Any]]:
    is_list = isinstance(expect, list)
    if not is_list or not all(isinstance(one, dict) and isinstance(one.get("event"), str) for one in expect):
        raise FixtureError(f"{where}: 'expect:' must be a list of mappings, each with an 'event:'.")
    return list(expect)


def _contains(expectation: dict[str, Any], where: str) -> str:
    text = expectation["text_contains"]
    if not isinstance(text, str) or not text.strip():
        raise FixtureError(f"{where}: 'text_contains:' must be one text; use several expectations for several texts.")
    return text


def _send_after(value: Any, where: str) -> SendAfter:
    if not isinstance(value, dict) or value.keys() - {"event", "delay_ms"}:
        raise FixtureError(f"{where}: 'send_after:' must be a mapping of 'event:' and 'delay_ms:'.")
    event, delay_ms = value.get("event"), value.get("delay_ms", 0)
    if event is not None and event not in AUDIBLE_EVENTS:
        known = " or ".join(AUDIBLE_EVENTS)
        raise FixtureError(f"{where}: send_after waits for {known}, which a caller hears, not for {event!r}.")
    if not isinstance(delay_ms, int) or isinstance(delay_ms, bool) or delay_ms < 0:
        raise FixtureError(f"{where}: 'delay_ms:' must be a whole number of milliseconds, 0 or more.")
    if event is None and delay_ms == 0:
        raise FixtureError(f"{where}: 'send_after:' needs an 'event:' or a positive 'delay_ms:'.")
    return SendAfter(event=event, delay=delay_ms / 1000)
