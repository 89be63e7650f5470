"""Pings align the clocks."""

import numpy as np
import pytest

from voice.client.call.clock import ClockExchange, aligned


def test_the_shortest_round_trip_decides():
    slow = ClockExchange(sent=10.0, received=10.5, server=1010.4)
    fast = ClockExchange(sent=11.0, received=11.002, server=1011.001)
    alignment = aligned([slow, fast, slow])
    assert alignment.offset == pytest.approx(1000.0)
    assert alignment.rtt == pytest.approx(0.002)
    assert alignment.pings == 3
    assert alignment.to_client(1020.0) == pytest.approx(20.0)


def test_without_an_answer_there_is_no_alignment():
    assert aligned([]) is None


def test_eight_exchanges_over_a_jittery_way_find_the_offset_within_half_the_best_round_trip():
    for seed in range(50):
        random = np.random.default_rng(seed)
        exchanges = []
        for index in range(8):
            out, back = random.exponential(0.005, 2)
            exchanges.append(ClockExchange(sent=index, received=index + out + back, server=index + out + 77.0))
        alignment = aligned(exchanges)
        assert abs(alignment.offset - 77.0) <= alignment.rtt / 2


def test_an_answer_before_its_ping_is_refused():
    with pytest.raises(ValueError, match="before it was sent"):
        ClockExchange(sent=2.0, received=1.0, server=5.0)
