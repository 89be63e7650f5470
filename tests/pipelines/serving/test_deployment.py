"""The examples for systemd and a container: what they start takes calls, and ends when it is told to."""

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipelines.server_process import LISTENING, ROOT

DEPLOY = ROOT / "docs" / "deploy"
UNIT, CONTAINER = DEPLOY / "voice.service", DEPLOY / "Containerfile"
VOICE = "/opt/voice/bin/voice"


def started_by_systemd() -> list[str]:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(UNIT)
    return shlex.split(unit["Service"]["ExecStart"])


def instructions() -> list[tuple[str, str]]:
    lines = [line for line in CONTAINER.read_text().splitlines() if line and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def test_a_server_starts_with_their_command_and_ends_in_an_orderly_way() -> None:
    (in_container,) = (json.loads(rest) for name, rest in instructions() if name == "CMD")
    program, *arguments = started_by_systemd()
    assert [program, *arguments] == in_container
    assert program == VOICE
    environment = os.environ | {"VOICE_TOKEN": "of a caller, and long"}
    command = [sys.executable, "-m", "pipelines.cli", *arguments, "--port", "0"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith(LISTENING)
        server.terminate()
        _, said = server.communicate(timeout=20)
    assert server.returncode == 0, said


def test_what_the_container_copies_is_what_is_installed() -> None:
    copied = {name for what, rest in instructions() if what == "COPY" for name in rest.split()[:-1]}
    assert all((ROOT / name).exists() for name in copied)
    packages = re.search(r'^include = \["(.*)"\]', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert packages is not None
    assert {name.removesuffix("*") for name in packages[1].split('", "')} <= copied


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze on this machine")
def test_systemd_understands_every_line_of_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "voice.service"
    unit.write_text(UNIT.read_text().replace(VOICE, sys.executable))
    verified = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, timeout=60)
    assert verified.returncode == 0, verified.stderr
    assert "voice.service" not in verified.stderr
