import pytest

from latency.record.json_form import TurnError, from_json, to_json
from latency.record.stall import Stall


def test_a_stall_survives_its_line() -> None:
    entry = {"at": 2.5, "ms": 150.5, "kind": "garbage collection"}
    stall = from_json(Stall, entry)
    assert to_json(stall) == entry
    assert stall.end == pytest.approx(2.6505)


@pytest.mark.parametrize("entry", [{}, 5, {"at": None, "ms": 1, "kind": "event loop"}, {"at": 1, "ms": 1, "kind": "?"}])
def test_what_is_no_stall_is_refused(entry: object) -> None:
    with pytest.raises(TurnError):
        from_json(Stall, entry)
