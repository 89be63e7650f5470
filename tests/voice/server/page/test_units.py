"""The page's pure JavaScript, in a real browser: percentiles, stages, and what survives a broken connection."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.async_api import Page, Route, async_playwright

from latency.report.stats import percentile
from tests.pipelines.serving.browser import CHROMIUM_PATH, needs_chromium
from voice.server.page.routes import page_files

HOST = "http://127.0.0.1:9/"
pytestmark = needs_chromium


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    """A page that has the files, without a server."""

    async def answer(route: Route) -> None:
        found = page_files().get(route.request.url.rpartition("/")[2])
        if found is None:
            await route.fulfill(body="<!doctype html>", content_type="text/html")
        else:
            await route.fulfill(body=found.content, content_type=found.media_type)

    async with async_playwright() as playwright:
        # The tests' own settings point where no settings are; a browser would make them.
        home = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"), str(tmp_path))
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM_PATH, args=["--no-sandbox"], env=dict(os.environ | home)
        )
        try:
            opened = await browser.new_page()
            await opened.route(f"{HOST}**", answer)
            await opened.goto(HOST)
            yield opened
        finally:
            await browser.close()


async def run(page: Page, module: str, expression: str, value: Any = None) -> Any:
    """What an expression on the module `m` and a value `v` gives."""
    return await page.evaluate(
        f"async (v) => {{ const m = await import('/page/{module}.js'); return {expression}; }}", value
    )


async def test_figures_are_those_of_the_report(page: Page) -> None:
    rng = np.random.default_rng(4)
    for count in (1, 2, 7, 50):
        values = [round(float(value), 4) for value in rng.uniform(0.1, 2.0, count)]
        for share in (50, 95, 100):
            found = await run(page, "turns", f"m.percentile(v, {share})", values)
            assert found == pytest.approx(percentile(values, share))
    assert await run(page, "turns", "m.percentile([], 50)") is None
    marks = {"speech_end": 10.0, "turn_commit": 10.2, "llm_first_clause": 10.15, "tts_first_sample": 10.3}
    stages = await run(page, "turns", "m.stagesOf({ marks: v }, null, 10.45)", marks)
    assert [(one["name"], round(one["from"], 3), round(one["to"], 3)) for one in stages] == [
        ("turn end", 0, 0.2), ("model", 0.2, 0.2), ("voice", 0.2, 0.3), ("way", 0.3, 0.45),
    ]  # fmt: skip
    assert await run(page, "turns", "m.latencyOf({ marks: v }, null, null)", marks) is None
    assert await run(page, "turns", "m.latencyOf({ marks: { turn_commit: 1 } }, null, 2)") is None
    assert await run(page, "turns", "m.latencyOf({ marks: v }, 9.95, 10.45)", marks) == pytest.approx(0.5)
    clocks = await run(page, "live_calls", "v.map(m.clock)", [0, 59.9, 60, 3599, 3600, 36061])
    assert clocks == ["0:00", "0:59", "1:00", "59:59", "1:00:00", "10:01:01"]
    assert await run(page, "live_calls", "[m.milliseconds(null), m.milliseconds(0.8004)]") == ["–", "800 ms"]


@pytest.mark.parametrize(
    ("room", "sounds", "sure", "end"),
    [
        (0.002, [(3.0, 4.0)], 4.3, 4.0),
        (0.002, [(1.0, 2.0), (3.0, 4.0)], 4.3, 4.0),
        # In noise, what stands out from it is speech.
        (0.08, [(3.0, 4.0)], 4.3, 4.0),
        # A later sound is not of this speech.
        (0.002, [(3.0, 4.0), (4.5, 5.0)], 4.3, 4.0),
        # The microphone and the server's detector disagree.
        (0.002, [(3.0, 4.0)], 4.02, None),
        (0.002, [(3.0, 4.0)], 4.9, None),
        (0.3, [], 4.3, None),
        (0.0, [], 4.3, None),
    ],
)
async def test_the_microphone_tells_when_speech_ended(page: Page, room, sounds, sure, end) -> None:
    blocks = [(number / 50, 0.3 if any(a < number / 50 <= b for a, b in sounds) else room) for number in range(300)]
    hear = "const end = new m.SpeechEnd(); for (const [at, peak] of v.blocks) end.hear(at, peak);"
    found = await run(
        page, "speech_end", f"(() => {{ {hear} return end.before(v.sure); }})()", {"blocks": blocks, "sure": sure}
    )
    assert found == (None if end is None else pytest.approx(end, abs=0.011))


async def test_what_was_sent_is_kept_until_it_is_too_much(page: Page) -> None:
    fill = "const box = new m.Outbox(10); for (const size of v) box.add(new Uint8Array(size));"
    after = f"(() => {{ {fill} return [-1, 0, 1, 2, 3, 4, 1.5].map((n) => box.after(n)?.length ?? null); }})()"
    assert await run(page, "resumption", after, [4, 4, 2]) == [None, 3, 2, 1, 0, None, None]
    assert await run(page, "resumption", after, [4, 4, 4]) == [None, None, 2, 1, 0, None, None], "the oldest is dropped"
    assert await run(page, "resumption", after, [4, 4, 99]) == [None, None, None, 1, 0, None, None], "never the newest"


async def test_a_call_is_taken_up_with_its_own_token_in_growing_waits(page: Page) -> None:
    url = await run(page, "resumption", "m.resumptionUrl(v, 'own', 7)", "ws://host:1/ws?token=a&ducks=1&resumes=1")
    assert url == "ws://host:1/ws?ducks=1&resume=own&received=7"
    waits = "[...Array(7)].reduce((all) => [...all, m.nextWait(all.at(-1))], [0])"
    assert await run(page, "resumption", waits) == [0, 0.05, 0.1, 0.2, 0.4, 0.8, 1, 1]
    frame = {"type": "message", "message": {"type": "server-message", "data": {"type": "resume", "token": "t"}}}
    assert await run(page, "resumption", "m.resumeOf(v)", frame) == {"type": "resume", "token": "t"}
    others = [
        None,
        {"type": "audio"},
        {"type": "message", "message": {"type": "bot-ready", "data": {"type": "resume"}}},
    ]
    assert await run(page, "resumption", "v.map(m.resumeOf)", others) == [None] * 3


async def test_each_end_of_a_call_is_told_apart(page: Page) -> None:
    async def ending(code: int, reason: str = "", farewell: bool = False) -> tuple[bool, str]:
        found = await run(page, "resumption", "m.endingOf(...v)", [code, reason, farewell])
        return found["again"], found["sentence"]

    assert await ending(1000) == await ending(1006, farewell=True) == (False, "")
    assert await ending(1006) == await ending(1012) == await ending(4410, "gone") == (True, "")
    assert await ending(1013, "call later") == (False, "The server takes no more calls now: call later.")
    assert await ending(1011, "it hangs") == (False, "The server ended the call: it hangs.")
    assert "code 1009" in (await ending(1009))[1]


@pytest.mark.parametrize(
    ("speeds", "said"),
    [
        ({"speed": "fast", "served": "priority"}, "large · gpt-4.1 · priority ↯"),
        ({"speed": "fast", "served": "default"}, "large · gpt-4.1 · default"),
        ({"speed": "fast"}, "large · gpt-4.1 · fast ↯"),
        ({}, "large · gpt-4.1"),
    ],
)
async def test_a_turn_says_at_which_speed_it_was_served(page: Page, speeds: dict[str, str], said: str) -> None:
    attempt = {"outcome": "spoken", "tier": "large", "model": "gpt-4.1", **speeds}
    turn = {"attempts": [attempt], "responses": []}
    assert await run(page, "turns", "m.remarksOf(v)", turn) == [said]
    assert await run(page, "turns", "m.remarksOf(v)", turn | {"typed": True}) == ["typed", said]
