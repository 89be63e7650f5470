"""The page in a real Chromium, from a file: no error, no request, playback, filters, keys, links, accessibility."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.async_playwright import Axe

from latency.cli import main
from latency.record.run_writer import RunWriter
from latency.record.session import Session
from tests.latency.conversations import (
    HEADER,
    SESSION,
    Conversation,
    MakeRun,
    barge_in_turn,
    cut_off_turn,
    first_turn,
    unanswered_turn,
)
from tests.latency.page.test_document import HOSTILE, hostile_run
from tests.pipelines.serving.browser import Browser, browsing, needs_chromium

__all__ = ["hostile_run"]
pytestmark = needs_chromium
WORST_FIRST = ["Turn 3", "Turn 1", "Turn 2", "Turn 0, cold"]


@pytest.fixture
def run(make_run: MakeRun) -> Path:
    """An answer after 600 ms by a cold server, one cut off in a pause, a barge-in and a turn nobody answers."""
    talk = Conversation(24).user(1, 2).bot(2.6, 4)
    talk.user(5, 5.6).user(6.4, 7).bot(6.0, 6.2).bot(7.9, 10.0)
    talk.user(9.5, 11).bot(11.7, 13).user(15, 16)
    turns = [replace(first_turn(), cold=True), cut_off_turn(), barge_in_turn(), unanswered_turn()]
    return make_run(turns, talk.samples, **SESSION)


def made(run: Path, *options: str) -> str:
    """The address of a run's page."""
    path = run / "report.html"
    main(["report", str(run), "--html", str(path), *options])
    return path.as_uri()


async def names(browser: Browser) -> list[str]:
    return await browser.page.locator("#list .name").all_text_contents()


async def test_a_page_shows_a_run_without_an_error_or_a_request(run: Path) -> None:
    async with browsing(made(run), None, allowed=False) as browser:
        assert await browser.page.text_content("h1") == str(run)
        assert await browser.page.title() == f"{run}: turn latency"
        assert await names(browser) == WORST_FIRST
        assert await browser.page.locator("figure svg[role=img]").count() == 2
        assert "There is no audio in this page" in (await browser.page.text_content("#silent") or "")
        await browser.page.click("#turn-0 summary")
        detail = await browser.page.text_content("#turn-0 .detail")
        assert "600 ms (the server's first turn)" in (detail or "")
        assert "7 times 8 is 56." in (detail or "")
        assert await browser.page.locator("#turn-0 audio").count() == 0
        assert browser.trouble == []


async def test_the_audio_of_a_turn_plays_from_the_page(run: Path) -> None:
    async with browsing(made(run, "--audio"), None, allowed=False) as browser:
        assert not await browser.page.is_visible("#silent")
        await browser.page.click("#turn-0 summary")
        await browser.page.evaluate("() => document.querySelector('#turn-0 audio').play()")
        await browser.page.wait_for_function("() => document.querySelector('#turn-0 audio').currentTime > 0.3")
        length = await browser.page.evaluate("() => document.querySelector('#turn-0 audio').duration")
        assert length == pytest.approx(4.0, abs=0.05), "from 0.5 s before the speech to 0.5 s after the answer"
        await browser.page.click("#turn-0 .wave svg", position={"x": 5, "y": 20})
        await browser.page.wait_for_function("() => document.querySelector('#turn-0 audio').currentTime < 0.3")
        assert browser.trouble == []


async def test_filters_and_search_leave_the_turns_that_match(run: Path) -> None:
    async with browsing(made(run), None, allowed=False) as browser:
        page = browser.page
        for field, value, left in (
            ("#verdict", "cut off", ["Turn 1"]),
            ("#verdict", "wrong answer", ["Turn 3", "Turn 1"]),
            ("#cold", "cold", ["Turn 0, cold"]),
            ("#order", "spoken", ["Turn 0, cold", "Turn 1", "Turn 2", "Turn 3"]),
        ):
            await page.select_option(field, value)
            await browser.says("#found", "4 turns" if len(left) == 4 else f"{len(left)} of 4 turns")
            await browser.says("#list .name", left[0])
            assert await names(browser) == left
            await page.click("text=Show all")
            await browser.says("#found", "4 turns")
        await page.fill("#text", "LORRY story")
        await browser.says("#found", "1 of 4 turns")
        assert await names(browser) == ["Turn 1"]
        await page.fill("#text", "no such words")
        await browser.says("#found", "0 of 4 turns")
        assert browser.trouble == []


async def test_a_turn_is_opened_and_left_by_keys_alone(run: Path) -> None:
    async with browsing(made(run), None, allowed=False) as browser:
        page = browser.page
        await page.keyboard.press("Tab")
        assert await page.evaluate("() => document.activeElement.textContent") == "Skip to the turns"
        await page.keyboard.press("Enter")
        for _ in range(12):
            await page.keyboard.press("Tab")
            if await page.evaluate("() => document.activeElement.closest('details')?.id") == "turn-3":
                break
        await page.keyboard.press("Enter")
        await page.wait_for_selector("#turn-3 .detail")
        assert page.url.endswith("#turn-3"), "the address is the turn's permanent link"
        await page.keyboard.press("Space")
        assert not await page.evaluate("() => document.getElementById('turn-3').open")


async def test_a_link_opens_its_turn_whatever_the_filters_hide(run: Path) -> None:
    async with browsing(made(run) + "#turn-2", None, allowed=False) as browser:
        page = browser.page
        await page.wait_for_selector("#turn-2 .detail")
        await page.keyboard.press("Tab")
        assert await page.evaluate("() => document.activeElement.closest('details').id") == "turn-2"
        await page.select_option("#verdict", "cut off")
        await browser.says("#found", "1 of 4 turns")
        await page.evaluate("() => { location.hash = 'turn-0'; }")
        await page.wait_for_selector("#turn-0 .detail")
        assert await page.text_content("#found") == "4 turns"
        await page.evaluate("() => { location.hash = 'turn-77'; }")
        await browser.says("#found", "The link names a turn that is not in this page.")


async def test_hostile_words_are_shown_as_words(hostile_run: Path) -> None:
    async with browsing(made(hostile_run), None, allowed=False) as browser:
        page = browser.page
        await page.click("#turn-0 summary")
        shown = HOSTILE.replace("\x1b", "\\x1b").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        shown = shown.replace("\u202e", "\\u202e")
        assert (await page.locator("#turn-0 .detail dd").all_text_contents())[:3] == [shown] * 3
        assert await page.locator("main img, main script:not([id]) ~ b").count() == 0
        assert await page.title() == f"{hostile_run}: turn latency"
        assert browser.trouble == []


async def test_hundreds_of_turns_are_soon_usable_page_by_page(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "run", header=HEADER)
    samples = Conversation(6).user(1, 2).bot(2.6, 4).samples
    for number in range(200):
        session = f"call <{number}>"
        writer.add_turns([replace(first_turn(), session=session)])
        writer.add_session(Session(name=session, wav=writer.write_session_wav(session, samples), seconds=6.0))
    begun = time.monotonic()
    address = made(writer.finish("complete"))
    assert time.monotonic() - begun < 10, "2 s on a machine that does nothing else"
    begun = time.monotonic()
    async with browsing(address, None, allowed=False) as browser:
        await browser.page.wait_for_selector("#list summary")
        assert time.monotonic() - begun < 10, "1 s, and the start of the browser"
        assert await browser.page.locator("#list > li").count() == 50
        await browser.page.click("#after")
        assert await browser.page.text_content("#where") == "51 to 100 of 200"
        await browser.page.goto(address + "#turn-call%20%3C199%3E-0")
        await browser.page.wait_for_selector("[open] .detail")
        assert await browser.page.text_content("#where") == "151 to 200 of 200"
        assert browser.trouble == []


@pytest.mark.parametrize("width", [390, 1280])
async def test_axe_finds_no_fault_and_nothing_is_wider_than_the_window(run: Path, width: int) -> None:
    async with browsing(made(run, "--audio"), None, allowed=False, width=width) as browser:
        for box in ("#stages-box", "#measured-box", "#turn-0", "#turn-1"):
            await browser.page.evaluate("(box) => { document.querySelector(box).open = true; }", box)
        await browser.page.wait_for_selector("#turn-1 .detail")
        assert await browser.page.evaluate("() => document.documentElement.scrollWidth") <= width
        found = await Axe().run(browser.page)
        assert [(one["id"], one["impact"]) for one in found.response["violations"]] == []
        assert browser.trouble == []
