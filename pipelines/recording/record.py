"""The dialogue of `voice record`, and the fixture it writes: a scenario with one labelled recording for each prompt.

Everything that was kept is on disk at once, so that ending the command loses nothing; the same command goes on with the
prompts that are left.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Protocol

import numpy as np

from latency.audio.onset import estimated_speech
from latency.audio.recording import write_mono
from latency.command_line import FINE, NO_DATA
from voice.client.fixtures.fixture import SCENARIO, parse_labels
from voice.client.fixtures.scenario import read_scenarios
from voice.client.sound.pcm import RATE, Pcm
from voice.errors import ConfigurationError, FixtureError
from voice.text_file import read_text

KEY_CLICK = 0.15
"""Seconds cut from both ends of a recording: the sound of the key."""
MARGIN = 0.5
"""Seconds kept before and after the speech."""
CLIPPED, SOFT = -0.1, -40.0
"""Peaks in dBFS beyond which a recording is too loud or too soft."""
_MADE_BY = "# Made by `voice record`, which adds to it when it is called again.\n"
_UNCHECKED = """\
# Turns with "labels: measured" are unchecked: the edges of speech were measured by its energy, and reports call them
# estimated. Check the .txt beside the recording (Audacity shows both), then delete that line.
"""

Stretch = tuple[float, float]


class SoundCard(Protocol):
    """Records and plays, as `voice.client.sound.recorder.Recorder` does."""

    dropouts: int

    def start(self) -> None:
        """Begin a recording."""

    def stop(self) -> Pcm:
        """End the recording; returns it."""

    def play(self, samples: Pcm) -> None:
        """Play a recording to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """A recording of one prompt: int16 at `RATE`, and where its speech is, in seconds."""

    samples: Pcm
    speech: tuple[Stretch, ...]
    is_checked: bool = False
    """Whether a person has checked the labels."""

    @property
    def seconds(self) -> float:
        """Its length."""
        return len(self.samples) / RATE

    @property
    def peak_db(self) -> float:
        """The loudest sample, dBFS."""
        return float(20 * np.log10(max(np.abs(self.samples.astype(np.float64)).max(), 1.0) / 32768))

    def __str__(self) -> str:
        speech = ", ".join(f"{start:.2f} to {end:.2f} s" for start, end in self.speech)
        return f"{self.seconds:.1f} s, speech {speech}, peak {self.peak_db:.0f} dB"


def take_of(samples: Pcm) -> Take:
    """The recording without the sounds of the keys and without long silences, with its speech measured.

    Raises:
        FixtureError: nobody speaks in it, or it is clipped.
    """
    click = round(KEY_CLICK * RATE)
    inner = samples[click:-click] if len(samples) > 2 * click else samples[:0]
    found = estimated_speech(inner, RATE) if len(inner) else []
    if not found:
        raise FixtureError("No speech was heard; speak closer to the microphone, or choose another one with --input.")
    first = max(0, round((found[0].start - MARGIN) * RATE))
    last = round((found[-1].end + MARGIN) * RATE)
    speech = tuple((span.start - first / RATE, span.end - first / RATE) for span in found)
    take = Take(samples=inner[first:last], speech=speech)
    if take.peak_db > CLIPPED:
        raise FixtureError("The recording is clipped; lower the microphone's level, or speak from further away.")
    return take


class RecordedFixture:
    """The folder that the recordings go to; what is in it is never replaced.

    Args:
        folder: new or empty, or made by an earlier `voice record`, whose scenario it continues.
        speaker: who speaks; None for a person with the folder's name.

    Raises:
        FixtureError: the folder holds something else, or cannot be read or written.
    """

    def __init__(self, folder: Path, speaker: str | None) -> None:
        self.folder, self._speaker = folder, speaker or folder.resolve().name
        self._scenario = folder / SCENARIO
        self.recorded: list[str] = []
        """The prompts with a recording."""
        try:
            if self._scenario.is_file() and read_text(self._scenario).startswith(_MADE_BY):
                self.recorded = [turn.text for turn in read_scenarios(self._scenario)[1][-1].turns]
            elif folder.exists() and (not folder.is_dir() or not all(map(_is_ours, folder.iterdir()))):
                raise FixtureError(f"{folder} exists and was not made by voice record; name another folder.")
            # An unusable folder is found before anybody has spoken.
            folder.mkdir(parents=True, exist_ok=True)
            self._part.touch()
            self._part.unlink()
        except UnicodeError as error:
            raise FixtureError(f"{self._scenario}: {error}.") from error
        except OSError as error:
            raise FixtureError(f"{folder} cannot be used: {error.strerror}; name another folder.") from error

    def left(self, prompts: Sequence[str]) -> list[str]:
        """The prompts that are not recorded yet."""
        return [prompt for prompt in prompts if prompt not in self.recorded]

    def keep(self, prompt: str, take: Take) -> None:
        """Write a recording, its labels and, at the end of the scenario, its turn.

        Raises:
            FixtureError: the user has edited the scenario so that nothing can be added; the recording is kept.
            OSError: the disk is full, or the folder cannot be written.
        """
        wav = next(path for n in count(1) if not (path := self.folder / f"{n:02}.wav").exists())
        write_mono(wav, take.samples)
        labels = "".join(f"{start:.6f}\t{end:.6f}\tspeech\n" for start, end in take.speech)
        wav.with_suffix(".txt").write_text(labels, encoding="utf-8")
        lines = [f"      - user: {_quoted(prompt)}", f"        audio: {_quoted(wav.name)}"]
        if not take.is_checked:
            lines.append("        labels: measured")
        lines += [f"        speaker: {_quoted(self._speaker)}", "        expect:", "          - event: response"]
        # Added at the end, because the user may have edited the turns before.
        before = read_text(self._scenario).rstrip() if self._scenario.exists() else self._head()
        self._part.write_text("\n".join([before, *lines, ""]), encoding="utf-8")
        try:
            read_scenarios(self._part)
        except FixtureError as error:
            raise FixtureError(f"No turn can be added to {self._scenario} ({wav.name} is kept): {error}") from error
        os.replace(self._part, self._scenario)
        self.recorded.append(prompt)

    def discard_if_empty(self) -> None:
        """Remove the folder if nothing is in it."""
        with suppress(OSError):
            self.folder.rmdir()

    @property
    def _part(self) -> Path:
        return self.folder / f"{SCENARIO}.part"

    def _head(self) -> str:
        name = _quoted(self.folder.resolve().name)
        lines = (f"name: {name}", "user:", "  modality: audio", "scenarios:", "  - name: prompts", "    turns:")
        return _MADE_BY + _UNCHECKED + "\n".join(lines)


def _is_ours(path: Path) -> bool:
    """Whether a file may be left of an interrupted command."""
    return path.stem.isdecimal() and path.suffix in (".wav", ".txt") or path.suffix == ".part"


class Dialogue:
    """Reads prompts to the user and records them.

    Args:
        card: records and plays.
        fixture: takes what is kept.
        ask: shows a text and returns the line that the user types.
        show: shows a line.
    """

    def __init__(
        self, card: SoundCard, fixture: RecordedFixture, *, ask: Callable[[str], str], show: Callable[[str], None]
    ) -> None:
        self._card, self._fixture, self._ask, self._show = card, fixture, ask, show

    def run(self, prompts: Sequence[str]) -> None:
        """Record the prompts that are left, until the user ends it or the input ends."""
        left = self._fixture.left(prompts)
        for number, prompt in enumerate(left, 1):
            self._show(f"\n{number} of {len(left)}  {prompt}")
            try:
                if not self._record(prompt):
                    return
            except EOFError:
                return

    def _record(self, prompt: str) -> bool:
        """Record one prompt until a take is kept; returns whether to go on."""
        while True:
            command = self._ask("  Enter to start, s to skip, q to quit: ").strip().lower()
            if command in ("s", "q"):
                return command == "s"
            self._card.start()
            try:
                self._ask("  Recording. Enter to stop: ")
            finally:
                samples = self._card.stop()
            try:
                take = take_of(samples)
            except FixtureError as error:
                self._show(f"  {error}")
                continue
            if self._card.dropouts:
                self._show(f"  The sound has {self._card.dropouts} gaps: the machine was busy. Better record it again.")
            if kept := self._checked(take):
                self._fixture.keep(prompt, kept)
                return True

    def _checked(self, take: Take) -> Take | None:
        """Let the user hear the take and correct its labels; None to record again."""
        while True:
            self._show(f"  {take}{', which is soft' if take.peak_db < SOFT else ''}")
            command = self._ask(
                "  Enter to keep, p to play, r to record again, or the checked START END of each stretch of speech: "
            ).strip()
            match command.lower():
                case "":
                    return take
                case "p":
                    self._card.play(take.samples)
                case "r":
                    return None
                case _:
                    try:
                        take = Take(samples=take.samples, speech=_stretches(command, take.seconds), is_checked=True)
                    except FixtureError as error:
                        self._show(f"  {error}")


def _stretches(text: str, seconds: float) -> tuple[Stretch, ...]:
    """The stretches of speech that a line names in seconds: "0.4 1.2 1.6 2.5".

    Raises:
        FixtureError: the line does not name any.
    """
    words = text.replace(",", " ").split()
    if len(words) % 2:
        raise FixtureError("Give a start and an end in seconds for each stretch, such as 0.42 1.80.")
    lines = "\n".join(f"{start}\t{end}\tspeech" for start, end in zip(words[::2], words[1::2], strict=True))
    return tuple((start, end) for start, end, _ in parse_labels(lines, source="The labels", duration=seconds))


def read_prompts(path: Path) -> list[str]:
    """The prompts of a text file, one a line.

    Raises:
        ConfigurationError: the file cannot be read, holds no prompt, one twice, or one with control characters.
    """
    try:
        prompts = [line.strip() for line in read_text(path).splitlines() if line.strip()]
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ConfigurationError(f"{path} cannot be read ({why}); name a text file, a prompt on each line.") from error
    if not prompts:
        raise ConfigurationError(f"{path} holds no prompts; write one on each line.")
    if twice := sorted({prompt for prompt in prompts if prompts.count(prompt) > 1}):
        raise ConfigurationError(f'{path} holds the prompt "{twice[0]}" twice; remove one of them.')
    if odd := next((prompt for prompt in prompts if not prompt.isprintable()), None):
        raise ConfigurationError(f"{path} holds a prompt with control characters, {odd!r}; remove them.")
    return prompts


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def run_record(args: argparse.Namespace) -> int:
    """`voice record`; returns its exit status: 0 fine, 3 nothing was recorded.

    Raises:
        ConfigurationError: the prompts cannot be read, or no device has a name.
        FixtureError: the folder holds something else.
        ComponentError: there is no microphone or loudspeaker.
    """
    from pipelines.talking.talk import require_sound
    from voice.client.sound.recorder import Recorder

    prompts = read_prompts(args.prompts)
    fixture = RecordedFixture(args.folder, args.speaker)
    if not fixture.left(prompts):
        print(f"All prompts are recorded in {args.folder}; name other ones with --prompts.")
        return FINE
    try:
        require_sound(args.input, args.output)
        recorder = Recorder(input=args.input, output=args.output)
    except BaseException:
        fixture.discard_if_empty()
        raise
    try:
        print("Read each prompt aloud. What you keep is written at once; Ctrl-C ends.")
        Dialogue(recorder, fixture, ask=input, show=print).run(prompts)
    finally:
        recorder.close()
        fixture.discard_if_empty()
        if fixture.recorded:
            print(f"\n{args.folder}: {len(fixture.recorded)} recordings\nReplay:  voice replay {args.folder}")
        else:
            print("Nothing was recorded.", file=sys.stderr)
    return FINE if fixture.recorded else NO_DATA
