"""Who called in a benchmark, in sentences."""

from collections.abc import Iterator

from latency.benchmark.callers import Callers
from latency.render.numbers import things


def sentences(callers: Callers) -> Iterator[str]:
    """What a reader of the figures has to know of them."""
    yield f"Callers: {', '.join(_who(callers))}"
    if callers.at_once > 1:
        yield f"AT ONCE: {callers.at_once} callers on one server of each agent, each with all the turns"
    if callers.left_out:
        yield f"Left out: {things(callers.left_out, 'turn')} by speakers that endpointing was fitted to"
    if callers.estimated:
        yield f"ESTIMATED: the end of speech was measured in {things(callers.estimated, 'turn')} without labels"
    if callers.wordless:
        yield (
            f"SCRIPTED: the words of {things(callers.wordless, 'turn')} are unknown; a scripted recogniser hears a "
            "placeholder"
        )


def _who(callers: Callers) -> Iterator[str]:
    known = len(callers.speakers)
    yield things(callers.turns, "turn") + (f" by {things(known, 'speaker')}" if known else "")
    if callers.synthetic:
        yield "all of them SYNTHESISERS" if callers.synthetic == known else f"{callers.synthetic} of them SYNTHESISERS"
    if known and len(callers.fitted) == known:
        yield "endpointing was FITTED to all of them" if known > 1 else "endpointing was FITTED to this one"
    elif callers.fitted:
        yield f"endpointing was FITTED to {len(callers.fitted)} of them"
    elif known:
        yield "endpointing was fitted to none of them"
    if callers.unnamed:
        yield f"{callers.unnamed if known else 'all'} by speakers that are not named"
