"""How many calls one machine may make at once."""

from typing import Any

import pytest

from voice.server.calls import Calls


def calls(most: int | None, **under_way: int) -> Calls:
    agent: Any = None
    made = Calls(agent, from_one=most)
    made._callers.update({address.replace("_", "."): n for address, n in under_way.items()})
    return made


def test_another_machine_may_make_so_many_and_others_are_not_concerned() -> None:
    busy = calls(2, **{"192_0_2_1": 2})
    refusal = busy.too_many_from("192.0.2.1")
    assert refusal is not None
    assert (refusal.kind, refusal.reason) == (
        "address",
        "2 calls from your address are under way, the most for one; call later",
    )
    assert busy.too_many_from("192.0.2.2") is None


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_this_machine_may_make_as_many_as_the_server_takes(address: str) -> None:
    busy = calls(1)
    busy._callers[address] = 20
    assert busy.too_many_from(address) is None


def test_without_a_limit_there_is_none() -> None:
    assert calls(None, **{"192_0_2_1": 99}).too_many_from("192.0.2.1") is None
