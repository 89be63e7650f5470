"""What the figures of a benchmark's tables mean, in sentences."""

from collections.abc import Iterator

from latency.benchmark.ablation import worth
from latency.benchmark.benchmark import OURS, Benchmark
from latency.render.numbers import things
from latency.report.stats import INTERVAL, RESAMPLES


def notes(benchmark: Benchmark) -> Iterator[str]:
    """Who is left out or refused, what each agent is, and what the columns are."""
    for name, why in benchmark.skipped.items():
        yield f"{name} is left out: {why}"
    for row in benchmark.rows:
        if row.refused:
            yield f"REFUSED: {row.variant} with {row.llm}: {row.refused}"
        if row.repeated:
            again = things(row.repeated, "call")
            yield f"repeated, because the audio was not sent in real time: {again} of {row.variant} with {row.llm}"
    for name, about, settings in dict.fromkeys((row.variant, row.about, tuple(row.settings)) for row in benchmark.rows):
        yield f"{name}: {about}" + (f"; set: {', '.join(settings)}" if settings else "")
    yield (
        "p50, p95: turn latency, from the labelled end of speech to the answer's first audible sample, of warm turns "
        "that are no barge-ins (n: answered, or unanswered and so later than any limit); [...]: "
        f"{INTERVAL} % interval of {RESAMPLES} resamples that draw recordings, each with its repetitions"
    )
    yield f"ratio of p50: relative to {benchmark.baseline}, on the turns that both answered"
    if any(benchmark.finished(row) for row in benchmark.rows):
        yield f"words are finished: as {OURS} judged in most rounds; all agents are shown on these recordings"
    yield (
        "turns: answered, cut off (an answer was heard that was begun before the user had finished; no latency is "
        "counted) or unanswered; early: answered within 200 ms, sooner than people answer"
    )
    yield (
        "cut in pauses: labelled pauses that the agent took for the end of the turn; elsewhere: cut-offs at another "
        "place; broken off: answers that stopped although the user was silent"
    )
    if any(row.interruptions.planned for row in benchmark.rows):
        yield (
            "barge-ins: planned = stopped + ended (the agent came to its own end, so it has no stop time) + ignored "
            "(it talked on) + missed (it was silent); stop: milliseconds from the interruption until it is silent"
        )
    yield "requests: to the language model; wasted: share of requests beyond one for each answered turn"
    if any(worth(benchmark, row) for row in benchmark.rows):
        yield (
            "without: a + means slower, or more CPU time, without the part, on the turns that both answered; per ms: "
            "the part's cost in CPU ms for each answered turn and each ms of the median that it saves; - where it "
            "saves or costs nothing"
        )
