"""`POST /start`: the address of a call, as it is from where the caller stands."""

from typing import Any, cast

import httpx2
import pytest

from voice.server.app import create_app
from voice.server.authentication import Access
from voice.server.calls import Calls
from voice.wire.endpoint import HEALTH_PATH, LIVE_PATH, READY_PATH, START_PATH

TOKEN = "correct-horse-battery"


@pytest.mark.parametrize(
    ("behind_proxy", "address"), [(True, "wss://voice.example/ws?token="), (False, "ws://inner:8765/ws?token=")]
)
async def test_behind_a_proxy_it_is_the_proxys_address(behind_proxy: bool, address: str) -> None:
    calls = Calls(cast(Any, None))
    calls.ready = True
    app = create_app(calls, Access(token=TOKEN, local=False, behind_proxy=behind_proxy))
    headers = {"Authorization": f"Bearer {TOKEN}", "X-Forwarded-Host": "voice.example", "X-Forwarded-Proto": "https"}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://inner:8765") as client:
        told = await client.post(START_PATH, headers=headers)
    assert told.status_code == 200, told.text
    assert told.json()["wsUrl"].startswith(address)


@pytest.mark.parametrize("path", ["/", "/live", LIVE_PATH, READY_PATH, HEALTH_PATH])
async def test_a_head_request_is_answered_as_get_is(path: str) -> None:
    calls = Calls(cast(Any, Status()))
    calls.ready = True
    transport = httpx2.ASGITransport(create_app(calls, Access()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
        head, get = await client.head(path), await client.get(path)
    assert (head.status_code, head.headers["content-type"]) == (get.status_code, get.headers["content-type"])
    assert get.status_code == 200


class Status:
    def status(self) -> dict[str, Any]:
        return {}
