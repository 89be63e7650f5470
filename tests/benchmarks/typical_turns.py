"""Writes the turns of runs into the file of `pipelines.lab.whatif.typical_turns`.

python -m tests.benchmarks.typical_turns "who speaks" RUN…
"""

import json
import sys
from importlib import resources
from pathlib import Path

from latency.record.json_form import to_json
from latency.record.run import Run
from pipelines.lab.whatif.caller_turns import recording
from pipelines.lab.whatif.typical_turns import FILE, TypicalTurns


def main(who: str, *runs: str) -> None:
    """Write the turns of these runs, with who speaks in them."""
    loaded = [Run.load(Path(name)) for name in runs]
    turns = tuple(turn for run in loaded for turn in recording(run).turns)
    day = max(run.header.created for run in loaded)[:10]
    source = f"{len(turns)} turns ({who}) that the embedded recogniser heard on {day}"
    content = json.dumps(to_json(TypicalTurns(source=source, turns=turns)), indent=1, ensure_ascii=False)
    path = Path(str(resources.files("pipelines.lab.whatif") / FILE))
    path.write_text(content + "\n", encoding="utf-8")
    print(source)


if __name__ == "__main__":
    main(*sys.argv[1:])
