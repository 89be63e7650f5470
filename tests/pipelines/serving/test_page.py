"""The page in a real browser: a call from its microphone to its loudspeaker, an interruption, and what can go wrong."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from latency.audio.onset import utterances
from tests.pipelines.server_process import ServerProcess, running_server
from tests.pipelines.serving.browser import RATE, browsing, microphone, needs_chromium

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
TOKEN = "a token of the test"
pytestmark = needs_chromium


def sample(name: str) -> npt.NDArray[np.int16]:
    pcm: npt.NDArray[np.int16] = soundfile.read(SAMPLES / f"{name}.wav", dtype="int16")[0]
    return pcm


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    with running_server("--pipeline", "embedded") as process:
        yield process


def page_of(server: ServerProcess) -> str:
    return re.sub(r"^ws(s?)://([^/]+)/.*$", r"http\1://\2/", server.url)


async def test_a_recording_at_the_microphone_is_answered_aloud_and_the_turn_is_shown(
    server: ServerProcess, tmp_path: Path
) -> None:
    async with browsing(page_of(server), microphone(tmp_path, 1.0, sample("arithmetic/01"), 10.0)) as browser:
        await browser.call()
        await browser.says("#turns", "100 divided by 4 is 25.")
        await browser.says("#turns .took", "ms")
        assert "what is one hundred divided by four" in await browser.page.inner_text("#turns")
        shown = int(await browser.page.inner_text("#p50"))
        await browser.page.wait_for_function("() => !document.querySelector('.unheard')?.textContent")
        await browser.page.wait_for_timeout(500)
        (answer,) = utterances(await browser.played(), RATE)
        assert answer.end - answer.start > 1, "it is heard, and in one piece"
        assert 0 < shown < 5000
        await browser.page.fill("#text", "what is two plus two")
        await browser.page.click("#send")
        await browser.says("#turns", "4.")
        await browser.page.click("#call")
        await browser.says("#state", "Ready")
    assert browser.trouble == []


async def test_an_interruption_silences_the_loudspeaker_and_what_was_not_heard_stays_dim(
    server: ServerProcess, tmp_path: Path
) -> None:
    speech = microphone(tmp_path, 1.0, sample("barge_in/01"), 2.5, sample("barge_in/02"), 10.0)
    async with browsing(page_of(server), speech, width=390) as browser:
        await browser.call()
        await browser.says("#turns", "interrupted")
        await browser.says("#turns", "Okay")
        counted, *_ = utterances(await browser.played(), RATE)
        assert counted.end - counted.start < 6, "counting to twenty takes longer than ten seconds"
        unheard = "".join(await browser.page.locator("#turns li >> nth=0").locator(".unheard").all_inner_texts())
        assert "20" in unheard
        wide = await browser.page.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= 390, "nothing is cut off on a phone"
    assert browser.trouble == []


async def test_without_a_microphone_the_page_says_what_to_do(server: ServerProcess) -> None:
    async with browsing(page_of(server), None, allowed=False) as browser:
        await browser.page.click("#call")
        await browser.says("#trouble", "allow it for this page, and call again")
        assert await browser.page.inner_text("#state") == "Ready"


async def test_the_token_is_asked_for_and_a_lost_server_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOICE_TOKEN", TOKEN)
    with running_server("--pipeline", "embedded") as guarded:
        async with browsing(page_of(guarded), None) as browser:
            await browser.page.click("#call")
            await browser.says("#trouble", "A token is needed")
            await browser.page.fill("#token", TOKEN)
            await browser.page.keyboard.press("Enter")
            await browser.says("#state", "On the line")
            assert await browser.page.is_hidden("#trouble")
            guarded.process.kill()
            await browser.says("#state", "The connection was lost")
