"""`/live`: the calls under way, for those who may know of them, in a real browser."""

import json
import os
import re
from pathlib import Path
from unittest import mock

import pytest

from latency.record.marks import Mark, Marks
from latency.record.turn import ServerTurn
from pipelines.call_log.prometheus import PrometheusMetrics
from tests.pipelines.call_log.test_call_statistics import asked, turn
from tests.pipelines.call_log.test_prometheus import fetch
from tests.pipelines.server_process import running_server
from tests.pipelines.serving.browser import Browser, browsing, needs_chromium

TOKEN = "a-token-of-this-test"


def test_a_call_is_shown_as_it_is_now() -> None:
    metrics = PrometheusMetrics(stop=0.2, budget=0.45, clock=lambda: 100.0)
    call, other = metrics.began(), metrics.began()
    (shown, _) = metrics.under_way()
    assert (shown.number, shown.state, shown.turns, shown.p50, shown.answered_by) == (1, "listening", 0, None, None)
    call.note(ServerTurn(turn=0, marks=Marks({Mark.VAD_STOP: 1.0, Mark.TURN_COMMIT: 1.1})))
    assert metrics.under_way()[0].state == "answering"
    call.note(asked(0, clause=0.4, usd=0.5))
    shown = metrics.under_way()[0]
    assert (shown.state, shown.turns, shown.answered_by) == ("speaking", 1, "large")
    call.note(turn(1, latency=0.9, final=True))
    shown = metrics.under_way()[0]
    assert (shown.state, shown.turns, shown.late) == ("listening", 2, 1)
    assert (shown.p50, shown.slowest) == pytest.approx((0.8, 0.9))
    assert shown.p95 is None, "two turns have no 95th percentile"
    call.note(turn(2, ended_by="nothing_heard", latency=None))
    assert metrics.under_way()[0].turns == 2, "a cough is no turn"
    assert metrics.under_way()[0].state == "listening"
    call.away(True)
    assert metrics.under_way()[0].state == "away"
    call.away(False)
    metrics.ended(call, "the caller hung up")
    assert [one.number for one in metrics.under_way()] == [other.number]


@needs_chromium
@pytest.mark.slow
async def test_the_page_shows_calls_as_they_come_and_go_to_those_who_have_the_token(tmp_path: Path) -> None:
    options = ("--pipeline", "embedded", "--set", f"call.transcripts={tmp_path}")
    with mock.patch.dict(os.environ, VOICE_TOKEN=TOKEN), running_server(*options) as server:
        address = re.sub(r"^ws://([^/]+)/.*$", r"http://\1/", server.url)
        assert fetch(f"{address}live/calls")[0] == 401
        async with browsing(f"{address}", None, width=390) as browser:
            live = Browser(await browser.page.context.new_page())
            await live.page.goto(f"{address}live")
            await live.says("#trouble", "A token is needed")
            await live.page.fill("#token", TOKEN)
            await live.page.keyboard.press("Enter")
            await live.says("#state", "None now")
            await browser.page.click("#call")
            await browser.says("#trouble", "A token is needed")
            await browser.page.fill("#token", TOKEN)
            await browser.page.keyboard.press("Enter")
            await browser.says("#state", "On the line")
            await live.says("#state", "1 call")
            await live.says("#calls", "listening")
            wide = await live.page.evaluate("() => document.documentElement.scrollWidth")
            assert wide <= 390, "nothing is cut off on a phone"
            await browser.types("count to twenty")
            status, text = fetch(f"{address}live/calls", Authorization=f"Bearer {TOKEN}")
            assert status == 200
            (call,) = json.loads(text)["calls"]
            assert call.keys() == {
                "number", "seconds", "state", "turns", "typed", "late", "p50", "p95", "slowest", "answered_by",
            }  # fmt: skip
            await browser.page.click("#call")
            await live.says("#state", "None now")
