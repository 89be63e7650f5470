import pytest

from latency.record.stall import Stall


def test_a_stall_survives_its_line() -> None:
    entry = {"at": 2.5, "ms": 150.5, "kind": "garbage collection"}
    (stall,) = Stall.all_of([entry])
    assert stall.to_json() == entry


@pytest.mark.parametrize("entry", [{}, 5, {"at": None, "ms": 1, "kind": "event loop"}, {"at": 1, "ms": 1, "kind": "?"}])
def test_what_is_no_stall_is_refused(entry: object) -> None:
    with pytest.raises(ValueError, match="stall"):
        Stall.all_of([entry])  # type: ignore[list-item]
