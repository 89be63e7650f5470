"""The day's sum outlives the process and is shared by several."""

import logging
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from voice.errors import ComponentError
from voice.llm.spending.day_spending import DaySpending, add_to_day

TODAY, TOMORROW = date(2026, 11, 23), date(2026, 11, 24)
ADDING = """
import sys
from datetime import date
from pathlib import Path
from voice.llm.spending.day_spending import add_to_day
for _ in range(200):
    add_to_day(Path(sys.argv[1]), date(2026, 11, 23), 0.25)
"""


async def test_a_restart_does_not_forget_what_was_spent_today(tmp_path: Path) -> None:
    file = tmp_path / "new" / "spending.json"
    first = DaySpending(file, today=lambda: TODAY)
    await first.start()
    first.add(1.5)
    first.add(0.25)
    assert first.usd == 1.75
    await first.close()
    days = [TODAY]
    second = DaySpending(file, today=lambda: days[-1])
    await second.start()
    assert second.usd == 1.75
    days.append(TOMORROW)
    assert second.usd == 0
    second.add(0.5)
    await second.close()
    assert add_to_day(file, TOMORROW, 0.0) == 0.5


def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "spending.json"
    adding = [subprocess.Popen([sys.executable, "-c", ADDING, str(file)]) for _ in range(2)]
    assert [process.wait(60) for process in adding] == [0, 0]
    assert add_to_day(file, TODAY, 0.0) == 100


@pytest.mark.parametrize(
    "content", ["", "[]", '{"day": "2026-11-23"}', '{"day": 1, "usd": 2}', '{"day": "2026-11-23", "usd": -3}', "\udcff"]
)
def test_a_damaged_file_is_reported_and_begun_anew(
    content: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "spending.json"
    file.write_text(content, errors="surrogateescape")
    with caplog.at_level(logging.WARNING):
        assert add_to_day(file, TODAY, 0.5) == 0.5
    assert f"{file} is damaged (" in caplog.text
    assert add_to_day(file, TODAY, 0.5) == 1.0


async def test_a_day_that_cannot_be_kept_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ComponentError, match="cap_usd_per_day would not hold; make the folder writable"):
        await DaySpending(tmp_path / "file" / "spending.json").start()


async def test_later_on_it_is_counted_in_memory_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "cache"
    spending = DaySpending(folder / "spending.json", today=lambda: TODAY)
    await spending.start()
    for kept in folder.iterdir():
        kept.unlink()
    folder.rmdir()
    folder.write_text("in the way")
    spending.add(1.0)
    await spending.close()
    assert spending.usd == 1.0
    assert caplog.text.count("what was spent today cannot be kept") == 1
    folder.unlink()
    spending.add(0.5)
    await spending.close()
    assert add_to_day(folder / "spending.json", TODAY, 0.0) == 1.5
