"""`voice check` says of each part of a pipeline whether it works here; servers are real ones on loopback."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from pipelines.cli import main
from pipelines.lab.simulator.app import Endpoint, serving
from pipelines.lab.simulator.simulator import Simulator
from pipelines.providers import server_check
from pipelines.providers.openai import OpenAITier
from tests.pipelines.providers.model_servers import (
    COMPLETION,
    Handler,
    free_port,
    http,
    listening,
    lists,
    models,
    says,
    says_nothing,
)


@pytest.fixture
async def simulator() -> AsyncIterator[Endpoint]:
    async with serving(Simulator(preset="optimistic", seed=1)) as endpoint:
        yield endpoint


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    """A pipeline of one's own: its language model is for each test to add."""
    path = tmp_path / "mine.toml"
    path.write_text(
        '[asr]\nengine = "sphinx"\n[llm]\npolicy = "single"\n[llm.large]\nprovider = "openai"\nmodel = "m"\n'
    )
    return path


def check(pipeline: object, *settings: str, ask: bool = False) -> int:
    """The exit status of `voice check`."""
    options = [part for setting in settings for part in ("--set", setting)]
    return main(["check", str(pipeline), *options, *(["--ask"] if ask else [])])


def url(port: int) -> str:
    return f"llm.large.base_url=http://127.0.0.1:{port}/v1"


def parts(out: str) -> dict[str, str]:
    """What was said of each part; folded lines are joined."""
    found: dict[str, str] = {}
    for line in out.splitlines():
        state, part = line[:7].strip(), line[8:18].strip()
        if state:
            found[part] = state
        last = list(found)[-1]
        found[last] = f"{found[last]} {line[19:].strip()}"
    return found


@pytest.mark.parametrize("name", ["embedded", "sim-fallback"])
def test_a_pipeline_that_needs_nothing_is_fine(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(name) == 0
    found = parts(capsys.readouterr().out)
    assert found["asr"] == "ok sphinx"
    assert found["tts"] == "ok piper, voice embedded"
    assert all(text.startswith("ok ") for text in found.values())


@pytest.mark.parametrize(
    ("service", "state"),
    [
        ("collections.OrderedDict", "FAILED service: collections.OrderedDict is not a component of pipecat: its class"),
        ("os.path.join", "ok pipecat:join, a function; its result is checked when the server starts"),
        ("pipecat.processors.filters.identity_filter.IdentityFilter", "ok pipecat:IdentityFilter"),
    ],
)
def test_a_service_from_outside_must_be_a_component(
    service: str, state: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check("embedded", f"asr={{engine='pipecat', service='{service}'}}") == (4 if "FAILED" in state else 0)
    assert parts(capsys.readouterr().out)["asr"].startswith(state)


@pytest.mark.parametrize("wire", ["chat", "responses"])
async def test_a_free_server_is_asked_for_one_token_over_its_wire(
    simulator: Endpoint, pipeline: Path, wire: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = (f"llm.large.base_url={simulator.base_url}", "llm.large.model=sim:steady", f"llm.large.wire={wire}")
    assert await asyncio.to_thread(check, pipeline, *settings) == 0
    large = parts(capsys.readouterr().out)["llm.large"]
    assert large.startswith(f"ok sim:steady: {simulator.base_url} completed a token in ")


@pytest.mark.parametrize("wire", ["chat", "responses"])
async def test_a_model_that_the_server_does_not_have_is_named_with_one_that_it_has(
    simulator: Endpoint, pipeline: Path, wire: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = (f"llm.large.base_url={simulator.base_url}", "llm.large.model=sim:stedy", f"llm.large.wire={wire}")
    assert await asyncio.to_thread(check, pipeline, *settings) == 4
    large = parts(capsys.readouterr().out)["llm.large"]
    assert large.startswith(f"FAILED sim:stedy: {simulator.base_url} did not complete a token (")
    assert large.endswith('it lists no model sim:stedy; did you mean "sim:steady"?')


async def test_a_key_that_the_server_refuses_is_named_by_its_variable(
    simulator: Endpoint, pipeline: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_KEY", "wrong")
    refusing = f"llm.large.base_url=http://127.0.0.1:{simulator.port}/with/fault=401/v1"
    assert await asyncio.to_thread(check, pipeline, refusing, "llm.large.api_key_env=MY_KEY") == 4
    large = parts(capsys.readouterr().out)["llm.large"]
    assert "refuses the key in MY_KEY (HTTP 401" in large
    assert "wrong" not in large


async def test_a_server_that_wants_a_key_says_where_to_name_it(
    simulator: Endpoint, pipeline: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refusing = f"llm.large.base_url=http://127.0.0.1:{simulator.port}/with/fault=401/v1"
    assert await asyncio.to_thread(check, pipeline, refusing) == 4
    large = parts(capsys.readouterr().out)["llm.large"]
    assert "requires a key (HTTP 401" in large
    assert large.endswith("name its environment variable in api_key_env")


def test_a_key_that_is_not_set_is_missing_and_the_host_is_asked_all_the_same(
    pipeline: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    with listening(says(http(b"{}", status="401 Unauthorized"))) as port:
        assert check(pipeline, url(port), "llm.large.api_key_env=MY_KEY") == 4
    lines = capsys.readouterr().out
    assert "FAILED  llm.large  the environment variable MY_KEY is not set" in lines
    assert "ok      llm.large  m: http://127.0.0.1:" in lines
    assert "answers, and requires the" in lines


@pytest.mark.parametrize("ask", [False, True])
def test_a_paid_model_completes_a_token_only_if_the_user_asks_for_it(
    pipeline: Path, ask: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_KEY", "right")
    asked = []

    def completes(*arguments: object) -> None:
        asked.append(True)
        says(COMPLETION)(*arguments)  # type: ignore[arg-type]

    with listening(lists("m", then=completes)) as port:
        assert check(pipeline, url(port), "llm.large.api_key_env=MY_KEY", ask=ask) == 0
    assert asked == [True] * ask
    assert ("which is billed (use --ask)" in parts(capsys.readouterr().out)["llm.large"]) is not ask


def test_a_paid_model_that_is_not_listed_fails_without_being_asked(
    pipeline: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_KEY", "right")
    with listening(says(http(models("gpt-4.1", "gpt-4.1-nano")))) as port:
        settings = (url(port), "llm.large.api_key_env=MY_KEY", "llm.large.model=gpt-4.1-nan")
        assert check(pipeline, *settings) == 4
    large = parts(capsys.readouterr().out)["llm.large"]
    assert large.endswith('lists no model gpt-4.1-nan; did you mean "gpt-4.1-nano"?')


def test_a_port_where_nothing_listens_is_named(pipeline: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    assert check(pipeline, url(port)) == 4
    large = parts(capsys.readouterr().out)["llm.large"]
    assert large == (
        f"FAILED m: http://127.0.0.1:{port}/v1 refused the connection; check that the server is running and that "
        "base_url is right"
    )


async def test_a_server_of_anthropics_messages_is_asked_over_them(
    simulator: Endpoint, pipeline: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_KEY", "wrong")

    async def large(model: str, url: str = simulator.root_url, *more: str) -> str:
        tier = f'llm.large={{provider="anthropic", model="{model}", base_url="{url}"}}'
        await asyncio.to_thread(check, pipeline, tier, *more)
        return parts(capsys.readouterr().out)["llm.large"]

    assert (await large("sim:steady")).startswith(f"ok sim:steady: {simulator.root_url}/v1 completed a token in ")
    assert (await large("sim:stedy")).endswith('it lists no model sim:stedy; did you mean "sim:steady"?')
    refusing = f"{simulator.root_url}/with/fault=401"
    assert "refuses the key in MY_KEY (HTTP 401" in await large("sim:steady", refusing, "llm.large.api_key_env=MY_KEY")
    paid = await large("sim:steady", simulator.root_url, "llm.large.api_key_env=MY_KEY")
    assert paid.endswith("it was not asked for a token, which is billed (use --ask)")


async def test_openai_itself_needs_a_connection_and_no_base_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenAITier, "home", f"http://127.0.0.1:{free_port()}/v1")
    state = await server_check.check_server(OpenAITier(provider="openai", model="m"), ask=False)
    assert state.text.endswith("refused the connection; check this machine's connection to the internet")


@pytest.mark.parametrize(
    ("handle", "problem"),
    [
        pytest.param(says_nothing, "did not answer within 1 s; check that the server is running", id="silent"),
        pytest.param(says(http(b"<html>")), "does not speak OpenAI's protocol (Expecting", id="a page"),
        pytest.param(says(b"SSH-2.0-OpenSSH_9\r\n"), "does not speak OpenAI's protocol", id="no HTTP"),
        pytest.param(lists("m", then=says_nothing), "did not complete a token within 1 s", id="hangs"),
        pytest.param(
            lists("m", then=says(http(b'{"error": {"message": "out of memory."}}', status="500 Oops"))),
            "did not complete a token (HTTP 500: out of memory)",
            id="fails",
        ),
    ],
)
def test_a_server_that_does_not_answer_as_it_should_is_named_in_time(
    pipeline: Path,
    handle: Handler,
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(server_check, "LIST_WITHIN", 1.0)
    monkeypatch.setattr(server_check, "TOKEN_WITHIN", 1.0)
    with listening(handle) as port:
        assert check(pipeline, url(port)) == 4
    assert problem in parts(capsys.readouterr().out)["llm.large"]


def test_a_server_that_lists_no_models_is_asked_for_a_token(pipeline: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def handle(connection: socket.socket, over: object) -> None:
        is_question = connection.recv(4, socket.MSG_PEEK) == b"POST"
        says(COMPLETION if is_question else http(b"{}", status="404 Not Found"))(connection, over)  # type: ignore[arg-type]

    with listening(handle) as port:
        assert check(pipeline, url(port)) == 0
    assert "completed a token" in parts(capsys.readouterr().out)["llm.large"]


def test_files_that_do_not_exist_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    voice, folder = tmp_path / "voice.onnx", tmp_path / "whisper"
    settings = ("asr={engine='whisper', model='" + str(folder) + "'}", f"tts.voice={voice}")
    assert check("embedded", *settings) == 4
    found = parts(capsys.readouterr().out)
    assert found["asr"].startswith(f"FAILED There is no folder {folder}: a local Whisper model is a folder with ")
    assert f"The voice file {voice}.json does not exist: copy it here, or correct tts.voice" in found["tts"]
    folder.mkdir()
    assert check("embedded", *settings) == 4
    assert "lacks config.json, tokenizer.json, model.bin" in parts(capsys.readouterr().out)["asr"]


def test_weights_that_are_not_here_are_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("voice.models.hub.HubModel.find", lambda _model: None)
    settings = ("asr={engine='whisper', model='tiny.en'}", "tts.voice=de_DE-thorsten-medium")
    assert check("embedded", *settings) == 4
    found = parts(capsys.readouterr().out)
    assert "FAILED The Whisper model tiny.en is not here: run `voice models pull tiny.en`" in found["asr"]
    assert "run `voice models pull de_DE-thorsten-medium`" in found["tts"]


def test_weights_are_loaded(scripted_whisper: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    folder = scripted_whisper("hello")
    settings = "asr={engine='whisper', model='" + str(folder) + "'}"
    assert check("embedded", settings) == 0
    assert f"faster-whisper scripted:whisper in {folder}: loaded" in parts(capsys.readouterr().out)["asr"]
    (folder / "model.bin").write_bytes(b"torn")
    assert check("embedded", settings) == 4


@pytest.mark.parametrize(
    ("name", "setting", "sentence"),
    [
        ("embeded", "turns.adaptive=true", 'There is no pipeline "embeded"'),
        ("embedded", "turns.fallback=3", "turns.fallback is not a setting; known here: detector"),
        ("embedded", "asr={engine='whisper', model='tiny english'}", "'tiny english' names no Whisper model"),
        ("sim-single", "llm.large.model=nobody", "there is no simulated model nobody; choose one of "),
        ("sim-single", "llm.policy=fallback", "fast"),
    ],
)
def test_a_wrong_setting_is_one_sentence_and_status_2(
    name: str, setting: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(name, setting) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("voice: ")
    assert sentence in line


def test_everything_printed_fits_80_columns(
    pipeline: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with listening(says(http(models(*(f"model-{number}" for number in range(20)))))) as port:
        assert check(pipeline, url(port)) == 4
    main(["pipelines"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
