"""The table of the fault matrix, when it has been run."""

from typing import Any

from tests.faults.matrix import CELLS, FAILURES, MOMENTS, PARTS, Cell, left_out


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what became of each cell."""
    reports = [one for name in ("passed", "failed") for one in terminalreporter.stats.get(name, [])]
    found: dict[str, str] = {}
    for report in reports:
        for name, value in getattr(report, "user_properties", []):
            if name == "cell" and report.when == "call":
                cell, _, outcome = str(value).partition(": ")
                found[cell] = outcome if report.passed else outcome.upper() + "!"
    if len(found) < 10:
        return
    write = terminalreporter.write_line
    write("")
    write("What became of the turn in which a part failed; “-” is left out by a rule, capitals have failed the test")
    write(f"{'':32}" + "".join(f"{moment:12}" for moment in MOMENTS))
    for part in PARTS:
        for failure in FAILURES:
            cells = [Cell(part, failure, moment) for moment in MOMENTS]
            shown = ["-" if left_out(cell) else found.get(str(cell), "") for cell in cells]
            if any(shown):
                write(f"{part + ' ' + failure:32}" + "".join(f"{one:12}" for one in shown))
    write(f"{len(found)} of {len(CELLS)} cells")
