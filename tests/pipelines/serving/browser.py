"""A real Chromium on a server's page: its microphone plays a recording, and what its loudspeaker plays is captured."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile
from playwright.async_api import Browser as Chromium
from playwright.async_api import Page, Playwright, async_playwright

CHROMIUM_PATH = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(CHROMIUM_PATH is None, reason="Chromium is missing: apt-get install chromium")
RATE = 24000
# What goes to the loudspeaker also goes to a recorder, with the instant of each piece on the page's clock.
CAPTURE = """
window.played = [];
const connect = AudioNode.prototype.connect;
AudioNode.prototype.connect = function (target, ...rest) {
  if (target instanceof AudioDestinationNode && this instanceof AudioWorkletNode) {
    const recorder = this.context.createScriptProcessor(1024, 1, 1);
    recorder.onaudioprocess = ({ inputBuffer }) =>
      window.played.push([...inputBuffer.getChannelData(0)].map((sample) => Math.round(sample * 32767)));
    connect.call(this, recorder);
    connect.call(recorder, target);
  }
  return connect.call(this, target, ...rest);
};
"""


@dataclass
class Browser:
    """A page in a browser."""

    page: Page
    trouble: list[str] = field(default_factory=list)
    """What the console complained about, and requests to other hosts."""

    async def call(self) -> None:
        await self.page.click("#call")
        await self.says("#state", "On the line")

    async def types(self, text: str) -> None:
        """Send a text instead of speech."""
        await self.page.fill("#text", text)
        await self.page.click("#send")

    async def says(self, selector: str, text: str, *, timeout: float = 40) -> None:
        """Wait until an element shows a text."""
        # A function, not an expression: the page's policy forbids to evaluate text.
        await self.page.wait_for_function(
            "([selector, text]) => document.querySelector(selector)?.textContent.includes(text)",
            arg=[selector, text],
            timeout=timeout * 1000,
        )

    async def played(self) -> npt.NDArray[np.int16]:
        """What the loudspeaker has played so far, `RATE` mono."""
        return np.array(await self.page.evaluate("() => window.played.flat()"), np.int16)


@asynccontextmanager
async def browsing(
    url: str, microphone: Path | None, *, allowed: bool = True, width: int = 1280
) -> AsyncIterator[Browser]:
    """Open a page.

    Args:
        url: its address.
        microphone: a 16-bit WAV that the microphone plays once when it is opened; None for a tone.
        allowed: whether the page may use the microphone.
        width: of its window, pixels.
    """
    options = ["--use-fake-device-for-media-stream", "--autoplay-policy=no-user-gesture-required", "--no-sandbox"]
    if allowed:
        options.append("--use-fake-ui-for-media-stream")
    if microphone:
        options.append(f"--use-file-for-fake-audio-capture={microphone}%noloop")
    with tempfile.TemporaryDirectory() as home:
        # The tests' own settings point where no settings are; a browser would make them.
        kept = {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, "XDG_RUNTIME_DIR": home}
        async with async_playwright() as playwright, _launched(playwright, options, os.environ | kept) as browser:
            yield await _opened(browser, url, allowed=allowed, width=width)


@asynccontextmanager
async def _launched(playwright: Playwright, options: list[str], environment: dict[str, str]) -> AsyncIterator[Chromium]:
    browser = await playwright.chromium.launch(executable_path=CHROMIUM_PATH, args=options, env=dict(environment))
    try:
        yield browser
    finally:
        await browser.close()


async def _opened(browser: Chromium, url: str, *, allowed: bool, width: int) -> Browser:
    context = await browser.new_context(viewport={"width": width, "height": 900})
    if allowed:
        await context.grant_permissions(["microphone"])
    await context.add_init_script(CAPTURE)
    page = await context.new_page()
    opened = Browser(page)
    page.on("pageerror", lambda error: opened.trouble.append(str(error)))
    page.on("console", lambda line: opened.trouble.append(line.text) if line.type == "error" else None)
    page.on("request", lambda asked: None if asked.url.startswith(url) else opened.trouble.append(asked.url))
    await page.goto(url)
    return opened


def microphone(folder: Path, *pieces: npt.NDArray[np.int16] | float) -> Path:
    """A recording, 16 kHz mono, of pieces of sound and seconds of silence."""
    silences = [np.zeros(round(one * 16000), np.int16) if isinstance(one, float) else one for one in pieces]
    soundfile.write(folder / "microphone.wav", np.concatenate(silences), 16000, subtype="PCM_16")
    return folder / "microphone.wav"
