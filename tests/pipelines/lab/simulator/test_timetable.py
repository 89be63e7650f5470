"""What a model's server does when, healthy and with every fault."""

import itertools

import pytest

from pipelines.lab.simulator.latency_model import LatencyModel, StallState
from pipelines.lab.simulator.profiles import load_profiles
from pipelines.lab.simulator.timetable import (
    Failure,
    Fault,
    Hang,
    KeepAlive,
    ResetConnection,
    SendText,
    parse_fault,
    timetable,
)

TEXT = "Once upon a time, there was a fox. It slept until noon."


def steady() -> LatencyModel:
    profile = load_profiles("field")["steady"]
    return LatencyModel(profile, StallState(profile.provider, 1), 1)


def test_dribble_takes_three_tenths_of_a_second_a_character() -> None:
    times = [action.at for action in timetable(TEXT, steady(), now=0.0, fault=Fault.DRIBBLE)]
    assert len(times) == len(TEXT)
    assert times == pytest.approx([0.1 + 0.3 * index for index in range(len(TEXT))])


def test_a_healthy_timetable_sends_all_text_in_order_from_the_first_token_on() -> None:
    actions = list(timetable(TEXT, steady(), now=0.0))
    assert all(isinstance(action, SendText) for action in actions)
    assert "".join(action.text for action in actions if isinstance(action, SendText)) == TEXT
    times = [action.at for action in actions]
    assert times == sorted(times)
    assert times[0] == pytest.approx(0.1)


def test_a_random_error_replaces_the_first_token() -> None:
    profile = load_profiles("field")["sonnet"]
    sonnet = LatencyModel(profile, StallState(profile.provider, 1), 1)
    plans = [list(timetable(TEXT, sonnet, now=3.0 * index)) for index in range(4000)]
    failed = [plan for plan in plans if isinstance(plan[0], Failure)]
    assert 1 <= len(failed) <= 30
    assert all(len(plan) == 1 for plan in failed)


@pytest.mark.parametrize(
    ("fault", "kinds"),
    [
        (Fault.SILENT, [Hang]),
        (Fault.REFUSE, [ResetConnection]),
        (Fault.UNAUTHORIZED, [Failure]),
        (Fault.KEEPALIVE, [KeepAlive] * 5),
        (Fault.DRIBBLE, [SendText] * 5),
    ],
)
def test_each_fault_has_its_own_actions(fault: Fault, kinds: list[type]) -> None:
    actions = itertools.islice(timetable(TEXT, steady(), now=0.0, fault=fault), 5)
    assert [type(action) for action in actions] == kinds


@pytest.mark.parametrize(("fault", "last"), [(Fault.MIDFAIL, Failure), (Fault.CUT_SOCKET, ResetConnection)])
@pytest.mark.parametrize("after", [None, 1, 5, 1000])
def test_faults_in_the_middle_follow_the_requested_number_of_tokens(
    fault: Fault, last: type, after: int | None
) -> None:
    *sent, end = timetable(TEXT, steady(), now=0.0, fault=fault, fault_after=after)
    count = sum(action.tokens for action in sent if isinstance(action, SendText))
    total = sum(action.tokens for action in timetable(TEXT, steady(), now=0.0) if isinstance(action, SendText))
    assert count == (total // 2 if after is None else min(after, total))
    assert isinstance(end, last)
    assert end.at > sent[-1].at


def test_every_fault_is_parsed_from_its_name() -> None:
    assert {str(parse_fault(str(fault))) for fault in Fault} == {
        *(
            "silent",
            "keepalive",
            "dribble",
            "refuse",
            "midfail",
            "overload-event",
            "slow-connect",
            "cut-socket",
            "wrong",
            "low-credit",
        ),
        *("401", "402", "403", "404", "429", "500", "529"),
    }
