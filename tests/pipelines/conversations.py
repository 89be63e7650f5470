"""Conversations made of single turns of the samples."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def write_conversation(folder: Path, *turns: tuple[str, str]) -> Path:
    """Write a fixture folder and return it.

    Args:
        folder: Folder to create; the conversation is named after it.
        turns: A sample and a text that its answer contains, such as ("commands/01", "it is").
    """
    folder.mkdir()
    entries = [_turn(clip, contains, folder) for clip, contains in turns]
    scenario = {"name": folder.name, "user": {"modality": "audio"}, "scenarios": [{"name": "call", "turns": entries}]}
    (folder / "scenario.yaml").write_text(yaml.safe_dump(scenario))
    return folder


def _turn(clip: str, contains: str, folder: Path) -> dict[str, Any]:
    """Copy a clip with its labels and find its text."""
    sample = SAMPLES / clip
    name = clip.replace("/", "-") + ".wav"
    shutil.copy(sample.with_suffix(".wav"), folder / name)
    shutil.copy(sample.with_suffix(".txt"), (folder / name).with_suffix(".txt"))
    of_sample: Sequence[Any] = yaml.safe_load((sample.parent / "scenario.yaml").read_text())["scenarios"][0]["turns"]
    text = next(turn["user"] for turn in of_sample if turn["audio"] == sample.with_suffix(".wav").name)
    return {"user": text, "audio": name, "expect": [{"event": "response", "text_contains": contains}]}
