"""Only what the server does not know is sent; when a conversation went another way, everything is."""

from typing import Any

import pytest

from voice.llm.wires.responses.chain import Chain

HELLO = {"role": "user", "content": "hello"}
NEXT = {"role": "user", "content": "and now"}
CALL = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "sunny"}
THOUGHT = {"type": "reasoning", "id": "r1", "summary": []}


def message(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def kept(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


SAID = message("Good morning. How are you?")


@pytest.mark.parametrize(
    ("output", "conversation", "news"),
    [
        ([SAID], [HELLO, kept("Good morning. How are you?"), NEXT], [NEXT]),
        ([SAID], [HELLO, kept(" Good morning.  How are you? "), NEXT], [NEXT]),
        ([SAID], [HELLO, kept("Good morning."), NEXT], None),
        ([SAID], [HELLO, NEXT], None),
        ([SAID], [HELLO, kept("Good morning. How are you?")], None),
        ([SAID], [NEXT, kept("Good morning. How are you?"), NEXT], None),
        ([SAID], [], None),
        ([], [HELLO, NEXT], [NEXT]),
        ([CALL], [HELLO, CALL, RESULT], [RESULT]),
        ([CALL], [HELLO, {**CALL, "call_id": "c2"}, RESULT], None),
        ([THOUGHT, SAID], [HELLO, THOUGHT, kept("Good morning. How are you?"), NEXT], [NEXT]),
        ([THOUGHT, SAID], [HELLO, kept("Good morning. How are you?"), NEXT], [NEXT]),
        ([{"type": "web_search_call"}], [HELLO, NEXT], None),
    ],
)
def test_what_follows_a_response(output: Any, conversation: Any, news: Any) -> None:
    assert Chain("resp_1", [HELLO], output).following(conversation) == news


def test_a_warm_up_is_followed_by_everything() -> None:
    assert Chain("resp_0", (), ()).following([HELLO]) == [HELLO]
