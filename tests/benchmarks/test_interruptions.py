"""Which words over an answer stop it, faster than real time: requests and "stop" must, backchannels must not.

The voice detector, the recogniser and what decides are the product's (`tests.benchmarks.spoken_over`). Synthetic
callers say the phrases below; people say those of samples/people and of a folder with `interruptions` and
`backchannels`, whose files are named `SPEAKER.words.wav`; sounds without words are synthetic and in its `noises`.

python -m pytest tests/benchmarks/test_interruptions.py -m slow -s --said-over-answers FOLDER
"""

import functools
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr

from pipelines.engines.sphinx import _domain_sentences, _edition
from pipelines.samples import PEOPLE
from tests.benchmarks.spoken_over import SphinxHearing, SpokenOver, WhisperHearing, on_virtual_clock, run_virtually
from tests.make_samples import NOISES, synthesise
from tests.pulled import use_pulled
from voice.asr.sphinx.language_model import build_language_model
from voice.asr.sphinx.messages import Audio, FinishUtterance, StartUtterance
from voice.asr.sphinx.overlap import OverlapSearch
from voice.asr.sphinx.worker import Recognition, load_decoder
from voice.asr.whisper.model import SharedWhisper
from voice.client.fixtures.fixture import load_fixtures
from voice.client.sound.pcm import RATE, Pcm
from voice.models.store import find
from voice.responder.matching import is_whole_request
from voice.responder.sentences import edition, is_beginning
from voice.turns.turn_models import TurnModels

FLITE = ("rms", "slt", "kal16", "awb")
ESPEAK = ("en-us", "en-us+f3", "en-gb", "en-gb-scotland+m3")
FESTIVAL = ("kal_diphone", "cmu_us_slt_arctic_hts")
INTERRUPTIONS = (
    "stop", "wait", "no", "hold on", "hang on", "wait a moment", "no that is wrong", "never mind", "cancel", "enough",
    "that's enough", "hey", "excuse me", "sorry", "actually", "no no", "stop it", "stop counting please", "pause",
    "quiet", "be quiet", "next", "skip", "help", "listen", "no wait", "one moment", "okay stop", "yeah but wait",
    "what time is it", "tell me a joke", "what is seven times eight", "i have another question",
    "no i meant to thirty", "what day is it today", "how many seconds are in an hour", "cancel the timer",
    "set a timer for five minutes", "repeat", "again",
)  # fmt: skip
BACKCHANNELS = (
    "yeah", "right", "okay", "uh huh", "i see", "yes", "oh really", "sure", "got it", "great", "good", "nice", "cool",
    "wow", "oh", "ah", "really", "of course", "exactly", "thank you", "thanks", "yep", "all right", "interesting",
    "yeah yeah", "okay right", "oh okay", "yeah right", "i know", "makes sense", "fine", "perfect",
)  # fmt: skip
HUMS = ("pau m hh m pau", "pau m m m m pau", "pau hh m m pau", "pau hh ah hh ah hh ah pau", "pau ah ah pau")
"""flite's phones: "mm-hm", "mm", "hm", laughter, "uh"."""
SPELLED_HUMS = ("mm hmm", "mmm", "hmm", "ha ha ha", "uh")
"""The same for the others, which take no such phones."""


@dataclass(frozen=True, slots=True)
class Said:
    """A sound over an answer."""

    group: str
    speaker: str
    kind: str
    words: str
    sound: Pcm
    known: Pcm
    """Other words of the speaker, which the recogniser has heard before; empty where there are none."""


def audible(pcm: Pcm) -> Pcm:
    """The sound between its silences, at half of the full scale."""
    loud = np.flatnonzero(np.abs(pcm.astype(np.int32)) > np.abs(pcm.astype(np.int32)).max() / 32)
    cut = pcm[max(0, loud[0] - RATE // 100) : loud[-1] + RATE // 50].astype(np.float64)
    return (cut * 16000 / np.abs(cut).max()).astype(np.int16)


def read(path: Path) -> Pcm:
    """A recording at 16 kHz."""
    samples, rate = soundfile.read(path, dtype="int16")
    return samples if rate == RATE else soxr.resample(samples, rate, RATE)


def espeak(text: str, voice: str, folder: Path) -> Pcm:
    """What eSpeak NG says."""
    path = folder / "said.wav"
    subprocess.run(["espeak-ng", "-v", voice, "-w", str(path), text], check=True)
    return read(path)


def festival(text: str, voice: str, folder: Path) -> Pcm:
    """What Festival says."""
    path = folder / "said.wav"
    subprocess.run(["text2wave", "-eval", f"(voice_{voice})", "-o", str(path)], input=text.encode(), check=True)
    return read(path)


def synthetic(folder: Path) -> Iterator[Said]:
    """Of the synthesisers on this machine."""
    speaks: dict[str, tuple[tuple[str, ...], Callable[[str, str], Pcm]]] = {
        "flite": (FLITE, lambda text, voice: synthesise(text, voice=voice, is_phones=text in HUMS))
    }
    if shutil.which("espeak-ng"):
        speaks["eSpeak"] = (ESPEAK, lambda text, voice: espeak(text, voice, folder))
    if shutil.which("text2wave"):
        speaks["Festival"] = (FESTIVAL, lambda text, voice: festival(text, voice, folder))
    for group, (voices, speak) in speaks.items():
        for voice in voices:
            known = audible(speak("count to twenty", voice))
            for text in INTERRUPTIONS:
                yield Said(group, voice, "interruptions", text, audible(speak(text, voice)), known)
            for text in (*BACKCHANNELS, *(HUMS if group == "flite" else SPELLED_HUMS)):
                yield Said(group, voice, "backchannels", text, audible(speak(text, voice)), known)


def people(folder: Path | None) -> Iterator[Said]:
    """The first request of each speaker of samples/people, and the recordings of a folder."""
    nothing = np.zeros(0, np.int16)
    asked = set()
    for fixture in load_fixtures([PEOPLE / name for name in ("coffee", "orders", "requests")]):
        for turn in fixture.turns:
            if turn.speaker not in asked:
                asked.add(turn.speaker)
                sound = audible(turn.samples[round(turn.onset * RATE) :])
                yield Said("people, requests", turn.speaker, "interruptions", turn.text, sound, nothing)
    for kind in ("interruptions", "backchannels"):
        for path in sorted(folder.glob(f"{kind}/*.wav")) if folder else ():
            speaker, words = path.stem.split(".")
            yield Said(f"people, {speaker.split('-')[0]}", speaker, kind, words, audible(read(path)), nothing)


def noises(folder: Path | None) -> Iterator[Said]:
    """Coughs, knocks and recorded sounds without words."""
    nothing = np.zeros(0, np.int16)
    for name, sound in NOISES.items():
        yield Said("noises", name, "noises", name, sound().astype(np.int16), nothing)
    for path in sorted(folder.glob("noises/*.wav")) if folder else ():
        yield Said("noises", path.stem, "noises", path.stem, audible(read(path)), nothing)


def report(answers: list[tuple[Said, SpokenOver]]) -> dict[tuple[str, str], float]:
    """Print the share of answers that were stopped, by kind and group; returns it."""
    found: dict[tuple[str, str], list[tuple[Said, SpokenOver]]] = defaultdict(list)
    for said, answer in answers:
        for group in (said.group, "all"):
            found[said.kind, group].append((said, answer))
    shares = {}
    for (kind, group), several in sorted(found.items()):
        stopped = [answer.stopped for _, answer in several if answer.stopped is not None]
        silent = [answer.silenced for _, answer in several if answer.silenced is not None]
        speakers = len({said.speaker for said, _ in several})
        p50, p95 = np.percentile(stopped or [np.nan], [50, 95]) * 1000
        quiet = np.percentile(silent or [np.nan], 95) * 1000
        share = len(stopped) / len(several)
        shares[kind, group] = share
        print(
            f"{kind:14} {group:18} {speakers:3} speakers, stopped {len(stopped):3} of {len(several):3} "
            f"({share * 100:5.1f} %) after p50 {p50:4.0f}, p95 {p95:4.0f} ms; silent {len(silent):3}, "
            f"p95 {quiet:4.0f} ms"
        )
    return shares


def heard(said: Said, answer: SpokenOver, seed: int) -> SpokenOver:
    """Play a sound over an answer; what goes wrong is printed."""

    async def hear() -> None:
        await answer.hear(said.sound, seed)

    run_virtually(hear)
    if (answer.stopped is None) is (said.kind == "interruptions"):
        print(f"  {said.kind}, {said.group} {said.speaker}: {said.words}: {answer.voice.done} {answer.texts}")
    return answer


def everything(config: pytest.Config, folder: Path) -> list[Said]:
    """All sounds."""
    extra = config.getoption("said_over_answers")
    extra = Path(extra) if extra else None
    return [*synthetic(folder), *people(extra), *noises(extra)]


@pytest.mark.slow
@pytest.mark.parametrize("grammars", [True, False])
def test_with_pocketsphinx(pytestconfig: pytest.Config, tmp_path: Path, grammars: bool) -> None:
    model = build_language_model(lambda: _domain_sentences(()), edition=_edition(edition(), ()), cache=tmp_path)
    decoder = load_decoder(model.path)
    overlap = OverlapSearch(decoder) if grammars else None
    models = TurnModels(smart_turn=False)
    answers = []
    for number, said in enumerate(everything(pytestconfig, tmp_path)):
        # The recogniser has heard the caller before.
        decoder.reinit_feat()
        recognition = Recognition(decoder, overlap)
        if len(said.known):
            for command in (StartUtterance(1), Audio(said.known.tobytes()), FinishUtterance(1)):
                recognition.carry_out(command)
        answer = SpokenOver(
            models,
            functools.partial(SphinxHearing, recognition),
            whole_request=lambda text: True if is_whole_request(text) else False if is_beginning(text) else None,
        )
        answers.append((said, heard(said, answer, number)))
        recognition.carry_out(FinishUtterance(2))
    shares = report(answers)
    if grammars:
        assert shares["interruptions", "flite"] >= 0.94
        assert shares["backchannels", "flite"] <= 0.08


@pytest.mark.slow
def test_with_whisper(monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config, tmp_path: Path) -> None:
    use_pulled(monkeypatch, "tiny.en")
    folder = find("tiny.en")
    assert folder is not None
    model, models = SharedWhisper.load(folder), TurnModels(smart_turn=False)
    answers = []
    for number, said in enumerate(everything(pytestconfig, tmp_path)):
        with on_virtual_clock(model):
            answer = SpokenOver(models, functools.partial(WhisperHearing, model))
            answers.append((said, heard(said, answer, number)))
    model.close()
    shares = report(answers)
    assert shares["interruptions", "all"] >= 0.9
    assert shares["backchannels", "all"] <= 0.08
    assert shares["noises", "all"] == 0
