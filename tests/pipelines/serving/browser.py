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
MANY = 64
"""Messages of which one comes without delay."""
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

# What the microphone gives and what goes to the loudspeaker, sample by sample, with the instant of each block.
RECORDER = """
const recorder = `registerProcessor("recorder", class extends AudioWorkletProcessor {
  process([input]) {
    const pcm = [...(input[0] ?? new Float32Array(128))].map((sample) => Math.round(sample * 32767));
    this.port.postMessage({ pcm, end: currentTime + pcm.length / sampleRate });
    return true;
  }
})`;
window.recorded = { microphone: [], loudspeaker: [] };
const plug = AudioNode.prototype.connect;
const record = async (node, side) => {
  await node.context.audioWorklet.addModule(URL.createObjectURL(new Blob([recorder], { type: "text/javascript" })));
  const tape = new AudioWorkletNode(node.context, "recorder", { numberOfOutputs: 0 });
  tape.port.onmessage = ({ data }) => {
    const delay = side === "loudspeaker" ? node.context.outputLatency || 0 : 0;
    window.recorded[side].push({ ...data, now: performance.now() / 1000, delay });
  };
  plug.call(node, tape);
};
AudioNode.prototype.connect = function (target, ...rest) {
  if (target instanceof AudioDestinationNode && this instanceof AudioWorkletNode) record(this, "loudspeaker");
  if (target instanceof AudioWorkletNode && this instanceof MediaStreamAudioSourceNode) record(this, "microphone");
  return plug.call(this, target, ...rest);
};
"""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One side of a call as the browser's recorder got it."""

    pcm: npt.NDArray[np.int16]
    """16-bit mono samples."""
    rate: int
    """Hertz."""
    blocks: list[dict[str, float]]
    """The end of each block on the audio's clock, when its message came, and the device's delay."""

    @property
    def slipped(self) -> float:
        """Seconds by which the audio's clock and the page's have moved apart: the machine was late with the audio."""
        apart = [block["now"] - block["end"] for block in self.blocks]
        # A message comes after its block, sometimes much after it: the quickest of many relates the clocks.
        quickest = [min(apart[first : first + MANY]) for first in range(0, len(apart) - MANY + 1, MANY)]
        return max(quickest) - min(quickest)

    def at(self, seconds: float) -> float:
        """When the sample at `seconds` of the recording was spoken or heard, seconds on the page's clock."""
        apart = min(block["now"] - block["end"] for block in self.blocks)
        last = self.blocks[-1]
        return last["end"] - (len(self.pcm) / self.rate - seconds) + apart + last["delay"]


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

    async def recorded(self, side: str, rate: int) -> Recorded:
        """What the "microphone" gave or the "loudspeaker" played at this rate, in a browser that records."""
        blocks = await self.page.evaluate("(side) => window.recorded[side]", side)
        pcm = np.concatenate([np.array(block["pcm"], np.int16) for block in blocks])
        return Recorded(pcm, rate, blocks)


@asynccontextmanager
async def browsing(
    url: str, microphone: Path | None, *, allowed: bool = True, width: int = 1280, records: bool = False
) -> AsyncIterator[Browser]:
    """Open a page.

    Args:
        url: its address.
        microphone: a 16-bit WAV that the microphone plays once when it is opened; None for a tone.
        allowed: whether the page may use the microphone.
        width: of its window, pixels.
        records: whether both sides are recorded; the page's policy, which allows no recorder, is off then.
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
            yield await _opened(browser, url, allowed=allowed, width=width, records=records)


@asynccontextmanager
async def _launched(playwright: Playwright, options: list[str], environment: dict[str, str]) -> AsyncIterator[Chromium]:
    browser = await playwright.chromium.launch(executable_path=CHROMIUM_PATH, args=options, env=dict(environment))
    try:
        yield browser
    finally:
        await browser.close()


async def _opened(browser: Chromium, url: str, *, allowed: bool, width: int, records: bool) -> Browser:
    context = await browser.new_context(viewport={"width": width, "height": 900}, bypass_csp=records)
    if allowed:
        await context.grant_permissions(["microphone"])
    await context.add_init_script(CAPTURE)
    if records:
        await context.add_init_script(RECORDER)
    page = await context.new_page()
    opened = Browser(page)
    page.on("pageerror", lambda error: opened.trouble.append(str(error)))
    page.on("console", lambda line: opened.trouble.append(line.text) if line.type == "error" else None)
    page.on("request", lambda asked: None if asked.url.startswith((url, "blob:")) else opened.trouble.append(asked.url))
    await page.goto(url)
    return opened


def microphone(folder: Path, *pieces: npt.NDArray[np.int16] | float) -> Path:
    """A recording, 16 kHz mono, of pieces of sound and seconds of silence."""
    silences = [np.zeros(round(one * 16000), np.int16) if isinstance(one, float) else one for one in pieces]
    soundfile.write(folder / "microphone.wav", np.concatenate(silences), 16000, subtype="PCM_16")
    return folder / "microphone.wav"
