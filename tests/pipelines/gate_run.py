"""Runs a project's own tests, which replay conversations to its agent."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOO_BUSY = "was not fed in real time"
ATTEMPTS = 4


def run_gate(tests: Path) -> "subprocess.CompletedProcess[str]":
    """Run the tests of a file or folder in its folder; again if this machine was too busy to judge them."""
    folder = tests if tests.is_dir() else tests.parent
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pipelines.pytest_plugin", str(tests)]
    for _ in range(ATTEMPTS):
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=180)
        if TOO_BUSY not in done.stdout:
            break
    return done
