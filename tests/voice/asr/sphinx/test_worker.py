import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pocketsphinx
import psutil
import pytest

from voice.asr.sphinx.messages import (
    AbandonUtterance,
    Audio,
    Command,
    Failed,
    Final,
    FinishUtterance,
    Partial,
    Peeked,
    PeekUtterance,
    Ready,
    Reply,
    StartUtterance,
    encode,
    read_reply,
)
from voice.asr.sphinx.overlap import UNKNOWN, OverlapSearch
from voice.asr.sphinx.worker import Recognition, load_decoder

ROOT = Path(__file__).parents[4]
Speak = Callable[[str], bytes]


@pytest.fixture(scope="module")
def decoder() -> pocketsphinx.Decoder:
    return load_decoder()


@pytest.fixture(scope="module")
def overlap(decoder: pocketsphinx.Decoder) -> OverlapSearch:
    return OverlapSearch(decoder)


@pytest.fixture
def recognition(decoder: pocketsphinx.Decoder, overlap: OverlapSearch) -> Iterator[Recognition]:
    recognition = Recognition(decoder, overlap)
    yield recognition
    for number in range(10):
        recognition.carry_out(AbandonUtterance(number))
    decoder.reinit_feat()


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "voice.asr.sphinx.worker", "test"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as process:
        yield process
        process.kill()


def chunks(pcm: bytes) -> list[Audio]:
    return [Audio(pcm[at : at + 640]) for at in range(0, len(pcm), 640)]


def utterance(number: int, pcm: bytes) -> list[Command]:
    return [StartUtterance(number), *chunks(pcm), FinishUtterance(number)]


def replies(recognition: Recognition, commands: list[Command]) -> list[Reply]:
    return [reply for command in commands if (reply := recognition.carry_out(command)) is not None]


def test_a_command_is_recognised_and_partial_texts_come_first(recognition: Recognition, speak: Speak) -> None:
    *partials, final = replies(recognition, utterance(4, speak("what time is it")))
    assert isinstance(final, Final)
    assert final.utterance == 4
    assert "time" in final.text.split()
    assert 0 < final.finish_seconds < final.decode_seconds
    assert len(partials) >= 2
    assert all(isinstance(partial, Partial) and partial.utterance == 4 for partial in partials)


def test_a_partial_text_is_sent_only_when_it_changes(recognition: Recognition, speak: Speak) -> None:
    pcm = speak("what time is it")
    texts = [r.text for r in replies(recognition, utterance(1, pcm)) if isinstance(r, Partial)]
    assert all(first != second for first, second in zip(texts, texts[1:], strict=False))
    assert len(texts) <= len(pcm) / 2 / 16000 / 0.1


def test_a_peek_returns_the_words_so_far_and_changes_nothing(recognition: Recognition, speak: Speak) -> None:
    start, *audio, finish = utterance(3, speak("what time is it"))
    silent = replies(recognition, [start, *audio, finish])[-1]
    asked = replies(recognition, [start, PeekUtterance(3), *audio, PeekUtterance(3), PeekUtterance(2), finish])
    first, last = (reply for reply in asked if isinstance(reply, Peeked))
    assert first == Peeked(3, "")
    assert "time" in last.text.split()
    assert isinstance(silent, Final)
    assert isinstance(asked[-1], Final)
    assert asked[-1].text == silent.text


def test_replies_tell_what_a_sound_over_an_answer_is_like(recognition: Recognition, speak: Speak) -> None:
    start, *audio, finish = utterance(3, speak("stop"))
    over_answer = replies(recognition, [StartUtterance(3, over_answer=True), *audio, PeekUtterance(3), finish])
    *partials, peeked, final = over_answer
    assert isinstance(peeked, Peeked)
    assert isinstance(final, Final)
    assert peeked.evidence is not None
    assert final.evidence is not None
    assert min(peeked.evidence, final.evidence) >= UNKNOWN
    assert any(isinstance(one, Partial) and one.evidence is not None for one in partials)
    others = replies(recognition, [start, *audio, PeekUtterance(3), finish])
    assert [one.evidence for one in others if isinstance(one, Partial | Peeked | Final)] == [None] * len(others)


@pytest.mark.parametrize("pcm", [b"", bytes(32000)], ids=["nothing", "silence"])
def test_audio_without_speech_has_an_empty_text(recognition: Recognition, pcm: bytes) -> None:
    assert [r.text for r in replies(recognition, utterance(1, pcm))] == [""]


def test_an_abandoned_utterance_is_not_answered(recognition: Recognition, speak: Speak) -> None:
    pcm = speak("what time is it")
    given = replies(recognition, [StartUtterance(1), *chunks(pcm), AbandonUtterance(1), FinishUtterance(1)])
    assert not [reply for reply in given if isinstance(reply, Final)]
    (final,) = (r for r in replies(recognition, utterance(2, pcm)) if isinstance(r, Final))
    assert final.utterance == 2


def test_audio_outside_an_utterance_is_ignored(recognition: Recognition) -> None:
    assert replies(recognition, [Audio(bytes(640)), FinishUtterance(3), AbandonUtterance(3)]) == []


def read(worker: subprocess.Popen[bytes], count: int) -> list[Reply]:
    return [read_reply(worker.stdout.readline()) for _ in range(count)]


def test_the_process_is_light_and_ends_with_its_input(worker: subprocess.Popen[bytes]) -> None:
    (ready,) = read(worker, 1)
    assert isinstance(ready, Ready)
    assert ready.models.startswith("pocketsphinx ")
    assert ready.models.endswith(" test")
    process = psutil.Process(worker.pid)
    assert process.memory_info().rss < 150e6
    assert process.num_threads() == 1
    assert not [module for module in process.memory_maps() if "numpy" in module.path]
    worker.stdin.close()
    assert worker.wait(10) == 0


def test_audio_already_abandoned_is_not_decoded(worker: subprocess.Popen[bytes], speak: Speak) -> None:
    read(worker, 1)
    half_an_hour = [StartUtterance(1), *[Audio(bytes(640))] * 90, AbandonUtterance(1)]
    batch = b"".join(encode(command) for command in [*half_an_hour, *utterance(2, b"")])
    worker.stdin.write(batch)
    worker.stdin.flush()
    (reply,) = read(worker, 1)
    assert isinstance(reply, Final)
    assert reply.utterance == 2


def test_bytes_that_are_no_command_end_the_process_with_a_reason(worker: subprocess.Popen[bytes]) -> None:
    read(worker, 1)
    worker.stdin.write(b"GET / HTTP/1.1\r\n\r\n")
    worker.stdin.flush()
    (reply,) = read(worker, 1)
    assert isinstance(reply, Failed)
    assert "DecodeError" in reply.reason
    assert worker.wait(10) == 1


def test_a_missing_model_is_reported_on_the_pipe(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "voice.asr.sphinx.worker", "test", str(tmp_path / "none")]
    done = subprocess.run(command, input=b"", stdout=subprocess.PIPE, cwd=ROOT, check=False)
    reply = read_reply(done.stdout)
    assert isinstance(reply, Failed)
    assert done.returncode == 1
