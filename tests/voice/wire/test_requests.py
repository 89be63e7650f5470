"""Requests of clients and the answers to them are read as they are written, and broken ones are refused."""

import re

import pytest

from voice.errors import WireError
from voice.wire.requests import (
    ClockPing,
    ClockPong,
    Custom,
    Reply,
    Request,
    SwapRequest,
    SwapState,
    read_reply,
    read_request,
)


@pytest.mark.parametrize(
    "request_",
    [
        ClockPing(12.5),
        ClockPing(None),
        SwapRequest(),
        SwapRequest(tier="fast"),
        SwapRequest(policy="race"),
        Custom("echo", [1, None]),
        Custom("echo"),
    ],
)
def test_a_request_is_read_as_it_was_written(request_: Request) -> None:
    assert read_request(request_.topic, request_.to_json()) == request_


@pytest.mark.parametrize(
    "reply",
    [
        ClockPong(server=5012.5, client=12.5),
        SwapState(policy="single", tier="large", tiers=("large", "fast"), policies=("single", "race")),
        SwapState(policy="race", tier=None, tiers=("large", "fast"), policies=()),
        Custom("echo", {"a": 1}),
    ],
)
def test_an_answer_is_read_as_it_was_written(reply: Reply) -> None:
    assert read_reply(reply.topic, reply.to_json()) == reply


def test_a_swap_without_data_asks_what_is_in_force() -> None:
    assert read_request("llm", None) == SwapRequest()


def test_a_ping_that_is_not_an_object_is_not_this_protocols() -> None:
    assert read_request("clock", 12.5) == Custom("clock", 12.5)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"tier": "fast", "policy": "race"}, "A swap names a policy, a tier or a speed, and only one"),
        ({"policy": 3}, "The policy of a swap must be its name, not int"),
        ({"tier": None}, "The tier of a swap must be its name, not NoneType"),
        ({"model": "gpt"}, 'A swap has no "model"'),
        ({3: "x"}, 'A swap has no "3"'),
        (["race"], "A swap must be a JSON object, not list"),
        ("race", "A swap must be a JSON object, not str"),
    ],
)
def test_a_broken_swap_is_refused_in_one_sentence(data: object, sentence: str) -> None:
    with pytest.raises(WireError, match="^" + re.escape(sentence)) as refused:
        read_request("llm", data)
    assert len(re.findall(r"[.!?](\s|$)", str(refused.value))) == 1


@pytest.mark.parametrize("data", [{}, {"tiers": None, "policy": 3}])
def test_what_a_swaps_answer_lacks_is_unknown(data: dict[str, object]) -> None:
    assert read_reply("llm", data) == SwapState(policy=None, tier=None, tiers=(), policies=())
