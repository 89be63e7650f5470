"""The reason of a closed call fits a WebSocket close frame and is cut between words."""

import pytest

from voice.server.closing import CLOSE_REASON_BYTES, shortened


@pytest.mark.parametrize(
    ("reason", "sent"),
    [
        ("x" * 123, "x" * 123),
        ("x" * 124, "x" * 120 + "…"),
        ("é" * 62, "é" * 60 + "…"),
        ("x" * 116 + " abc defgh", "x" * 116 + " abc…"),
        ("x" * 116 + " abcd defgh", "x" * 116 + "…"),
        ("x" * 116 + ", abc defgh", "x" * 116 + "…"),
    ],
)
def test_a_long_reason_is_cut_between_words(reason: str, sent: str) -> None:
    assert shortened(reason) == sent
    assert len(sent.encode()) <= CLOSE_REASON_BYTES
