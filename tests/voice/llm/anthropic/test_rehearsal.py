"""Nothing is compiled while a call runs."""

import pydantic
import pytest

from tests.voice.llm.anthropic.test_messages import calling
from tests.voice.llm.openai.responses_rig import CAR, FAST
from voice.llm.anthropic.rehearsal import rehearse


def test_a_whole_message_is_read() -> None:
    assert rehearse() == 6


async def test_the_first_answer_of_a_process_finds_every_event_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    async with calling(FAST) as (call,):
        compiled: list[object] = []
        first = pydantic.TypeAdapter.__init__

        def counted(self: object, type_: object, **options: object) -> None:
            compiled.append(type_)
            first(self, type_, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(pydantic.TypeAdapter, "__init__", counted)
        assert (await call.ask(CAR)).outcome == "complete"
    assert compiled == []
