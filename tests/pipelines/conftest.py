"""Servers and recordings that the tests of pipelines share."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipelines.lab.scripted.model_folder import build
from tests.pipelines.conversations import write_conversation
from tests.pipelines.openai_server import OpenAIServer, serving
from tests.pipelines.server_process import ServerProcess, running_server


@pytest.fixture(scope="session")
def server() -> Iterator[ServerProcess]:
    """A server of the embedded pipeline."""
    with running_server("--pipeline", "embedded") as running:
        yield running


@pytest.fixture(scope="module")
def openai_server() -> Iterator[OpenAIServer]:
    """An OpenAI-compatible server on loopback whose model is `sim:echo`."""
    with serving() as running:
        yield running


@pytest.fixture(scope="session")
def scripted_whisper(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Makes the folder of a Whisper model that hears a given text."""
    return lambda text: build(tmp_path_factory.mktemp("whisper") / "model", text=text)


@pytest.fixture
def conversation(tmp_path: Path) -> Callable[..., Path]:
    """Makes a fixture folder of this name from turns of the samples; see `write_conversation`."""
    return lambda name, *turns: write_conversation(tmp_path / name, *turns)
