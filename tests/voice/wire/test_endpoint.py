"""Addresses and sample rates are written and read alike at both ends."""

import pytest

from voice.wire.endpoint import call_url, health_url, out_rate, page_url, with_rate


@pytest.mark.parametrize(
    ("host", "url", "health"),
    [
        ("127.0.0.1", "ws://127.0.0.1:8765/ws", "http://127.0.0.1:8765/healthz"),
        ("::1", "ws://[::1]:8765/ws", "http://[::1]:8765/healthz"),
    ],
)
def test_a_server_is_called_and_asked_for_its_health_at_its_address(host: str, url: str, health: str) -> None:
    assert call_url(host, 8765) == url
    assert health_url(url) == health


def test_the_health_of_a_server_behind_a_path_is_beside_its_calls() -> None:
    assert health_url("wss://example.org/bot/ws?key=a") == "https://example.org/bot/healthz"


@pytest.mark.parametrize(
    ("url", "rate", "expected"),
    [
        ("ws://h/ws", "native", "ws://h/ws?sample_rate=native"),
        ("ws://h/ws", 48000, "ws://h/ws?sample_rate=48000"),
        ("ws://h/ws?key=a", "native", "ws://h/ws?key=a&sample_rate=native"),
        ("ws://h/ws?sample_rate=8000", "native", "ws://h/ws?sample_rate=8000"),
    ],
)
def test_the_rate_is_asked_for_unless_the_address_names_one(url: str, rate: int | str, expected: str) -> None:
    assert with_rate(url, rate) == expected


@pytest.mark.parametrize(
    ("text", "rate"),
    [("native", 22050), ("8000", 8000), ("48000", 48000), ("7999", None), ("48001", None), ("-1", None), ("x", None)],
)
def test_a_rate_is_the_voices_own_or_one_that_servers_allow(text: str, rate: int | None) -> None:
    assert out_rate(text, native=22050) == rate


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("ws://127.0.0.1:8765/ws", "http://127.0.0.1:8765/"),
        ("wss://0.0.0.0:8765/ws", "https://127.0.0.1:8765/"),
        ("ws://[::]:8765/ws", "http://[::1]:8765/"),
    ],
)
def test_the_page_is_at_an_address_that_a_browser_opens(url: str, page: str) -> None:
    assert page_url(url) == page
