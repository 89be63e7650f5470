"""The keys that choose another language model or speed, and what is shown of the server's answers."""

import asyncio
from collections.abc import Callable
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from pipelines.talking.keys import NOT_KNOWN, SWAP_KEYS, UNANSWERED, SwapKeys
from voice.wire.messages import ClientMessage
from voice.wire.requests import Custom, Reply, SwapRequest, read_reply

BOTH = {"policy": "adaptive", "tier": None, "tiers": ["large", "fast"], "policies": ["single", "adaptive"]}


class Desk:
    """Writes down what is sent and shown."""

    def __init__(self, *, active: bool = True) -> None:
        self.sent: list[ClientMessage] = []
        self.shown: list[str] = []
        self._numbers = count()
        self.keys = SwapKeys(self._send, self.shown.append)
        self.keys.active = active

    def _send(self, request: SwapRequest) -> ClientMessage:
        self.sent.append(ClientMessage(str(next(self._numbers)), request))
        return self.sent[-1]


def answer(state: object) -> Reply:
    return read_reply(SwapRequest.topic, state)


def opened(state: object = BOTH, *, active: bool = True) -> Desk:
    desk = Desk(active=active)
    desk.keys.open()
    desk.keys.answered(desk.sent[0], answer(state))
    return desk


def test_the_keys_are_shown_in_one_line_once_there_are_two_tiers() -> None:
    (line,) = opened().shown
    assert line == "l large only · f fast only · a adaptive · r race · b fallback · ? now"
    assert len(line) <= 73, "with its label it fits a terminal"


@pytest.mark.parametrize("state", [BOTH | {"tiers": ["large"]}, BOTH | {"tiers": None}, None, ["large"]])
def test_with_one_tier_or_none_no_keys_are_offered(state: object) -> None:
    desk = opened(state)
    assert desk.shown == []
    assert not desk.keys.several


def test_without_a_terminal_two_tiers_are_known_but_no_keys_are_offered() -> None:
    desk = opened(active=False)
    assert desk.shown == []
    assert desk.keys.several


@pytest.mark.parametrize(
    ("key", "request_"),
    [
        ("l", SwapRequest(tier="large")),
        ("f", SwapRequest(tier="fast")),
        ("a", SwapRequest(policy="adaptive")),
        ("r", SwapRequest(policy="race")),
        ("b", SwapRequest(policy="fallback")),
        ("?", SwapRequest()),
        ("R", SwapRequest(policy="race")),
    ],
)
async def test_each_key_makes_the_request_of_its_label(key: str, request_: SwapRequest) -> None:
    desk = opened()
    desk.keys.press(key)
    assert desk.sent[-1].request == request_
    desk.keys.close()


async def test_other_keys_do_nothing() -> None:
    desk = opened()
    for key in "xz \n\x04é":
        desk.keys.press(key)
    assert len(desk.sent) == 1
    assert set(SWAP_KEYS) == set("lfarb?")


@pytest.mark.parametrize(
    ("key", "state", "line"),
    [
        ("f", {"policy": "single", "tier": "fast"}, "from your next turn on: fast only"),
        ("r", {"policy": "race", "tier": None}, "from your next turn on: race"),
        ("?", {"policy": "adaptive", "tier": None}, "now in use: adaptive"),
        ("?", {"policy": "hedged", "tier": "large"}, "now in use: hedged, large only"),
    ],
)
async def test_the_servers_answer_is_shown_in_words(key: str, state: dict[str, Any], line: str) -> None:
    desk = opened()
    desk.keys.press(key)
    desk.keys.answered(desk.sent[-1], answer(BOTH | state))
    assert desk.shown[1:] == [line]


async def test_a_refusal_is_shown_in_the_servers_words_except_for_the_request_at_the_start() -> None:
    desk = Desk()
    desk.keys.open()
    desk.keys.refused(desk.sent[0], "There are no tiers.")
    assert desk.shown == []
    desk.keys.press("f")
    desk.keys.refused(desk.sent[1], "There are no tiers.")
    assert desk.shown == ["There are no tiers."]


class Timers:
    """The timers of an event loop, which run when the test says so."""

    def __init__(self) -> None:
        self._pending: list[tuple[float, Callable[[], None]]] = []
        self._now = 0.0

    def call_later(self, delay: float, callback: Callable[..., None], *arguments: object) -> Any:
        timer = (self._now + delay, partial(callback, *arguments))
        self._pending.append(timer)
        return SimpleNamespace(cancel=lambda: timer in self._pending and self._pending.remove(timer))

    def advance(self, seconds: float) -> None:
        self._now += seconds
        for timer in [timer for timer in self._pending if timer[0] <= self._now]:
            self._pending.remove(timer)
            timer[1]()


def test_a_server_that_does_not_answer_is_reported_once_and_never_after_the_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    timers = Timers()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: timers)
    desk = Desk()
    desk.keys.open()
    desk.keys.press("f")
    timers.advance(UNANSWERED - 0.1)
    assert desk.shown == []
    timers.advance(0.2)
    assert desk.shown == [NOT_KNOWN]
    desk.keys.press("r")
    desk.keys.close()
    timers.advance(2 * UNANSWERED)
    assert desk.shown == [NOT_KNOWN]


async def test_answers_to_other_requests_are_ignored() -> None:
    desk = opened()
    other = ClientMessage("99", Custom("weather", {}))
    desk.keys.answered(other, Custom("weather", BOTH))
    desk.keys.refused(other, "It rains.")
    assert len(desk.shown) == 1


def test_a_key_changes_the_speed_of_the_large_model_and_back() -> None:
    desk = opened(BOTH | {"speed": "standard"}, active=True)
    assert desk.shown[1:] == ["s the large model at its fast ↯ speed"]
    asyncio.run(_press_twice(desk))
    assert [message.request for message in desk.sent[1:]] == [SwapRequest(speed="fast"), SwapRequest(speed="standard")]
    assert desk.shown[2:] == [
        "from your next turn on: adaptive, the large model at fast speed ↯",
        "from your next turn on: adaptive",
    ]


async def _press_twice(desk: Desk) -> None:
    for speed in ("fast", "standard"):
        desk.keys.press("s")
        desk.keys.answered(desk.sent[-1], answer(BOTH | {"speed": speed}))
