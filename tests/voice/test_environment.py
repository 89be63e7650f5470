"""Keys and proxies as people set them: what can be used is used, what cannot is one sentence that quotes no secret."""

import asyncio
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from voice.environment import checked_key, proxy_for, read_key
from voice.errors import ComponentError, ConfigurationError
from voice.llm.wires.anthropic.service import make_client as make_anthropic
from voice.llm.wires.chat.service import make_client as make_openai
from voice.redaction import HIDDEN, redacted

CANARY = "canary-0123456789-secret"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    return


@pytest.mark.parametrize("read", [f"{CANARY}\n", f"  {CANARY}", f"{CANARY}\r\n", f"\t{CANARY} \n\n"])
def test_white_space_around_a_key_is_no_part_of_it(read: str) -> None:
    assert read_key("MY_KEY", {"MY_KEY": read}) == CANARY
    assert CANARY not in redacted(f"Illegal header value b'Bearer {CANARY}'")


def test_a_variable_that_is_not_set_holds_no_key() -> None:
    assert read_key("MY_KEY", {}) is None


@pytest.mark.parametrize(
    ("read", "why"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        (f"{CANARY} {CANARY}", "white space or a control character"),
        (f"{CANARY}\n{CANARY}", "white space or a control character"),
        (f"{CANARY}\x00", "white space or a control character"),
        (f"{CANARY}\x7f", "white space or a control character"),
        (f"{CANARY}ü", "ASCII"),
        (f"\ufeff{CANARY}", "ASCII"),
        (f"{CANARY}\u200b", "ASCII"),
        (f"{CANARY}\udcff", "ASCII"),
        (f"“{CANARY}”", "ASCII"),
    ],
)
def test_what_can_be_no_key_is_one_sentence_without_it(read: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why) as refused:
        read_key("MY_KEY", {"MY_KEY": read})
    sentence = str(refused.value)
    assert sentence.startswith("The environment variable MY_KEY ")
    assert sentence.count(". ") == 0
    assert CANARY not in sentence
    assert refused.value.exit_code == 2


def test_a_passphrase_may_have_spaces() -> None:
    assert checked_key(" of a caller, and long ", "VOICE_TOKEN", spaces=True) == "of a caller, and long"
    with pytest.raises(ConfigurationError, match="control character"):
        checked_key("of a caller\tand long", "VOICE_TOKEN", spaces=True)


@pytest.mark.parametrize(
    ("listed", "url", "exempt"),
    [
        ("localhost,127.0.0.1,::1/128", "https://x.example", False),
        ("::1/128,fd00::/8", "https://[fd00::5]/v1", True),
        ("[fd00::5]", "https://[fd00::5]/v1", True),
        ("[fd00::5]:443", "https://[fd00::5]/v1", True),
        ("[fd00::5]:8443", "https://[fd00::5]/v1", False),
        ("fd00::5", "https://[fd00::5]/v1", True),
        ("10.0.0.0/8", "https://10.1.2.3/v1", True),
        ("10.0.0.0/8", "https://11.1.2.3/v1", False),
        ("10.0.0.0/8", "https://x.example", False),
        ("*", "https://x.example", True),
        ("a.example,*", "https://x.example", True),
        ("*.x.example", "https://a.x.example", True),
        (".x.example, ,", "https://a.x.example", True),
        ("x.example,,", "wss://X.example/v1", True),
        ("x.example:443", "https://x.example", True),
        ("x.example:8443", "https://x.example", False),
        ("x.example", "https://notx.example", False),
        ("https://x.example", "https://x.example", True),
        ("http://[::,[[,::/999,ü.example,:,/,a b", "https://x.example", False),
        ("", "https://localhost/v1", True),
        ("", "https://127.0.0.2/v1", True),
        ("", "https://[::1]/v1", True),
    ],
)
def test_servers_that_no_proxy_stands_before(
    listed: str, url: str, exempt: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", listed)
    assert proxy_for(url) == (None if exempt else "http://proxy.example:3128")


@pytest.mark.parametrize(
    ("value", "proxy"),
    [
        ("proxy.example:3128", "http://proxy.example:3128"),
        (" http://proxy.example:3128\n", "http://proxy.example:3128"),
        ("http://proxy.example/", "http://proxy.example:80"),
        ("https://proxy.example", "https://proxy.example:443"),
        ("http://me@proxy.example", "http://me:@proxy.example:80"),
        ("http://me:pä ss@[::2]:8/path?x", "http://me:p%C3%A4%20ss@[::2]:8"),
        ("http://ü.example:1", "http://xn--tda.example:1"),
        ("  ", None),
        ("", None),
    ],
)
@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_proxies_that_can_be_used(
    variable: str, value: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    assert proxy_for("https://x.example/v1") == proxy_for("wss://x.example/v1") == proxy
    # What it gives, every client takes.
    for make in (make_openai, make_anthropic):
        asyncio.run(make(base_url="https://x.example", api_key="k", silence=1).close())


@pytest.mark.parametrize(
    "value",
    [
        "ftp://h:1", "socks4://h:1", "http://h:99999", "http://h:abc", "h:abc", "http://", "http://h h:1", "http://[::1",
        "http://h:0", f"http://me:{CANARY}@h:abc", "http://h\x01:1", f"http://{'a' * 70}:1",
    ],
)  # fmt: skip
@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "all_proxy"])
def test_proxies_that_cannot_be_used(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=f"^{variable} is not a proxy's address: write it as ") as refused:
        make_anthropic(base_url=None, api_key="k", silence=1)
    assert CANARY not in str(refused.value)
    with pytest.raises(ConfigurationError):
        make_openai(base_url=None, api_key="k", silence=1)
    asyncio.run(make_anthropic(base_url="http://127.0.0.1:9", api_key="k", silence=1).close())


def test_a_proxy_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://h:1")
    monkeypatch.setattr("voice.environment.find_spec", lambda _: None)
    with pytest.raises(ComponentError, match="ALL_PROXY names a SOCKS proxy, .* pip install "):
        proxy_for("https://x.example")


async def test_a_server_of_this_machine_is_asked_past_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "::1/128")
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).split()[1])
        body = json.dumps({"data": [], "has_more": False, "first_id": None, "last_id": None}).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        makes: list[tuple[Any, str]] = [(make_openai, f"{url}/v1"), (make_anthropic, url)]
        for make, base_url in makes:
            async with make(base_url=base_url, api_key="k", silence=5) as client:
                await client.models.list()
    assert [path.partition(b"?")[0] for path in asked] == [b"/v1/models", b"/v1/models"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"https://me:{CANARY}@h/v1 refused", f"https://{HIDDEN}@h/v1 refused"),
        (f"ws://h/ws?resumes=1&token={CANARY}&x=1 broke", f"ws://h/ws?resumes=1&token={HIDDEN}&x=1 broke"),
        (f"GET https://h/v1?api_key={CANARY}: 401", f"GET https://h/v1?api_key={HIDDEN} 401"),
        ("http://127.0.0.1:8000/v1 answers", "http://127.0.0.1:8000/v1 answers"),
        ("see user@example.org", "see user@example.org"),
        ("sim:steady?ttft_ms=20&tokens_per_s=2000 broke", "sim:steady?ttft_ms=20&tokens_per_s=2000 broke"),
    ],
)
def test_secrets_in_addresses_are_hidden(text: str, shown: str) -> None:
    assert redacted(text).replace(":", "") == shown.replace(":", "")
    assert str(ComponentError(text)) == redacted(text)
