import io

import pytest

from latency.render.layout import PIPE_WIDTH, console_for


def test_a_pipe_gets_its_own_width_and_neither_colours_nor_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    file = io.StringIO()
    console = console_for(file)
    console.print("[bold]a :smile:[/bold] " + "word " * 40, style="red")
    lines = file.getvalue().splitlines()
    assert console.width == PIPE_WIDTH
    assert lines[0].startswith("[bold]a :smile:[/bold] word")
    assert max(map(len, lines)) <= PIPE_WIDTH
    assert "\x1b" not in file.getvalue()


@pytest.mark.parametrize(("columns", "width"), [("80", 80), ("", PIPE_WIDTH), ("wide", PIPE_WIDTH), ("0", PIPE_WIDTH)])
def test_the_environment_may_set_the_width_of_a_pipe(columns: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert console_for(io.StringIO()).width == width


def test_letters_that_a_stream_lacks_are_replaced() -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    console_for(file).print("Füße")
    file.flush()
    assert raw.getvalue() == b"F??e\n"


@pytest.mark.parametrize(("encoding", "drawn"), [("utf-8", "█│ ▁█ …·"), ("latin-1", "#| .# ~·"), ("ascii", "#| .# ~.")])
def test_what_a_stream_lacks_is_drawn_in_ascii(encoding: str, drawn: str) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding)
    console_for(file).print("█│ ▁█ …·")
    file.flush()
    assert raw.getvalue().decode(encoding) == f"{drawn}\n"
