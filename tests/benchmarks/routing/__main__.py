"""Prints how the rules route the labelled utterances: `python -m tests.benchmarks.routing [--wrong]`."""

import argparse
import time
from collections.abc import Iterator, Sequence

from tests.benchmarks.routing.labelled import PARTS, Confusion, Part, confusion, utterances
from voice.llm.routing.assess import assess
from voice.llm.routing.difficulty import SIDES


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.routing", description="How the rules route labelled utterances."
    )
    parser.add_argument("--wrong", action="store_true", help="list the utterances that the rules route differently")
    given = parser.parse_args(arguments)
    for part in PARTS:
        print("\n".join(_table(part, wrong=given.wrong)), end="\n\n")
    print(_speed())


def _table(part: Part, *, wrong: bool) -> Iterator[str]:
    of = [one for one in utterances() if one.part == part]
    result = confusion(of)
    yield f"{part}, {len(of)} utterances  " + "".join(f"{f'-> {side}':>10}" for side in SIDES)
    for side in SIDES:
        yield f"  a person says {side:<14}" + "".join(f"{count:>10}" for count in result.row(side))
    forced, not_fast = _percent(result, "large"), _percent(result, "large", "open")
    yield f"  must go large: {forced} sent there by force, {not_fast} not to fast"
    if wrong:
        yield from (
            f"  {one.difficulty} taken for {by_rules}: {one.text}" + (f" | {one.asked}" if one.asked else "")
            for one, by_rules in result.wrong
        )


def _percent(result: Confusion, *sent: str) -> str:
    share = result.share("large", *(side for side in SIDES if side in sent))
    return "-" if share is None else f"{share * 100:.1f} %"


def _speed() -> str:
    """The time of a decision on this machine."""
    every = utterances()
    began = time.perf_counter()
    for one in every:
        assess(one.text, asked=one.asked)
    return f"{(time.perf_counter() - began) / len(every) * 1000:.3f} ms for a decision on this machine, on average"


if __name__ == "__main__":
    main()
