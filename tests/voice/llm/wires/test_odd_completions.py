"""Chat Completions as servers send them, with the real SDK: said and called once, or failed with a reason."""

import asyncio
import gzip
import json
from collections.abc import AsyncGenerator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pipecat.frames.frames import Frame
from pipecat.processors.aggregators.llm_context import LLMContext

from tests.voice.llm.wires.scripted_server import MODEL, Expected, answered, check, serving
from voice.llm.wires.chat.service import ChatService, make_client
from voice.llm.wires.delivery import EVENTS_AT_ONCE, deliver
from voice.llm.wires.events import Event, Text

Pieces = Sequence[bytes | float | None]


def event(body: object, field: str = "data: ") -> bytes:
    return f"{field}{json.dumps(body)}\n\n".encode()


def choices(*made: dict[str, Any], **more: Any) -> bytes:
    return event({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": made, **more})


def chunk(delta: Any, finish: Any = None, **more: Any) -> bytes:
    return choices({"index": 0, "delta": delta, "finish_reason": finish}, **more)


def text(words: Any, finish: Any = None, **more: Any) -> bytes:
    return chunk({"content": words}, finish, **more)


def usage(**tokens: Any) -> bytes:
    return choices(usage=tokens)


def call(arguments: Any, name: Any = "weather", **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **more}


def called(*calls: dict[str, Any], finish: Any = None, **more: Any) -> bytes:
    return chunk({"tool_calls": list(calls), **more}, finish)


ROLE = chunk({"role": "assistant", "content": None})
STOP, TOOLS, CUT, DONE = chunk({}, "stop"), chunk({}, "tool_calls"), chunk({}, "length"), b"data: [DONE]\n\n"
HELLO = [text("Hello "), text("there.")]
SAID = Expected(said="Hello there.")
PARIS, ROME = '{"city": "Paris"}', '{"city": "Rome"}'
IN_PARIS = Expected(calls=[("weather", {"city": "Paris"})])
IN_BOTH = Expected(calls=[("weather", {"city": "Paris"}), ("weather", {"city": "Rome"})])
HOURS = Expected(calls=[("opening_hours", {})])
NOT_WHOLE = "called weather with arguments that are not a whole JSON object"
FULL = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
NULLS = {"prompt_tokens": 10, "completion_tokens": None, "total_tokens": None}

CASES: dict[str, tuple[Pieces, Expected]] = {
    # How an answer ends.
    "plain": ([ROLE, *HELLO, STOP, usage(**FULL), DONE], Expected(said="Hello there.", completion=5)),
    "an empty reason with every word": ([text("Hello ", ""), 0.3, text("there.", ""), STOP, DONE], SAID),
    "a reason with every word": ([text("Hello ", "stop"), 0.3, text("there.", "stop"), DONE], SAID),
    "a reason that is a number": ([text("Hello ", 0), text("there.", 1), DONE], SAID),
    "the last chunk twice": ([text("Hello "), text("there.", "stop"), text("there.", "stop"), DONE], SAID),
    "the whole message at the end": (
        [*HELLO, choices({"index": 0, "message": {"content": "Hello there."}, "finish_reason": "stop"}), DONE],
        SAID,
    ),
    "the whole answer with the end": ([*HELLO, text("Hello there.", "stop"), DONE], SAID),
    "a long answer, and once more": (
        [
            text("It is open "),
            text("until "),
            text("seven o'clock."),
            text("It is open until seven o'clock."),
            STOP,
            DONE,
        ],
        Expected(said="It is open until seven o'clock."),
    ),
    "longer with every piece": (
        [*(text("Hello there."[:end]) for end in (2, 6, 9, 12)), STOP, DONE],
        SAID,
    ),
    "longer with every piece, each with an end": (
        [*(text("Hello there."[:end], "stop") for end in (2, 6, 9, 12)), DONE],
        SAID,
    ),
    "longer with every piece, and once more": (
        [*(text("Hello there."[:end]) for end in (2, 6, 12)), text("Hello there.", "stop"), DONE],
        SAID,
    ),
    "longer once": ([text("No"), text("Nobody is here."), STOP, DONE], Expected(said="NoNobody is here.")),
    "longer by chance": ([text("a"), text("an"), text(" apple."), DONE], Expected(said="aan apple.")),
    "longer, and broken off": (
        [text("He"), text("Hello"), None],
        Expected(said="HeHello", failed="broke the connection off"),
    ),
    "the same word twice": ([text("No. "), text("No. ", "stop"), DONE], Expected(said="No. No.")),
    "words after the end": ([text("Hello ", "stop"), text("there."), STOP, DONE], SAID),
    "words after the stream": ([*HELLO, STOP, DONE, *HELLO], SAID),
    "no end": ([*HELLO], SAID),
    "no last line": ([*HELLO, b"data: " + json.dumps({"choices": []}).encode()], SAID),
    "a break before words": ([ROLE, None], Expected(failed="broke the connection off")),
    "a break after words": ([*HELLO, None], Expected(said="Hello there.", failed="broke the connection off")),
    "a break after the end": ([*HELLO, STOP, None], SAID),
    "silence after the end": ([*HELLO, STOP, 3.0], SAID),
    "only the end": ([DONE], Expected(failed="answered with an empty stream, not with a chat completion")),
    "nothing": ([], Expected(failed="answered with an empty stream")),
    "no words": ([ROLE, STOP, DONE], Expected(failed="without words")),
    # Usage.
    "usage with nulls": ([*HELLO, STOP, usage(**NULLS), DONE], Expected(said="Hello there.", completion=-3)),
    "usage without the answer": (
        [*HELLO, STOP, usage(prompt_tokens=10), DONE],
        Expected(said="Hello there.", completion=-3),
    ),
    "usage in the first chunk": (
        [chunk({"role": "assistant"}, usage={"prompt_tokens_details": {"cached_tokens": 0}}), *HELLO, STOP, DONE],
        Expected(said="Hello there.", completion=-3),
    ),
    "usage in every chunk": (
        [text(word, usage={**FULL, "completion_tokens": 0}) for word in ("Hello ", "there.")]
        + [STOP, usage(**NULLS), DONE],
        Expected(said="Hello there.", completion=-3),
    ),
    "usage as text": (
        [*HELLO, STOP, usage(prompt_tokens="10", completion_tokens="5"), DONE],
        Expected(said="Hello there.", completion=5),
    ),
    "usage as a list": ([*HELLO, STOP, choices(usage=[1, 2]), DONE], SAID),
    "usage as words": ([*HELLO, STOP, choices(usage="much"), DONE], SAID),
    "usage below zero": ([*HELLO, STOP, usage(prompt_tokens=-1, completion_tokens=-1), DONE], SAID),
    "usage that is no number": (
        [*HELLO, STOP, usage(prompt_tokens=float("nan"), completion_tokens=float("inf")), DONE],
        SAID,
    ),
    "usage that no computer holds": (
        [*HELLO, STOP, usage(prompt_tokens=10**400, completion_tokens="9" * 5000), DONE],
        SAID,
    ),
    "an index of some thousand digits": (
        [b'data: {"choices":[{"index":' + b"9" * 5000 + b',"delta":{"content":"Hello there."}}]}\n\n', STOP, DONE],
        SAID,
    ),
    "nulls beside a tool": (
        [called(call(PARIS, index=0, id="a")), chunk({}, "tool_calls", usage=NULLS), DONE],
        Expected(calls=IN_PARIS.calls, completion=-5),
    ),
    # Tool calls.
    "in pieces": (
        [called(call('{"city": ', index=0, id="a")), called(call('"Paris"}', None, index=0)), TOOLS, DONE],
        IN_PARIS,
    ),
    "an index twice": (
        [called(call(PARIS, index=0, id="a")), called(call(ROME, index=0, id="b")), TOOLS, DONE],
        IN_BOTH,
    ),
    "an index twice without ids": ([called(call(PARIS, index=0)), called(call(ROME, index=0)), TOOLS, DONE], IN_BOTH),
    "two in a chunk": ([called(call(PARIS, index=0, id="a"), call(ROME, index=1, id="b")), TOOLS, DONE], IN_BOTH),
    "two with the same id": ([called(call(PARIS, index=0, id="a"), call(ROME, index=1, id="a")), TOOLS, DONE], IN_BOTH),
    "two in turns": (
        [
            called(call('{"city": ', index=0, id="a"), call('{"city": ', index=1, id="b")),
            called(call('"Rome"}', None, index=1), call('"Paris"}', None, index=0)),
            TOOLS,
            DONE,
        ],
        IN_BOTH,
    ),
    "the name with every piece": (
        [called(call(piece, index=0, id="a")) for piece in ("", '{"city": ', '"Paris"}')] + [TOOLS, DONE],
        IN_PARIS,
    ),
    "the name in pieces": (
        [called(call("", "wea", index=0, id="a")), called(call(PARIS, "ther", index=0)), TOOLS, DONE],
        IN_PARIS,
    ),
    "the name longer with every piece": (
        [called(call("", "wea", index=0, id="a")), called(call(PARIS, "weather", index=0)), TOOLS, DONE],
        IN_PARIS,
    ),
    "the call twice": ([called(call(PARIS, index=0, id="a"))] * 2 + [TOOLS, DONE], IN_PARIS),
    "the call twice without an id": ([called(call(PARIS, index=0))] * 2 + [TOOLS, DONE], IN_PARIS),
    "the arguments longer with every piece": (
        [called(call(PARIS[:n], index=0, id="a")) for n in (2, 9, len(PARIS))] + [TOOLS, DONE],
        IN_PARIS,
    ),
    "the call twice at another index": (
        [called(call(PARIS, index=0, id="a")), called(call(PARIS, index=1, id="a")), TOOLS, DONE],
        IN_PARIS,
    ),
    "the call twice with another id": (
        [called(call(PARIS, index=0, id="a")), called(call(PARIS, index=0, id="b")), TOOLS, DONE],
        IN_PARIS,
    ),
    "the call twice, spaced otherwise": (
        [called(call(PARIS, index=0, id="a")), called(call('{"city":"Paris"}', index=0, id="a")), TOOLS, DONE],
        IN_PARIS,
    ),
    "announced and sent at another index": (
        [called(call("", index=0, id="a")), called(call(PARIS, index=1, id="a")), TOOLS, DONE],
        IN_PARIS,
    ),
    "both kinds of call": (
        [
            chunk({"tool_calls": [call(PARIS, index=0, id="a")], "function_call": call(PARIS)["function"]}),
            TOOLS,
            DONE,
        ],
        IN_PARIS,
    ),
    "the same for two calls": (
        [called(call(PARIS, index=0, id="a"), call(PARIS, index=1, id="b")), TOOLS, DONE],
        Expected(calls=[*IN_PARIS.calls, *IN_PARIS.calls]),
    ),
    "arguments and then nothing": (
        [called(call(PARIS, index=0, id="a")), *(called(call(each, None, index=0)) for each in "{}"), TOOLS, DONE],
        Expected(failed=NOT_WHOLE),
    ),
    "arguments and then others": (
        [called(call(PARIS, index=0, id="a")), called(call(ROME, None, index=0)), TOOLS, DONE],
        Expected(failed=NOT_WHOLE),
    ),
    "an empty object before the arguments": (
        [called(call("{}", index=0, id="a")), called(call(PARIS, None, index=0)), TOOLS, DONE],
        IN_PARIS,
    ),
    "a number that is none": (
        [called(call('{"city": NaN}', index=0, id="a")), TOOLS, DONE],
        Expected(failed=NOT_WHOLE),
    ),
    "a number that is too large": (
        [called(call('{"city": 1e999}', index=0, id="a")), TOOLS, DONE],
        Expected(failed=NOT_WHOLE),
    ),
    "no end after a call": (
        [text("One moment."), called(call(PARIS, index=0, id="a"))],
        Expected(said="One moment.", failed="ended its stream in a tool call"),
    ),
    "no reason but the end": ([called(call(PARIS, index=0, id="a")), DONE], IN_PARIS),
    "a namespace": ([called(call(PARIS, "functions.weather", index=0, id="a")), TOOLS, DONE], IN_PARIS),
    "two names without an index": (
        [called(call("", "opening_hours")), called(call(PARIS)), TOOLS, DONE],
        Expected(calls=[*HOURS.calls, *IN_PARIS.calls]),
    ),
    "two names at one index": (
        [called(call("", "opening_hours", index=0)), called(call(PARIS, index=0)), TOOLS, DONE],
        Expected(calls=[*HOURS.calls, *IN_PARIS.calls]),
    ),
    "twenty calls": (
        [called(*(call(PARIS, index=each, id=f"a{each}") for each in range(20))), TOOLS, DONE],
        Expected(calls=[*IN_PARIS.calls] * 20),
    ),
    "too many calls": (
        [called(*(call(PARIS, index=each, id=f"a{each}") for each in range(21))), TOOLS, DONE],
        Expected(failed="called more than 20 tools in one answer"),
    ),
    "no index": ([called(call(PARIS, id="a")), called(call(ROME, id="b")), TOOLS, DONE], IN_BOTH),
    "no index in pieces": ([called(call('{"city": ', id="a")), called(call('"Paris"}', None)), TOOLS, DONE], IN_PARIS),
    "an index as text": ([called(call(PARIS, index="0", id="a")), TOOLS, DONE], IN_PARIS),
    "no id": ([called(call(PARIS, index=0)), TOOLS, DONE], IN_PARIS),
    "an id that is a number": ([called(call(PARIS, index=0, id=0)), TOOLS, DONE], IN_PARIS),
    "an empty id": ([called(call(PARIS, index=0, id="")), TOOLS, DONE], IN_PARIS),
    "an object as arguments": ([called(call({"city": "Paris"}, index=0, id="a")), TOOLS, DONE], IN_PARIS),
    "arguments as JSON in JSON": ([called(call(json.dumps(PARIS), index=0, id="a")), TOOLS, DONE], IN_PARIS),
    "no arguments": ([called(call(None, "opening_hours", index=0, id="a")), TOOLS, DONE], HOURS),
    "empty arguments": ([called(call("", "opening_hours", index=0, id="a")), TOOLS, DONE], HOURS),
    "null as arguments": ([called(call("null", "opening_hours", index=0, id="a")), TOOLS, DONE], HOURS),
    "arguments cut off": (
        [called(call('{"city": "Par', index=0, id="a")), CUT, DONE],
        Expected(failed="broke its answer off in a tool call (length)"),
    ),
    "arguments cut off and said to be whole": (
        [called(call('{"city": "Par', index=0, id="a")), TOOLS, DONE],
        Expected(failed=NOT_WHOLE),
    ),
    "one of two cut off": (
        [called(call(PARIS, index=0, id="a"), call('{"ci', index=1, id="b")), TOOLS, DONE],
        Expected(failed=NOT_WHOLE),
    ),
    "cut off before arguments": (
        [called(call("", "opening_hours", index=0, id="a"))],
        Expected(failed="ended its stream in a tool call"),
    ),
    "a list as arguments": ([called(call('["Paris"]', index=0, id="a")), TOOLS, DONE], Expected(failed=NOT_WHOLE)),
    "text as arguments": ([called(call('"Paris"', index=0, id="a")), TOOLS, DONE], Expected(failed=NOT_WHOLE)),
    "no name": (
        [called(call(PARIS, None, index=0, id="a")), TOOLS, DONE],
        Expected(failed="called a tool without naming it"),
    ),
    "a name nobody declared": (
        [called(call("{}", "book", index=0, id="a")), TOOLS, DONE],
        Expected(calls=[("book", {})]),
    ),
    "no call at all": (
        [text("Let me look."), TOOLS, DONE],
        Expected(said="Let me look.", failed="ended its answer for a tool call and sent none (tool_calls)"),
    ),
    "null for calls": ([text("Hello there."), chunk({"tool_calls": None}), STOP, DONE], SAID),
    "calls that are no objects": ([text("Hello there."), chunk({"tool_calls": ["weather", 7]}), STOP, DONE], SAID),
    "words beside a call": (
        [called(call(PARIS, index=0, id="a"), content="Looking. "), TOOLS, DONE],
        Expected(said="Looking.", calls=IN_PARIS.calls),
    ),
    "a call that ends with stop": ([called(call(PARIS, index=0, id="a")), STOP, DONE], IN_PARIS),
    "the older kind of call": (
        [
            chunk({"function_call": {"name": "weather", "arguments": '{"city": '}}),
            chunk({"function_call": {"arguments": '"Paris"}'}}, "function_call"),
            DONE,
        ],
        IN_PARIS,
    ),
    # Contents.
    "parts": (
        [
            chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]}),
            text([{"type": "text", "text": "Hello "}]),
            text("there."),
            STOP,
            DONE,
        ],
        SAID,
    ),
    "a number": ([text(42), text(" is the answer."), STOP, DONE], Expected(said="42 is the answer.")),
    "a part by itself": ([text({"type": "text", "text": "Hello there."}), STOP, DONE], SAID),
    "null": ([text(None), *HELLO, STOP, DONE], SAID),
    "no delta": ([chunk(None), *HELLO, chunk(None, "stop"), DONE], SAID),
    "null for choices": ([event({"choices": None}), *HELLO, STOP, DONE], SAID),
    "no choices": ([choices(), *HELLO, choices(), STOP, DONE], SAID),
    "another choice": (
        [
            choices({"index": 1, "delta": {"content": "No. "}}, {"index": 0, "delta": {"content": "Hello "}}),
            text("there."),
            STOP,
            DONE,
        ],
        SAID,
    ),
    "a refusal": (
        [chunk({"refusal": "I cannot help with that."}), STOP, DONE],
        Expected(said="I cannot help with that."),
    ),
    "reasoning beside words": (
        [chunk({"reasoning_content": "Hm."}), chunk({"reasoning": "Hm."}), *HELLO, STOP, DONE],
        SAID,
    ),
    "of another kind of completion": (
        [choices({"index": 0, "text": "Hello there.", "finish_reason": "stop"}), DONE],
        SAID,
    ),
    # The stream.
    "an id alone": ([b"id: 7\n", *HELLO, b": still here\n\n", b"id: 8\n\n", STOP, DONE], SAID),
    "a pause alone": ([b"retry: 100\n\n", *HELLO, b": still here\n\n", STOP, DONE], SAID),
    "empty data": ([*HELLO, b"data:\n\n", b"data\n\n", STOP, DONE], SAID),
    "words for data": ([b"data: PROCESSING\n\n", *HELLO, b"data: null\n\n", STOP, DONE], SAID),
    "pings": ([text("Hello "), b"event: ping\ndata: {}\n\n", text("there."), STOP, DONE], SAID),
    "carriage returns and line feeds": ([piece.replace(b"\n", b"\r\n") for piece in (*HELLO, STOP, DONE)], SAID),
    "carriage returns": ([piece.replace(b"\n", b"\r") for piece in (*HELLO, STOP, DONE)], SAID),
    "no empty lines": ([piece.replace(b"\n\n", b"\n") for piece in (*HELLO, STOP, DONE)], SAID),
    "JSON over several lines": (
        [
            b'data: {"choices": [{"index": 0,\r\n',
            b'data: "delta": {"content": "Hello there."}}]}\r\n',
            b"\r\n",
            STOP,
            DONE,
        ],
        SAID,
    ),
    "a byte order mark": ([b"\xef\xbb\xbf", *HELLO, STOP, DONE], SAID),
    "byte by byte": ([bytes([byte]) for piece in (*HELLO, STOP, DONE) for byte in piece], SAID),
    "a line separator inside a text": (
        [b'data: {"choices":[{"delta":{"content":"Hello\xe2\x80\xa8there."}}]}\n\n', STOP, DONE],
        SAID,
    ),
    "bytes that are no text": (
        [b'data: {"choices":[{"delta":{"content":"Hello there\xff."}}]}\n\n', STOP, DONE],
        Expected(said="Hello there\ufffd."),
    ),
    "half a megabyte of nothing": ([text("Hello ", x="x" * 500_000), text("there."), STOP, DONE], SAID),
    "too long an event": (
        [b"data: {" + b" " * 600_000, b" " * 600_000],
        Expected(failed="sent an event that is longer than 1,048,576 bytes"),
    ),
    "nested too deep": (
        [b"data: {" + b'"a":[' * 100_000 + b"\n\n"],
        Expected(failed="answered with something other than JSON"),
    ),
    "broken JSON after words": (
        [*HELLO, b"data: {not\n\n"],
        Expected(said="Hello there.", failed="something other than JSON"),
    ),
    # Errors.
    "an error": (
        [event({"error": {"message": "quota exceeded", "code": 429}}), DONE],
        Expected(failed="reported an error: quota exceeded."),
    ),
    "an error as words": (
        [event({"error": "no more memory"}), DONE],
        Expected(failed="reported an error: no more memory."),
    ),
    "an error in a list": (
        [event([{"error": {"message": "no more memory"}}]), DONE],
        Expected(failed="no more memory"),
    ),
    "an error beside words": (
        [*HELLO, event({"error": {"message": "overloaded"}})],
        Expected(said="Hello there.", failed="overloaded"),
    ),
    "an error beside choices": (
        [
            choices(
                {"index": 0, "delta": {"content": ""}, "finish_reason": "error"},
                error={"message": "overloaded", "code": 502},
            )
        ],
        Expected(failed="reported an error: overloaded"),
    ),
    "an event that is named so": (
        [b"event: error\ndata: no more memory\n\n"],
        Expected(failed="reported an error: no more memory."),
    ),
    "an error without a name": (
        [event({"object": "error", "message": "too long", "code": 400})],
        Expected(failed="too long"),
    ),
    "an error with null for choices": (
        [event({"choices": None, "error_message": "too long"})],
        Expected(failed="too long"),
    ),
    "an error in a detail": ([event({"detail": "Not Found"})], Expected(failed="reported an error: Not Found.")),
    "no error": ([text("Hello there.", error=None), STOP, DONE], SAID),
}


async def asked(pieces: Pieces, head: str | None = None) -> Any:
    async with serving(pieces, head) as server:
        client = make_client(base_url=f"{server.url}/v1", api_key="none", silence=2.0)
        try:
            chat = ChatService(client, model=MODEL, prompt="Be brief.", max_tokens=50, where="the test")
            return await answered(chat)
        finally:
            await client.close()


@pytest.mark.parametrize("case", CASES)
async def test_whatever_a_server_streams_is_an_answer_once_or_a_failure_with_a_reason(case: str) -> None:
    pieces, expected = CASES[case]
    check(await asked(pieces), expected)


WHOLE = {
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"content": "Hello there."}, "finish_reason": "stop"}],
}
JSON = "Content-Type: application/json"
UNSTREAMED: dict[str, tuple[bytes, str, Expected]] = {
    "an answer": (json.dumps(WHOLE).encode(), JSON, SAID),
    "an answer that is indented": (json.dumps(WHOLE, indent=2).encode(), JSON, SAID),
    "chunks as lines": (
        b"\n".join(json.dumps({"choices": [{"delta": {"content": word}}]}).encode() for word in ("Hello ", "there.")),
        "Content-Type: application/x-ndjson",
        SAID,
    ),
    "an error": (
        b'{"error": {"message": "quota exceeded", "code": 429}}',
        JSON,
        Expected(failed="reported an error: quota exceeded."),
    ),
    "an error in a list": (
        b'[{\n  "error": {"message": "quota exceeded"}\n}]',
        JSON,
        Expected(failed="quota exceeded"),
    ),
    "an error that ends early": (b'{"error": {"mess', JSON, Expected(failed="answered with something other than JSON")),
    "plain words": (
        b"quota exceeded",
        "Content-Type: text/plain",
        Expected(failed="answered with text/plain (quota exceeded), not with"),
    ),
    "something else": (
        b'{"status": "ok"}',
        JSON,
        Expected(failed="answered with application/json, not with a chat completion"),
    ),
    "nothing": (b"", "X: y", Expected(failed="answered with nothing, not with")),
    "compressed": (
        gzip.compress(b"".join([*HELLO, STOP, DONE])),
        "Content-Type: text/event-stream\r\nContent-Encoding: gzip",
        SAID,
    ),
}


@pytest.mark.parametrize("case", UNSTREAMED)
async def test_a_server_that_does_not_stream_is_understood_too(case: str) -> None:
    body, head, expected = UNSTREAMED[case]
    check(await asked([body], head), expected)


async def test_a_burst_of_chunks_leaves_the_event_loop_to_others_in_between() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def words() -> AsyncGenerator[Event]:
        for _ in range(10 * EVENTS_AT_ONCE):
            yield Text("word ")

    task = asyncio.create_task(other())
    pushed: list[Frame] = []

    async def push(frame: Frame) -> None:
        pushed.append(frame)

    await deliver(cast(Any, SimpleNamespace(push_frame=push)), LLMContext([]), words())
    task.cancel()
    assert len(pushed) == 10 * EVENTS_AT_ONCE
    assert turns >= 10


@pytest.mark.parametrize(
    ("told", "queued"),
    [(0.25, 0.25), (0, 0.0), (float("nan"), None), (float("inf"), None), (-1e308, None), (10**400, None), ("1", None)],
    ids=str,
)
async def test_a_time_that_is_none_is_unknown(told: Any, queued: float | None) -> None:
    for more in ({"time_info": {"queue_time": told}}, {"x_groq": {"usage": {"queue_time": told}}}):
        attempt = await asked([text("Hello there.", **more), STOP, DONE])
        assert attempt.state.outcome == "complete"
        assert attempt.note.queued == queued
