"""A server that takes its time to end: it leaves a file 2 s after its standard input has closed.

python -m tests.pipelines.serving.reluctant_child FILE
"""

import sys
import time
from pathlib import Path

print("Listening on ws://127.0.0.1:1/ws", flush=True)
sys.stdin.read()
time.sleep(2)
Path(sys.argv[1]).touch()
