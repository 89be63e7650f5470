"""What a pipeline file says reaches the parts of a call."""

from types import SimpleNamespace
from typing import Any, cast

from pipecat.audio.vad.vad_analyzer import VADParams

from pipelines.assemble import _turn_stop
from pipelines.settings import load
from voice.turns.endpointing import RISK, Endpointing
from voice.turns.speculation import WaitingCalls


def endpointing(*overrides: str) -> Endpointing:
    engines = SimpleNamespace(
        settings=load("embedded", overrides),
        turns=SimpleNamespace(smart_turn=lambda **_: None),
        waiting=WaitingCalls(),
        models=SimpleNamespace(whole_request=None),
        reader=None,
    )
    stop = _turn_stop(cast(Any, engines), cast(Any, None), VADParams(stop_secs=0.3), None)
    return stop._endpointing


def test_turns_end_as_the_file_says() -> None:
    assert endpointing() == Endpointing(stop=0.3, fallback=0.7, longest=2.5, adaptive=True, risk=RISK)
    set_otherwise = ("turns.risk=0.2", "turns.fallback_ms=600", "turns.adaptive=false")
    assert endpointing(*set_otherwise) == Endpointing(stop=0.3, fallback=0.6, adaptive=False, risk=0.2)
