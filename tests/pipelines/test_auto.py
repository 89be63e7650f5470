"""`auto` takes what is here and answers, and nothing else."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pipelines import auto
from pipelines.settings import OpenAITier, ResponderTier, Sphinx, Whisper
from voice.errors import ConfigurationError


class LocalServer(BaseHTTPRequestHandler):
    """An OpenAI-compatible server: lists one model, and completes unless `completes` is False."""

    completes = True

    def do_GET(self) -> None:
        self._answer({"data": [{"id": "sim:model"}]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.completes:
            self._answer({"choices": [{"message": {"content": "Hi"}}]})
        else:
            self.send_error(500)

    def _answer(self, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[LocalServer]]:
    class Handler(LocalServer):
        pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        monkeypatch.setattr(auto, "LOCAL_SERVERS", {"Test": http.server_address[1]})
        yield Handler
        http.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("VOICE_WHISPER_DIR", raising=False)
    monkeypatch.setattr(auto, "LOCAL_SERVERS", {})
    monkeypatch.setattr("voice.asr.weights.cached", lambda name: None)


def test_a_bare_machine_gets_the_embedded_engines_and_is_told_what_would_be_better() -> None:
    choice = auto.resolve("auto", [])
    assert isinstance(choice.settings.asr, Sphinx)
    assert isinstance(choice.settings.llm, ResponderTier)
    assert any("voice serve --pipeline local" in reason for reason in choice.reasons)


def test_a_local_server_that_completes_is_taken(server: type[LocalServer]) -> None:
    llm = auto.resolve("auto", []).settings.llm
    assert isinstance(llm, OpenAITier)
    assert llm.model == "sim:model"


def test_a_server_that_lists_a_model_but_does_not_complete_is_not_taken(server: type[LocalServer]) -> None:
    server.completes = False
    assert isinstance(auto.resolve("auto", []).settings.llm, ResponderTier)


def test_a_folder_of_weights_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VOICE_WHISPER_DIR", str(tmp_path))
    asr = auto.resolve("auto", []).settings.asr
    assert isinstance(asr, Whisper)
    assert asr.model == str(tmp_path)


def test_single_settings_apply_to_auto_as_well() -> None:
    assert auto.resolve("auto", ["turns.fallback_ms=500"]).settings.turns.fallback_ms == 500
    with pytest.raises(ConfigurationError, match="auto: turns.nothing is not a setting"):
        auto.resolve("auto", ["turns.nothing=1"])


def test_a_named_pipeline_is_taken_as_it_is() -> None:
    assert auto.resolve("embedded", []).reasons == ()
