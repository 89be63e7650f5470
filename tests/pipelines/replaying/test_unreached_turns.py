"""Turns that began when there was no connection any more were never sent."""

import math

import pytest

from pipelines.replaying.call_records import session_record
from tests.pipelines.replaying.test_call_records import call, turn, turn_records

LOST, MADE_AGAIN = (21.0, math.inf), (19.0, 22.0)
"""Outages."""


@pytest.mark.parametrize(
    ("outages", "kept", "failed", "never_sent"),
    [
        ((LOST,), 2, "the server is gone", 2),
        ((MADE_AGAIN, LOST), 2, "the server is gone", 2),
        ((MADE_AGAIN,), 4, None, 0),
    ],
)
def test_turns_that_began_after_the_connection_was_lost_for_good_never_were(outages, kept, failed, never_sent):
    positions = (10.0, 20.0, 25.0, 30.0)
    result, fixture = call(
        turns=(turn(),) * 4, positions=positions, seconds=34.0, outages=outages, closed="the server is gone"
    )
    records = turn_records(result, fixture, "s")
    assert [record["turn"] for record in records] == list(range(kept))
    assert records[1]["failed"] == failed
    assert session_record(result, fixture, name="s", wav="s.wav").never_sent == never_sent
