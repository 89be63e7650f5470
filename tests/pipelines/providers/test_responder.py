"""What loading leaves for the first call to do: nothing that would hold up the event loop."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FIRST_CALL = """
import asyncio, sys
import pipelines.assemble
from pipelines.providers.responder import ResponderTable

asyncio.run(ResponderTable(provider="responder").language_models().start())
loaded = set(sys.modules)
from voice.responder.service import ResponderLLMService
ResponderLLMService()
print("imported:", sorted(set(sys.modules) - loaded))
"""


def test_the_first_call_with_the_responder_imports_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CALL], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "imported: []"
