"""Headers of a tier's own reach its server over every wire, and are shown nowhere."""

import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from pipelines import settings
from pipelines.agent import Agent
from pipelines.cli import main
from pipelines.providers.anthropic import AnthropicTier
from pipelines.providers.openai import OpenAITier
from pipelines.providers.remote_tier import RemoteTierTable
from pipelines.providers.resources import Resources
from pipelines.providers.server_check import check_server
from tests.pipelines.providers.model_servers import Handler, http, listening, models, read_request
from voice.errors import ConfigurationError
from voice.redaction import redacted

SECRET = "gateway/5b4a9f8e7d6c"
HEADERS = {"X-Team": "the voice team", "X-Gateway-Key": "$GATEWAY_KEY"}
WIRES: tuple[tuple[type[RemoteTierTable], dict[str, Any]], ...] = (
    (OpenAITier, {"provider": "openai"}),
    (OpenAITier, {"provider": "openai", "wire": "responses"}),
    (AnthropicTier, {"provider": "anthropic"}),
)


def recording(requests: list[str]) -> Handler:
    def handle(connection: socket.socket, _over: threading.Event) -> None:
        requests.append(read_request(connection).decode().lower())
        connection.sendall(http(models("m")))

    return handle


async def ask(tier: RemoteTierTable) -> None:
    """Make one request, which fails."""
    llm = settings.load("sim-single").llm
    model = tier.model_of(llm, Resources())  # type: ignore[arg-type]
    await model.start()
    service: Any = model.service(prompt="Be brief.", tools=(), requests=1)
    if tier.protocol == "responses":
        with pytest.raises(InvalidStatus):
            await service._open()
    elif tier.protocol == "messages":
        await service._client.messages.create(model="m", max_tokens=1, messages=[{"role": "user", "content": "Hi"}])
    else:
        await service._client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
    await model.close()


@pytest.mark.parametrize(("kind", "values"), WIRES)
async def test_headers_reach_the_server(
    kind: type[RemoteTierTable], values: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_KEY", SECRET)
    requests: list[str] = []
    with listening(recording(requests)) as port:
        url = f"http://127.0.0.1:{port}" + ("" if kind is AnthropicTier else "/v1")
        tier = kind.model_validate({**values, "model": "m", "base_url": url, "headers": HEADERS})
        await check_server(tier, ask=True)
        checked = len(requests)
        await ask(tier)
    assert checked >= 2
    assert len(requests) > checked
    for request in requests:
        assert "x-team: the voice team" in request
        assert f"x-gateway-key: {SECRET}" in request


def test_headers_are_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_KEY", SECRET)
    tier = OpenAITier(provider="openai", model="m", base_url="http://h/v1", headers={**HEADERS, "X-Token": "abc-def-1"})
    assert tier.extra_headers["X-Gateway-Key"] == SECRET
    assert "headers" not in tier.model_dump()
    assert "voice team" not in repr(tier)
    assert SECRET not in redacted(f"Unknown key {SECRET}.")
    assert "abc-def-1" not in redacted("Unknown key abc-def-1.")


@pytest.mark.parametrize(
    ("headers", "sentence"),
    [
        ('{ X-K = ["sk-abcdefsecret"] }', "must be a table of HTTP headers"),
        ('"X-K: sk-abcdefsecret"', "must be a table of HTTP headers"),
        ('{ Content-Length = "5" }', "belongs to the connection"),
        ('{ X-K = "$" }', "needs the name of an environment variable"),
        ('{ X-K = " sk-abcdefsecret " }', "without spaces around it"),
    ],
)
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(headers: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence) as refused:
        Agent(pipeline="local", overrides=[f"llm.large.headers={headers}"])
    assert "abcdefsecret" not in str(refused.value)


@pytest.mark.parametrize("headers", ['{ "X Team" = "a" }', '{ X-Team = "grün-und-lang" }', '{ X-Team = "" }'])
def test_what_is_no_header_is_refused_without_quoting_it(headers: str) -> None:
    with pytest.raises(ConfigurationError, match="is no name of a header|needs a value of printable") as refused:
        Agent(pipeline="local", overrides=[f"llm.large.headers={headers}"])
    assert "grün" not in str(refused.value)


def test_a_variable_that_is_not_set_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GATEWAY_KEY", raising=False)
    tier = OpenAITier(provider="openai", model="m", base_url="http://127.0.0.1:9/v1", headers=HEADERS)
    with pytest.raises(ConfigurationError, match="header X-Gateway-Key needs the environment variable GATEWAY_KEY"):
        _ = tier.extra_headers
    pipeline = tmp_path / "mine.toml"
    pipeline.write_text(
        '[asr]\nengine = "sphinx"\n[llm]\npolicy = "single"\n[llm.large]\nprovider = "openai"\nmodel = "m"\n'
        'base_url = "http://127.0.0.1:9/v1"\nheaders = { X-Gateway-Key = "$GATEWAY_KEY" }\n'
    )
    assert main(["check", str(pipeline)]) == 4
    assert "variable GATEWAY_KEY, which is not set" in " ".join(capsys.readouterr().out.split())
