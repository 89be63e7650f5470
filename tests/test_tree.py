"""Folders and files keep a size at which one can find one's way."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
MODULES = [path.relative_to(ROOT) for top in ("latency", "voice", "pipelines") for path in (ROOT / top).rglob("*.py")]
TESTS = [path.relative_to(ROOT) for path in (ROOT / "tests").rglob("*.py")]
FOLDERS = sorted({path.parent for path in (*MODULES, *TESTS)})
MOST_LINES = 400
MOST_MODULES = 14


def test_every_folder_with_code_is_a_package() -> None:
    assert [str(folder) for folder in FOLDERS if not (ROOT / folder / "__init__.py").is_file()] == []


def test_no_folder_has_too_many_modules() -> None:
    counts = {str(folder): sum(path.parent == folder for path in MODULES) - 1 for folder in FOLDERS}
    assert {folder: count for folder, count in counts.items() if count > MOST_MODULES} == {}


def test_no_file_is_too_long() -> None:
    lines = {str(path): len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in (*MODULES, *TESTS)}
    assert {path: count for path, count in lines.items() if count > MOST_LINES} == {}
