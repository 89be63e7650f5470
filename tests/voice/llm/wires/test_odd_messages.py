"""Messages as servers send them, with the real SDK: said and called once, or failed with a reason."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.voice.llm.wires.scripted_server import MODEL, Expected, answered, check, serving
from voice.llm.wires.anthropic.service import AnthropicService, make_client

Pieces = Sequence[bytes | float | None]


def event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


def started(*content: dict[str, Any], **usage: Any) -> bytes:
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content}
    return event("message_start", message={**message, "usage": {"input_tokens": 9, "output_tokens": 1, **usage}})


def block(index: Any, content: dict[str, Any], *deltas: dict[str, Any]) -> Iterator[bytes]:
    yield event("content_block_start", index=index, content_block=content)
    for delta in deltas:
        yield event("content_block_delta", index=index, delta=delta)
    yield event("content_block_stop", index=index)


def text(*words: Any, index: Any = 0, first: Any = "") -> Iterator[bytes]:
    return block(index, {"type": "text", "text": first}, *({"type": "text_delta", "text": word} for word in words))


def tool(*pieces: Any, index: Any = 0, name: Any = "weather", **more: Any) -> Iterator[bytes]:
    content = {"type": "tool_use", "id": "t1", "name": name, "input": {}, **more}
    return block(index, content, *({"type": "input_json_delta", "partial_json": piece} for piece in pieces))


def ended(reason: Any = "end_turn", usage: Any = None) -> Iterator[bytes]:
    yield event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 12} if usage is None else usage)
    yield event("message_stop")


SAID = Expected(said="Hello there.")
PARIS, ROME = '{"city": "Paris"}', '{"city": "Rome"}'
IN_PARIS = Expected(calls=[("weather", {"city": "Paris"})])
IN_BOTH = Expected(calls=[("weather", {"city": "Paris"}), ("weather", {"city": "Rome"})])
MESSAGE = {"content": [{"type": "text", "text": "Hello there."}], "stop_reason": "end_turn"}
WHOLE = {"type": "message", **MESSAGE}

CASES: dict[str, tuple[Pieces, Expected]] = {
    "plain": ([started(), *text("Hello ", "there."), *ended()], Expected(said="Hello there.", completion=12)),
    "words where a block begins": ([started(), *text("there.", first="Hello "), *ended()], SAID),
    "words in the message's start and again": (
        [started({"type": "text", "text": "Hello there."}), *text("Hello ", "there. "), *ended()],
        SAID,
    ),
    "words in the message's start alone": ([started({"type": "text", "text": "Hello there."}), *ended()], SAID),
    "words in the message's start and others": (
        [started({"type": "text", "text": "Hello "}), *text("the", "re."), *ended()],
        SAID,
    ),
    "words where a block begins and again": (
        [started(), *text("Hello ", "there.", first="Hello there."), *ended()],
        SAID,
    ),
    "the whole message at the end": (
        [started(), *text("Hello ", "there."), event("message", **MESSAGE), *ended()],
        SAID,
    ),
    "words without a block": (
        [
            started(),
            event("content_block_delta", index=0, delta={"type": "text_delta", "text": "Hello there."}),
            *ended(),
        ],
        SAID,
    ),
    "parts for words": ([started(), *text([{"type": "text", "text": "Hello "}], "there."), *ended()], SAID),
    "no index": ([started(), *text("Hello ", "there.", index=None), *ended()], SAID),
    "no event names": ([piece.partition(b"\n")[2] for piece in (started(), *text("Hello there."), *ended())], SAID),
    "carriage returns": (
        [piece.replace(b"\n", b"\r\n") for piece in (started(), *text("Hello there."), *ended())],
        SAID,
    ),
    "an id alone": (
        [b"id: 1\n\n", started(), b": still here\n\n", *text("Hello there."), b"data:\n\n", *ended()],
        SAID,
    ),
    "unknown events": (
        [started(), event("ping"), event("odd", x=1), *text("Hello there."), event("usage_of_vendor"), *ended()],
        SAID,
    ),
    "an unknown block": (
        [
            started(),
            *block(0, {"type": "odd", "text": "No."}, {"type": "odd", "text": "No."}),
            *text("Hello there.", index=1),
            *ended(),
        ],
        SAID,
    ),
    "a tool of the server": (
        [
            started(),
            *block(
                0,
                {"type": "server_tool_use", "id": "s", "name": "search", "input": {}},
                {"type": "input_json_delta", "partial_json": "{}"},
            ),
            *text("Hello there.", index=1),
            *ended(),
        ],
        SAID,
    ),
    "a citation": (
        [
            started(),
            *block(
                0,
                {"type": "text", "text": ""},
                {"type": "citations_delta", "citation": {}},
                {"type": "text_delta", "text": "Hello there."},
            ),
            *ended(),
        ],
        SAID,
    ),
    "a thought": (
        [
            started(),
            *block(0, {"type": "thinking", "thinking": "Hm."}, {"type": "signature_delta", "signature": "s"}),
            *text("Hello there.", index=1),
            *ended(),
        ],
        SAID,
    ),
    "no usage": ([started(), *text("Hello there."), *ended(usage={})], Expected(said="Hello there.", completion=-3)),
    "nulls": (
        [started(input_tokens=None, output_tokens=None), *text("Hello there."), *ended(usage={"output_tokens": None})],
        SAID,
    ),
    "a usage of another kind": ([started(), *text("Hello there."), *ended(usage="much")], SAID),
    "no end": ([started(), *text("Hello there.")], SAID),
    "a break after the end": ([started(), *text("Hello there."), *ended(), None], SAID),
    "silence after the end": ([started(), *text("Hello there."), next(ended()), 3.0], SAID),
    "a break": (
        [started(), *text("Hello there."), None],
        Expected(said="Hello there.", failed="broke the connection off"),
    ),
    "a whole message": ([json.dumps(WHOLE).encode()], SAID),
    "a whole message, indented": ([json.dumps(WHOLE, indent=1).encode()], SAID),
    "another protocol": ([b'data: {"choices": []}\n\n'], Expected(failed="JSON of another kind, not with a message")),
    "nothing": ([], Expected(failed="an empty stream, not with a message: check base_url.")),
    "no words": ([started(), *ended("refusal")], Expected(failed="without words")),
    # Tool calls.
    "a call": ([started(), *tool('{"city": ', '"Paris"}'), *ended("tool_use")], IN_PARIS),
    "arguments where the call begins": ([started(), *tool(input={"city": "Paris"}), *ended("tool_use")], IN_PARIS),
    "arguments both times": ([started(), *tool(PARIS, input={"city": "Paris"}), *ended("tool_use")], IN_PARIS),
    "arguments as an object": ([started(), *tool({"city": "Paris"}), *ended("tool_use")], IN_PARIS),
    "a call that ends the turn": ([started(), *tool(PARIS), *ended("end_turn")], IN_PARIS),
    "a call without a reason": ([started(), *tool(PARIS), *ended(None)], IN_PARIS),
    "two calls": ([started(), *tool(PARIS), *tool(ROME, index=1, id="t2"), *ended("tool_use")], IN_BOTH),
    "two calls with one id": ([started(), *tool(PARIS), *tool(ROME, index=1), *ended("tool_use")], IN_BOTH),
    "two calls with one index": ([started(), *tool(PARIS), *tool(ROME, id="t2"), *ended("tool_use")], IN_BOTH),
    "two calls without an index": (
        [started(), *tool(PARIS, index=None), *tool(ROME, index=None, id="t2"), *ended("tool_use")],
        IN_BOTH,
    ),
    "a call in the message's start and again": (
        [
            started({"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Paris"}}),
            *tool(PARIS),
            *ended("tool_use"),
        ],
        IN_PARIS,
    ),
    "a call announced in the message's start": (
        [started({"type": "tool_use", "id": "t1", "name": "weather", "input": {}}), *tool(PARIS), *ended("tool_use")],
        IN_PARIS,
    ),
    "a call twice": ([started(), *tool(PARIS), *tool(PARIS, index=1), *ended("tool_use")], IN_PARIS),
    "a call twice with one index": ([started(), *tool(PARIS), *tool(PARIS), *ended("tool_use")], IN_PARIS),
    "other arguments where the call begins": (
        [started(), *tool(PARIS, input={"city": "Rome"}), *ended("tool_use")],
        Expected(failed="called weather with arguments that are not a whole"),
    ),
    "a call without an end": ([started(), *tool(PARIS)], Expected(failed="ended its stream in a tool call")),
    "an id that is a number": ([started(), *tool(PARIS, id=7), *ended("tool_use")], IN_PARIS),
    "no id": ([started(), *tool(PARIS, id=None), *ended("tool_use")], IN_PARIS),
    "no arguments": (
        [started(), *tool("", name="opening_hours"), *ended("tool_use")],
        Expected(calls=[("opening_hours", {})]),
    ),
    "no input": (
        [started(), *tool(name="opening_hours", input=None), *ended("tool_use")],
        Expected(calls=[("opening_hours", {})]),
    ),
    "words before a call": (
        [started(), *text("Looking. "), *tool(PARIS, index=1), *ended("tool_use")],
        Expected(said="Looking.", calls=IN_PARIS.calls),
    ),
    "words after a call": (
        [started(), *tool(PARIS), *text("There.", index=1), *ended("tool_use")],
        Expected(said="There.", calls=IN_PARIS.calls),
    ),
    "arguments cut off": (
        [started(), *tool('{"city": "Par'), *ended("max_tokens")],
        Expected(failed="broke its answer off in a tool call (max_tokens)"),
    ),
    "arguments that are broken": (
        [started(), *tool('{"city": "Par'), *ended("tool_use")],
        Expected(failed="called weather with arguments that are not a whole"),
    ),
    "a list as arguments": (
        [started(), *tool('["Paris"]'), *ended("tool_use")],
        Expected(failed="not a whole JSON object"),
    ),
    "no name": (
        [started(), *tool(PARIS, name=None), *ended("tool_use")],
        Expected(failed="called a tool without naming it"),
    ),
    "no call": (
        [started(), *text("Looking."), *ended("tool_use")],
        Expected(said="Looking.", failed="for a tool call and sent none (tool_use)"),
    ),
    "a call that breaks off": ([started(), *tool('{"city": ')], Expected(failed="ended its stream in a tool call")),
    # Errors.
    "an error": (
        [event("error", error={"type": "api_error", "message": "Internal failure"})],
        Expected(failed="reported an error in the middle of its answer: Internal failure."),
    ),
    "an error after words": (
        [started(), *text("Hello there."), event("error", error={"type": "overloaded_error", "message": "Overloaded"})],
        Expected(said="Hello there.", failed="Overloaded"),
    ),
    "an error as words": ([event("error", error="no more memory")], Expected(failed="no more memory")),
    "an error that is no JSON": ([b"event: error\ndata: no more memory\n\n"], Expected(failed="no more memory")),
    "an error without an event": ([b'{"error": {"message": "quota exceeded"}}'], Expected(failed="quota exceeded")),
}


@pytest.mark.parametrize("case", CASES)
async def test_whatever_a_server_streams_is_an_answer_once_or_a_failure_with_a_reason(case: str) -> None:
    pieces, expected = CASES[case]
    async with serving(pieces) as server:
        client = make_client(base_url=server.url, api_key="none", silence=2.0)
        options: dict[str, Any] = {"model": MODEL, "prompt": "Be brief.", "max_tokens": 50, "silence": 2.0}
        try:
            check(await answered(AnthropicService(client, where="the test", **options)), expected)
        finally:
            await client.close()
