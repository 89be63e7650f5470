"""Writes docs/reference/command-line.md from the parsers: `python -m tests.make_command_line_page > FILE`."""

import contextlib
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence

import latency.cli
import pipelines.cli
from latency.command_line import WIDTH

HEAD = """\
# Command line

`voice` drives calls, `latency` reads their records. Both are in `.venv/bin`. Every command also takes
`--help` and `-v` (log to standard error). This page is generated from the commands.

## Exit statuses

| status | meaning |
|---|---|
| 0 | fine; of a server, also after SIGTERM |
| 1 | a check failed: a limit is broken |
| 2 | bad usage or configuration |
| 3 | no data to judge |
| 4 | a component is missing or failed |
| 130 | stopped by Ctrl-C |
"""
_NAMES = re.compile(r"^    ([a-z]+) ", re.MULTILINE)
"""The commands in the help of a program."""
_ON_EVERY_COMMAND = re.compile(r"^  -(?:h, --help|v, --verbose) .*\n", re.MULTILINE)


def page() -> str:
    """The whole page, in Markdown."""
    return "\n".join([HEAD, *_sections()])


def _sections() -> Iterator[str]:
    for program, main in (("voice", pipelines.cli.main), ("latency", latency.cli.main)):
        for name in _NAMES.findall(_help(main, ["--help"])):
            text = _ON_EVERY_COMMAND.sub("", _help(main, [name, "--help"])).replace("options:\n\n", "").strip()
            yield f"## `{program} {name}`\n\n```text\n{text}\n```\n"


def _help(main: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> str:
    """A command's help on a terminal of `WIDTH` columns."""
    printed, columns = io.StringIO(), os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(WIDTH)
    try:
        with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
            main(arguments)
    finally:
        del os.environ["COLUMNS"]
        if columns is not None:
            os.environ["COLUMNS"] = columns
    return printed.getvalue()


if __name__ == "__main__":
    print(page(), end="")
