"""Who may call a server, by the headers and the token of a request."""

import pytest

from voice.server.authentication import SHORT_LIVED, Access, is_local

NOW = 1_800_000_000.0
TOKEN = "correct-horse-battery"
LOCAL = {"host": "127.0.0.1:8765"}
OPEN = Access()
GUARDED = Access(token=TOKEN, local=False)


def refused(access: Access, headers: dict[str, str], given: str | None = None, *, now: float = NOW) -> int | None:
    """The HTTP status with which a request is refused; None when it may pass."""
    refusal = access.refusal(headers, given, now)
    return refusal.status if refusal else None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8765", "localhost:80", "[::1]:9", "127.1.2.3"])
def test_local_names_are_this_machine(host: str) -> None:
    assert is_local(host)
    assert refused(OPEN, {"host": host}) is None


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "10.0.0.1:8765", "0.0.0.0", "[", "a b", "@"]
)
def test_a_local_server_does_not_answer_to_other_names(host: str) -> None:
    assert not is_local(host)
    assert refused(OPEN, {"host": host}) == 403


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost:9999", "file://", "", "https://["]
)
def test_pages_of_other_origins_may_not_call(origin: str) -> None:
    assert refused(OPEN, LOCAL | {"origin": origin}) == 403
    assert refused(GUARDED, {"host": "voice.example", "origin": origin}, TOKEN) == 403


def test_the_servers_own_pages_and_those_it_was_told_of_may_call() -> None:
    page = {"origin": "https://shop.example"}
    assert refused(OPEN, LOCAL | {"origin": "http://127.0.0.1:8765"}) is None
    assert refused(Access(origins=("https://shop.example",)), LOCAL | page) is None
    assert refused(Access(origins=("*",)), LOCAL | page) is None
    assert refused(Access(origins=("https://other.example",)), LOCAL | page) == 403
    # The page came from a name of its own that points at this machine.
    assert refused(Access(origins=("https://shop.example",)), page | {"host": "shop.example"}) is None


@pytest.mark.parametrize("sent", ["", "wrong", TOKEN[:-1], TOKEN + "x", "ß" * 20, "v1.9999999999.00", "v1..", "v1.٣.x"])
def test_another_token_does_not_open_the_door(sent: str) -> None:
    host = {"host": "voice.example"}
    assert refused(GUARDED, host | {"authorization": f"Bearer {sent}"}) == 401
    assert refused(GUARDED, host, sent) == 401


def test_the_token_does_in_the_header_and_in_the_address() -> None:
    host = {"host": "voice.example"}
    assert refused(GUARDED, host) == 401
    assert refused(GUARDED, host | {"authorization": f"Bearer {TOKEN}"}) is None
    assert refused(GUARDED, host | {"authorization": f"bearer  {TOKEN} "}) is None
    assert refused(GUARDED, host | {"authorization": f"Basic {TOKEN}"}) == 401
    assert refused(GUARDED, host, TOKEN) is None
    assert OPEN.short_lived(NOW) is None


def test_a_short_lived_token_is_valid_for_a_minute_on_this_server_only() -> None:
    short = GUARDED.short_lived(NOW)
    assert short is not None
    assert TOKEN not in short
    host = {"host": "voice.example"}
    assert refused(GUARDED, host, short) is None
    assert refused(GUARDED, host, short, now=NOW + SHORT_LIVED - 1) is None
    assert refused(GUARDED, host, short, now=NOW + SHORT_LIVED) == 401
    assert refused(Access(token=TOKEN + "2", local=False), host, short) == 401
    # It opens calls, and nothing else: neither another token nor what the server is like.
    for sent in (short, TOKEN):
        refusal = GUARDED.refusal_of_stranger(host | {"authorization": f"Bearer {sent}"})
        assert (refusal is None) == (sent == TOKEN)
    version, expiry, signature = short.split(".")
    assert refused(GUARDED, host, f"{version}.{int(expiry) + 1}.{signature}") == 401


def test_the_token_stays_out_of_what_is_printed() -> None:
    assert TOKEN not in repr(GUARDED)
    refusal = GUARDED.refusal({"host": "voice.example"}, "guess-at-the-token", NOW)
    assert refusal is not None
    assert "guess" not in refusal.reason


@pytest.mark.parametrize(
    ("forwarded", "host"),
    [("voice.example", "voice.example"), ("voice.example, inner:80", "voice.example"), ("", "inner:8765")],
)
def test_only_a_proxy_is_believed_by_which_name_it_was_called(forwarded: str, host: str) -> None:
    headers = {"host": "inner:8765", "x-forwarded-host": forwarded}
    assert Access(token=TOKEN, local=False, behind_proxy=True).host(headers) == host
    assert GUARDED.host(headers) == "inner:8765"


def test_a_page_of_the_proxys_host_may_call() -> None:
    headers = {"host": "inner:8765", "x-forwarded-host": "voice.example", "origin": "https://voice.example"}
    assert refused(Access(token=TOKEN, local=False, behind_proxy=True), headers, TOKEN) is None
    assert refused(GUARDED, headers, TOKEN) == 403
