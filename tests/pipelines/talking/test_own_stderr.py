"""What C libraries write on standard error does not get on the screen, and what Python writes does."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CODE = """
import os, subprocess, sys
from pipelines.talking.own_stderr import own_stderr

before = subprocess.Popen("read line; echo child >&2", shell=True, stdin=subprocess.PIPE)
with own_stderr():
    os.write(2, b"a library\\n")
    print("the call", file=sys.stderr)
    before.communicate(b"now\\n")
os.write(2, b"a library afterwards\\n")
print("the report", file=sys.stderr)
"""


def test_only_libraries_are_silenced_and_only_meanwhile() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == ["the call", "child", "a library afterwards", "the report"]
