"""Every folder with code is a package."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
MODULES = [path.relative_to(ROOT) for top in ("latency", "voice", "pipelines") for path in (ROOT / top).rglob("*.py")]
TESTS = [path.relative_to(ROOT) for path in (ROOT / "tests").rglob("*.py")]
FOLDERS = sorted({path.parent for path in (*MODULES, *TESTS)})


def test_every_folder_with_code_is_a_package() -> None:
    assert [str(folder) for folder in FOLDERS if not (ROOT / folder / "__init__.py").is_file()] == []
