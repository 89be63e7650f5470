"""No client follows a redirect, so that no key reaches another server than the one that was named."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic
import openai
import pytest

from pipelines.providers.anthropic import AnthropicTier
from pipelines.providers.server_check import check_server
from pipelines.server_process import health
from voice.client.call.connection import connect_call
from voice.errors import ComponentError
from voice.llm.wires.anthropic import service as messages
from voice.llm.wires.chat import service as chat
from voice.llm.wires.errors import reason
from voice.redirects import DirectConnection, Redirected
from voice.wire.endpoint import TOKEN_VARIABLE

KEY = "canary-9f8e7d6c5b4a"
NOT_FOLLOWED = "answered HTTP 307 with a redirect to http://elsewhere.test/v1?key=[key hidden], which is not followed"


@pytest.fixture
def asked() -> list[str]:
    """The paths that were asked for."""
    return []


@pytest.fixture
def redirecting(asked: list[str]) -> Iterator[str]:
    """The URL of a server that redirects everything."""

    class Redirecting(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(self.path)
            here = "/elsewhere" if self.path == "/healthz" else "http://elsewhere.test/v1?key=hush-hush"
            self.send_response(307)
            self.send_header("Location", here)
            self.send_header("Content-Length", "0")
            self.send_header("Connection", "close")
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Redirecting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


async def test_a_redirected_message_is_one_sentence(redirecting: str, asked: list[str]) -> None:
    client = messages.make_client(base_url=redirecting, api_key=KEY, silence=5.0)
    with pytest.raises(anthropic.APIStatusError) as failed:
        await client.messages.create(model="m", max_tokens=1, messages=[{"role": "user", "content": "Hi"}])
    assert reason(failed.value, model="m", where="it") == f"m at it {NOT_FOLLOWED}."
    assert asked == ["/v1/messages"]


async def test_a_redirected_completion_is_one_sentence(redirecting: str, asked: list[str]) -> None:
    client = chat.make_client(base_url=f"{redirecting}/v1", api_key=KEY, silence=5.0)
    with pytest.raises(openai.APIStatusError) as failed:
        await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
    assert reason(failed.value, model="m", where="it") == f"m at it {NOT_FOLLOWED}."
    assert asked == ["/v1/chat/completions"]


async def test_a_redirected_socket_is_one_sentence(redirecting: str) -> None:
    from websockets.asyncio.client import connect

    with pytest.raises(Redirected) as failed:
        await connect(redirecting.replace("http", "ws"), create_connection=DirectConnection)
    assert reason(failed.value, model="m", where="it") == f"m at it {NOT_FOLLOWED}."


async def test_a_check_is_not_redirected(redirecting: str) -> None:
    table = AnthropicTier(provider="anthropic", model="m", base_url=redirecting)
    state = await check_server(table, ask=True)
    assert not state.works
    assert NOT_FOLLOWED in state.text


async def test_a_call_and_the_question_before_it_are_not_redirected(
    redirecting: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, KEY)
    url = f"{redirecting.replace('http', 'ws')}/ws"
    assert await health(url) == {}
    assert asked == ["/healthz"]
    with pytest.raises(ComponentError, match="with a redirect to"):
        await connect_call(url, sample_rate=16000)
