"""What the conversation keeps of interrupted answers, against what the recording of the call holds of them.

Callers interrupt "1, 2, … 20" after a random time. The words that were heard are recognised in what the client played,
by a grammar that knows only how the numbers follow each other; a word that was cut off may be recognised or not.

python -m pytest tests/benchmarks/test_heard_words.py -m slow -s
"""

import asyncio
import json
import random
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile
from pocketsphinx import Decoder

from tests.pipelines.server_process import running_server

ROOT = Path(__file__).resolve().parents[2]
CALLERS, EACH = 4, 50
WORDS = [
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
]
TURN = """      - user: "{text}"
        audio: {name}.wav
        speaker: "sim:flite rms"
{after}        expect:
          - event: response
            text_contains: "{answer}"
"""
AFTER = "        send_after: {{event: bot_started_speaking, delay_ms: {ms}}}\n"


def conversation(folder: Path, seed: int) -> None:
    """A fixture: a request, and an interruption of its answer after 0.3 to 8 s, over and over."""
    rng, turns = random.Random(seed), []
    folder.mkdir()
    for number in range(EACH):
        for sample, text, answer in (("01", "count to twenty", "1"), ("02", "never mind", "Okay")):
            name = f"{number:02}-{sample}"
            for kind in ("wav", "txt"):
                shutil.copy(ROOT / "samples" / "barge_in" / f"{sample}.{kind}", folder / f"{name}.{kind}")
            after = "" if sample == "01" else AFTER.format(ms=rng.randrange(300, 8000))
            turns.append(TURN.format(text=text, name=name, after=after, answer=answer))
    head = f"name: {folder.name}\nuser:\n  modality: audio\nscenarios:\n  - name: call\n    turns:\n"
    (folder / "scenario.yaml").write_text(head + "".join(turns))


def counted(decoder: Decoder, played: npt.NDArray[np.int16]) -> int:
    """How many numbers are heard in it, 16 kHz mono."""
    quiet = np.zeros(3200, np.int16)
    decoder.start_utt()
    decoder.process_raw(np.concatenate([quiet, played, quiet]).tobytes(), full_utt=True)
    decoder.end_utt()
    found = decoder.hyp()
    return len(found.hypstr.split()) if found else 0


def differences(run: Path, decoder: Decoder) -> list[int]:
    """Numbers that the conversation keeps of each interrupted answer, less those that were heard."""
    (recording,) = run.glob("*.wav")
    audio, rate = soundfile.read(recording, dtype="int16")
    turns = [json.loads(line) for line in (run / "turns.jsonl").read_text().splitlines()]
    found = []
    for asked, interrupting in zip(turns, turns[1:], strict=False):
        begin, end = asked["marks"].get("first_audible"), interrupting["marks"].get("bot_silent")
        # What was misheard is answered with other words.
        counts = asked["said"].startswith("1, 2")
        if asked["text"] == "count to twenty" and counts and asked["interrupted"] and begin and end:
            heard = counted(decoder, audio[round((begin - 0.15) * rate) : round((end + 0.05) * rate), 1])
            kept = asked["server_turns"][-1]["played"] or ""
            found.append(len(re.findall(r"\d+", kept)) - heard)
    return found


@pytest.mark.slow
async def test_the_conversation_keeps_what_was_heard_of_interrupted_answers(tmp_path: Path) -> None:
    grammar = tmp_path / "numbers.gram"
    rule = ""
    for word in reversed(WORDS):
        rule = f"{word} [ {rule} ]" if rule else word
    grammar.write_text(f"#JSGF V1.0;\ngrammar numbers;\npublic <numbers> = {rule};\n")
    with running_server("--pipeline", "embedded") as server:
        calls = []
        for caller in range(CALLERS):
            conversation(tmp_path / f"caller{caller}", seed=caller)
            command = ("-m", "pipelines.cli", "replay", str(tmp_path / f"caller{caller}"), "--url", server.url)
            calls.append(
                await asyncio.create_subprocess_exec(
                    sys.executable, *command, "--out", str(tmp_path / f"run{caller}"), stdout=-3, stderr=-3
                )
            )
        async with asyncio.timeout(1200):
            await asyncio.gather(*(call.wait() for call in calls))
    decoder = Decoder(jsgf=str(grammar), loglevel="FATAL")
    found = [one for caller in range(CALLERS) for one in differences(tmp_path / f"run{caller}", decoder)]
    print(
        f"\n{len(found)} interrupted answers; numbers kept less numbers heard: {dict(sorted(Counter(found).items()))}"
    )
    assert len(found) > 0.8 * CALLERS * EACH
    # No more than the word that was cut off, except where the machine was too busy to play in time.
    assert sum(abs(one) <= 1 for one in found) >= 0.98 * len(found)
