"""The README and docs: every command works, every printed block is what is printed, every link leads somewhere."""

import json
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from latency.report.checks import FIGURES
from pipelines import settings
from pipelines.cli import parser
from tests import make_command_line_page, make_settings_page
from tests.pipelines.gate_run import run_gate

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXT = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
SETTINGS, COMMANDS = "docs/reference/settings.md", "docs/reference/command-line.md"
BLOCKS = [block for text in TEXT.values() for block in re.findall(r"```(\w+)\n(.*?)```", text, flags=re.DOTALL)]
SHELL = [body.strip() for language, body in BLOCKS if language == "sh"]
INLINE = sorted(
    {" ".join(code.split()) for text in TEXT.values() for code in re.findall(r"`((?:voice|latency) [^`]*)`", text)}
)
REPORTS = [
    block
    for text in TEXT.values()
    for block in re.findall(r"<!-- report: .*? -->\n```text\n(.*?)```", text, flags=re.DOTALL)
]


def run(*command: str, cwd: Path = ROOT, timeout: float = 60) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=timeout)


def test_the_readme_has_at_most_ninety_lines() -> None:
    assert len(TEXT["README.md"].splitlines()) <= 90


def test_the_readme_has_its_two_commands() -> None:
    readme = re.findall(r"```sh\n(.*?)```", TEXT["README.md"], flags=re.DOTALL)
    commands = [command.strip().split(".venv/bin/")[-1] for command in readme]
    assert commands == ["voice replay"]
    assert "`.venv/bin/pytest -n 3`" in TEXT["README.md"]
    assert "voice models pull" in readme[0]


def test_the_printed_reports_use_the_words_of_the_report() -> None:
    printed = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "latency" / "render").rglob("*.py"))
    assert len(REPORTS) == 3
    for report in REPORTS:
        lines = report.splitlines()
        assert lines[0].startswith("Turnaround: runs/")
        assert any(line.startswith("Turn latency  p50") for line in lines)
        assert max(map(len, lines)) <= 80
        headings = [before for before, line in pairwise(lines) if set(line) == {"─"}]
        assert headings
        columns = [column for heading in headings for column in re.split(r"\s{2,}", heading.strip())]
        # A name stands at the start of a line, two spaces or more before its figures.
        names = [name[1] for line in lines if (name := re.match(r"([A-Za-z][\w -]*?)\s{2,}\S", line))]
        for word in {*columns, *names} - {"Turn latency", "turn"}:
            assert f'"{word}' in printed, word


@pytest.mark.parametrize(
    "command",
    [part.strip() for body in SHELL for part in re.split(r"&&|\n", body.replace("\\\n", "")) if "replay" in part],
)
def test_every_replay_command_names_a_pipeline_that_can_be_put_together(command: str) -> None:
    settings.load(parser().parse_args(shlex.split(command)[1:]).pipeline.replace("auto", "embedded"))


def test_the_gate_is_a_shell_command_that_passes_and_fails(tmp_path: Path) -> None:
    (gate,) = [command for command in SHELL if "--check" in command and "samples/" in command]
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "voice").symlink_to(Path(sys.executable).with_name("voice"))
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    kept = run("bash", "-c", gate, cwd=tmp_path, timeout=400)
    # On a machine too busy to feed audio in real time there are no latencies to judge, which is no pass either.
    is_refused = "LATENCIES REFUSED" in kept.stdout
    assert kept.returncode == (3 if is_refused else 0), kept.stdout + kept.stderr
    assert is_refused or kept.stdout.count("\npassed ") == 3
    assert '"cut_offs == 0"' in gate
    assert run(sys.executable, "-m", "latency", "report", "--check", "answered == 0", cwd=tmp_path).returncode == 1
    assert run("bash", "-c", gate.replace("answer p95", "answer speed"), cwd=tmp_path).returncode == 2


def test_the_gate_for_an_agent_of_ones_own_is_a_test_that_passes(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```python\n(.*?)```", TEXT["docs/how-to/ci.md"], flags=re.DOTALL)
    (tmp_path / "test_agent.py").write_text(shown)
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    done = run_gate(tmp_path / "test_agent.py")
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_the_language_models_shown_are_a_pipeline(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", TEXT["docs/start/your-models.md"], flags=re.DOTALL)
    (tmp_path / "mine.toml").write_text(shown)
    llm = settings.load(str(tmp_path / "mine.toml")).llm
    assert isinstance(llm, settings.Tiers)
    assert list(llm.tiers) == ["large", "fast"]


@pytest.mark.parametrize("block", [body for language, body in BLOCKS if language == "toml" and "[tiers." not in body])
def test_every_toml_block_is_part_of_a_pipeline(block: str, tmp_path: Path) -> None:
    rest = {"asr": 'engine = "sphinx"', "llm": 'provider = "responder"', "tts": 'engine = "piper"'}
    missing = [f"[{table}]\n{value}\n" for table, value in rest.items() if f"[{table}" not in block]
    (tmp_path / "shown.toml").write_text("\n".join([block, *missing]))
    settings.load(str(tmp_path / "shown.toml"))


def test_the_page_of_settings_is_generated_from_the_settings() -> None:
    assert TEXT[SETTINGS] == make_settings_page.page(), f"python -m tests.make_settings_page > {SETTINGS}"


def test_the_page_of_commands_is_generated_from_the_commands() -> None:
    """Line ends do not count: Python's versions fold a usage differently."""
    generated = make_command_line_page.page()
    assert "## `voice replay`" in generated
    assert "## `latency bench`" in generated
    assert TEXT[COMMANDS].split() == generated.split(), f"python -m tests.make_command_line_page > {COMMANDS}"


def test_every_figure_that_a_check_can_limit_is_on_the_page_of_checks() -> None:
    page = TEXT["docs/reference/checks.md"]
    for figure in FIGURES:
        for word in figure.split():
            assert f"`{word}`" in page, figure


def test_the_page_of_settings_has_every_table() -> None:
    for name, field in settings.Settings.model_fields.items():
        if isinstance(field.default, settings.Table):
            assert f"## `[{name}]" in TEXT[SETTINGS]


def test_every_setting_that_a_page_names_exists() -> None:
    """Such as `turns.risk`."""
    named = re.findall(r"`((?:vad|turns|barge_in|watchdog|call|asr|tts)\.(?!jsonl)[a-z_]+)\b", "".join(TEXT.values()))
    assert named
    for name in named:
        table, key = name.split(".")
        assert re.search(rf"^## `\[{table}\].*?^\| `{key}` ", TEXT[SETTINGS], flags=re.DOTALL | re.MULTILINE), name


@pytest.mark.parametrize("command", [c for c in INLINE if c.startswith("voice ")])
def test_every_voice_command_named_is_one_that_the_command_line_takes(command: str) -> None:
    arguments = shlex.split(command)[1:]
    # A command that is only named may need arguments.
    only_named = len(arguments) == 1 and not arguments[0].startswith("-")
    try:
        parser().parse_args([*arguments, "--help"] if only_named else arguments)
    except SystemExit as ended:
        if ended.code:
            pytest.fail(f"`{command}` is refused with {ended.code}")


@pytest.mark.parametrize("command", [c for c in INLINE if c.startswith("latency report")])
def test_every_report_command_reads_the_newest_run(command: str, tmp_path: Path) -> None:
    run_folder = tmp_path / "runs" / "20260101-000000-none"
    run_folder.mkdir(parents=True)
    content = {"schema": 1, "status": "complete", "created": "2026-01-01T00:00:00+00:00", "sessions": []}
    (run_folder / "run.json").write_text(json.dumps(content))
    done = run(sys.executable, "-m", "latency", *shlex.split(command)[1:], cwd=tmp_path)
    # Nothing was replayed in this run: no check may pass on it.
    assert done.returncode == 3
    assert "20260101-000000-none holds no turns yet; replay again" in done.stderr


def test_the_pipelines_it_names_are_listed() -> None:
    done = run(sys.executable, "-m", "pipelines.cli", "pipelines")
    assert done.returncode == 0
    assert {"auto", "embedded", "local", "openai"} <= {line.split()[0] for line in done.stdout.splitlines()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_links_lead_to_files_and_headings(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", TEXT[page.relative_to(ROOT).as_posix()]):
        if target.startswith("http"):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}, target


def test_every_page_is_reached_from_the_index() -> None:
    """The index itself, or the page of benchmarks, links each page."""
    reached = {ROOT / "README.md", ROOT / "docs" / "README.md"}
    for index in (ROOT / "docs" / "README.md", ROOT / "docs" / "benchmarks" / "README.md"):
        links = re.findall(r"\]\(([^)#]+)", index.read_text(encoding="utf-8"))
        reached |= {(index.parent / link).resolve() for link in links if not link.startswith("http")}
    assert [page for page in PAGES if page not in reached] == []


@pytest.mark.slow
def test_a_slow_model_alone_misses_its_budget_and_with_a_fast_one_beside_it_keeps_it(tmp_path: Path) -> None:
    """The command on the page about the first call, two and a half minutes."""
    (command,) = [command for command in SHELL if "sim-single" in command and "&&" in command]
    command = command.replace(".venv/bin/voice", f"{sys.executable} -m pipelines.cli")
    command = command.replace("sim-single", f"sim-single --out {tmp_path}/single")
    done = subprocess.run(
        ["bash", "-c", f"{command} --out {tmp_path}/fallback"], cwd=ROOT, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr[-2000:]
    alone, rescued = (
        json.loads(run(sys.executable, "-m", "latency", "report", str(tmp_path / name), "--json").stdout)
        for name in ("single", "fallback")
    )
    assert alone["llm"]["missed"] > 5
    assert rescued["llm"]["missed"] == 0
    assert rescued["turn_ms"]["p50"] < alone["turn_ms"]["p50"]


@pytest.mark.slow
def test_the_first_command_works_in_a_fresh_clone(tmp_path: Path) -> None:
    """Installs everything anew and replays the tour: minutes."""
    clone = tmp_path / "clone"
    assert run("git", "clone", "-q", str(ROOT), str(clone)).returncode == 0
    done = subprocess.run(["bash", "-c", SHELL[0]], cwd=clone, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Turn latency" in done.stdout
