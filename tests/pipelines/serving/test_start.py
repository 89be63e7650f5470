"""What a server loads when it starts."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LOADED = """
import asyncio, sys
from pipelines import Agent

async def main():
    agent = Agent(pipeline="embedded")
    await agent.start()
    await agent.close()

asyncio.run(main())
print(*sys.modules)
"""


def test_the_embedded_pipeline_loads_no_other_engine_and_no_providers_sdk() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert {"openai", "anthropic", "faster_whisper", "ctranslate2"}.isdisjoint(done.stdout.split())
