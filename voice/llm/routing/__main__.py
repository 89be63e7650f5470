"""Prints how the rules route a caller's words, and why: `python -m voice.llm.routing WORDS…`."""

import argparse
from collections.abc import Sequence

from voice.llm.routing.assess import assess
from voice.llm.routing.difficulty import side_of


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m voice.llm.routing", description="Where a turn goes, and why.")
    parser.add_argument("words", nargs="+", help="what a caller says")
    parser.add_argument("--asked", metavar="TEXT", help="what the agent had said just before those words")
    given = parser.parse_args(arguments)
    found = assess(" ".join(given.words), asked=given.asked)
    told = ", as the agent asked about it" if found.asked else ""
    why = f' by "{found.evidence}"{told}' if found.evidence else ""
    print(f"{side_of(found.difficulty)}: {found.difficulty}{why}")


if __name__ == "__main__":
    main()
