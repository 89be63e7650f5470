"""A server's metrics: figures for Prometheus, and one log line at the end of each call."""

import itertools
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from pipelines.call_log.call_statistics import CallStatistics, ClosedTurn
from voice.server.metrics import CallFigures, CallMetrics

if TYPE_CHECKING:
    from pipelines.call_log.tracing import CallTrace
    from voice.server.admission import Headroom

TURN_LATENCY = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0)
"""Upper bounds of the histogram's buckets, seconds; 0.8 is where people feel a pause."""
WAITS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
CALL_LOG = "turnaround.calls"
"""The logger of the line for each call."""
log = logging.getLogger(CALL_LOG)


class PrometheusMetrics:
    """Counts the events of a server's calls, in its own registry, so that several servers do not share figures.

    Args:
        stop: seconds of silence after which the voice detector reports the end of speech.
        budget: seconds of the language model's budget.
        trace: begins the trace of a call; returns None if calls are not traced.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        *,
        stop: float,
        budget: float,
        trace: Callable[[], "CallTrace | None"] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stop, self._budget, self._trace, self._clock = stop, budget, trace, clock
        self._numbers = itertools.count(1)
        self._calls_under_way: dict[int, CallStatistics] = {}
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._calls = Counter("voice_calls", "Calls that were taken", registry=registry)
        self._under_way = Gauge("voice_calls_in_progress", "Calls under way", registry=registry)
        self._refused = Counter("voice_calls_refused", "Calls that were not taken", ["reason"], registry=registry)
        self._latency = Histogram(
            "voice_turn_latency_seconds",
            "From the end of speech, by the voice detector, to the first audio sent",
            buckets=TURN_LATENCY,
            registry=registry,
        )
        self._turns = Counter("voice_turns", "Turns by outcome", ["outcome"], registry=registry)
        self._typed = Counter("voice_typed_turns", "Those that were typed, not spoken", registry=registry)
        self._verdicts = Counter("voice_llm_verdicts", "Turns by how they kept it", ["verdict"], registry=registry)
        self._rescues = Counter("voice_llm_rescues", "Turns that another tier answered in time", registry=registry)
        self._tokens = Counter("voice_llm_tokens", "Tokens of all requests", ["tier", "kind"], registry=registry)
        self._cost = Counter("voice_llm_cost_usd", "Cost of the requests with a known price", registry=registry)
        self._missed = Counter("voice_observations_missed", "Events that made an observer fail", registry=registry)
        self._waits = Histogram(
            "voice_queue_wait_seconds",
            "Waits for an engine that calls share",
            ["stage"],
            buckets=WAITS,
            registry=registry,
        )

    def refused(self, kind: str) -> None:
        """Count a refused call."""
        self._refused.labels(kind).inc()

    def began(self) -> CallStatistics:
        """Count an accepted call."""
        self._calls.inc()
        self._under_way.inc()
        call = CallStatistics(
            stop=self._stop,
            budget=self._budget,
            number=next(self._numbers),
            began=self._clock(),
            count=self._count,
            count_missed=self._missed.inc,
            trace=self._trace(),
        )
        self._calls_under_way[call.number] = call
        return call

    def ended(self, call: CallMetrics, why: str) -> None:
        """Count the last turn of a call that is over, and log the call."""
        assert isinstance(call, CallStatistics)
        self._under_way.dec()
        self._calls_under_way.pop(call.number, None)
        call.close()
        if call.trace:
            call.trace.ended(why)
        log.info("call %d %s", call.number, call.line(why, self._clock() - call.began))

    def watch(self, headroom: "Headroom") -> None:
        """Show how busy the event loop is, and count how long work waits for shared engines."""
        for queue in headroom.queues:
            queue.observer = self._waits.labels(queue.stage).observe
        scarce = Gauge("voice_headroom_scarce", "1 while optional work is left out", registry=self.registry)
        scarce.set_function(lambda: headroom.is_scarce(self._clock()))
        load = headroom.loop
        if load is not None:
            busy = Gauge("voice_event_loop_busy_ratio", "Share of time in which it worked, 5 s", registry=self.registry)
            busy.set_function(lambda: load.busy(self._clock()))
            lag = Gauge("voice_event_loop_lag_seconds", "Longest time all else waited, 5 s", registry=self.registry)
            lag.set_function(lambda: load.longest(self._clock()))

    def under_way(self) -> list[CallFigures]:
        """The figures of the calls under way."""
        now = self._clock()
        return [call.figures(now) for call in self._calls_under_way.values()]

    def exposition(self) -> tuple[bytes, str]:
        """All figures in Prometheus's format, and their content type."""
        return generate_latest(self.registry), CONTENT_TYPE_LATEST

    def _count(self, turn: ClosedTurn) -> None:
        self._turns.labels(turn.outcome).inc()
        self._typed.inc(turn.record.typed)
        if turn.latency is not None:
            self._latency.observe(turn.latency)
        if turn.verdict is not None:
            self._verdicts.labels(turn.verdict).inc()
            self._rescues.inc(turn.verdict == "rescued")
        for attempt in turn.attempts:
            tier = attempt.tier or "model"
            if attempt.tokens is not None:
                self._tokens.labels(tier, "prompt").inc(attempt.tokens.prompt or 0)
                self._tokens.labels(tier, "completion").inc(attempt.tokens.completion or 0)
            self._cost.inc(attempt.usd or 0.0)
