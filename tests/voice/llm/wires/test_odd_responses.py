"""Responses as servers send them over their sockets: said and called once, or failed with a reason."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from pipelines.lab.simulator.simulator import Simulator
from tests.voice.llm.wires.responses.rig import in_call, listening, make_service
from tests.voice.llm.wires.scripted_server import MODEL, Expected, answered, check

Events = Sequence[dict[str, Any] | str]


def event(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **data}


def words(*pieces: Any, **more: Any) -> Events:
    return [event("output_text.delta", delta=piece, **{"item_id": "m1", "output_index": 0, **more}) for piece in pieces]


def message(*texts: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": "m1", "content": [{"type": "output_text", "text": each} for each in texts], **more}


def tool(arguments: Any = "", name: Any = "weather", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "id": "f1", "call_id": "c1", "name": name, "arguments": arguments, **more}


def added(item: dict[str, Any], **more: Any) -> dict[str, Any]:
    return event("output_item.added", item=item, **{"output_index": 0, **more})


def done(item: dict[str, Any], **more: Any) -> dict[str, Any]:
    return event("output_item.done", item=item, **{"output_index": 0, **more})


def piece(text: Any, **more: Any) -> dict[str, Any]:
    return event("function_call_arguments.delta", delta=text, **{"item_id": "f1", "output_index": 0, **more})


def completed(*output: Any, **response: Any) -> dict[str, Any]:
    usage = {"input_tokens": 9, "output_tokens": 12}
    whole = {"id": "r1", "status": "completed", "output": output, "usage": usage, **response}
    return event("completed", response=whole)


CREATED = event("created", response={"id": "r1"})
SAID = Expected(said="Hello there.")
PARIS, ROME = '{"city": "Paris"}', '{"city": "Rome"}'
IN_PARIS = Expected(calls=[("weather", {"city": "Paris"})])
IN_BOTH = Expected(calls=[("weather", {"city": "Paris"}), ("weather", {"city": "Rome"})])
SECOND = {"id": "f2", "call_id": "c2"}

CASES: dict[str, tuple[Events, Expected]] = {
    "plain": (
        [CREATED, *words("Hello ", "there."), completed(message("Hello there."))],
        Expected(said="Hello there.", completion=12),
    ),
    "all that a server may repeat": (
        [
            CREATED,
            added(message()),
            *words("Hello ", "there."),
            event("output_text.done", text="Hello there.", item_id="m1", output_index=0),
            done(message("Hello there.")),
            completed(message("Hello there.")),
        ],
        SAID,
    ),
    "words at the end of a part": ([event("output_text.done", text="Hello there.", item_id="m1"), completed()], SAID),
    "words at the end of a message": ([done(message("Hello there.")), completed()], SAID),
    "words at the end": ([completed(message("Hello ", "there."))], SAID),
    "words where a part begins": (
        [
            event("content_part.added", part={"type": "output_text", "text": "Hello "}, item_id="m1"),
            *words("there."),
            completed(),
        ],
        SAID,
    ),
    "words without an item": ([*words("Hello ", "there.", item_id=None, output_index=None), completed()], SAID),
    "parts for words": ([*words([{"type": "output_text", "text": "Hello "}], "there."), completed()], SAID),
    "a number": ([*words(42, " it is."), completed()], Expected(said="42 it is.")),
    "null": ([*words(None, "Hello there."), completed()], SAID),
    "a refusal": (
        [event("refusal.delta", delta="I cannot."), event("refusal.done", refusal="I cannot."), completed()],
        Expected(said="I cannot."),
    ),
    "unknown events": (
        [event("odd"), {"type": "ping"}, *words("Hello there."), event("output_item.added", item="odd"), completed()],
        SAID,
    ),
    "a response that is no object": (
        [event("created", response="r1"), event("in_progress", response=[1]), *words("Hello there."), completed()],
        SAID,
    ),
    "no response": ([*words("Hello there."), event("completed")], SAID),
    "an output that is no list": ([*words("Hello there."), completed(output="odd")], SAID),
    "nulls for tokens": (
        [*words("Hello there."), completed(usage={"input_tokens": 9, "output_tokens": None})],
        Expected(said="Hello there.", completion=-3),
    ),
    "a usage of another kind": ([*words("Hello there."), completed(usage="much")], SAID),
    "the longest answer": (
        [*words("Hello there."), event("incomplete", response={"incomplete_details": {"reason": "max_output_tokens"}})],
        SAID,
    ),
    "places, then an id": (
        [
            CREATED,
            *words("Hello ", "there.", item_id=None),
            event("output_text.done", text="Hello there.", item_id="m1"),
            done(message("Hello there."), output_index=None),
            completed(),
        ],
        SAID,
    ),
    "another id in each event": (
        [
            *words("Hello ", item_id="a"),
            *words("there.", item_id="b"),
            event("output_text.done", text="Hello there.", item_id="c", output_index=0, content_index=0),
            done(message("Hello there.", id="d")),
            completed(message("Hello there.", id="e")),
        ],
        SAID,
    ),
    "all words where a part begins and again": (
        [
            event("content_part.added", part={"type": "output_text", "text": "Hello there."}, item_id="m1"),
            *words("Hello ", "there. "),
            event("content_part.done", part={"type": "output_text", "text": "Hello there."}, item_id="m1"),
            completed(),
        ],
        SAID,
    ),
    "another part": (
        [
            *words("Hello ", "there."),
            event("output_text.done", text="Hello there.", item_id="m1", content_index=1),
            completed(),
        ],
        SAID,
    ),
    "two parts at their ends": (
        [
            event("output_text.done", text=text, item_id="m1", content_index=index)
            for index, text in enumerate(("Hello ", "there."))
        ]
        + [completed()],
        SAID,
    ),
    "two messages at their ends": (
        [done(message("Hello ")), done(message("there.", id="m2"), output_index=1), completed()],
        SAID,
    ),
    "a failure after the whole answer": (
        [
            *words("Hello ", "there."),
            event("output_text.done", text="Hello there.", item_id="m1"),
            event("failed", response={"error": {"message": "full"}}),
        ],
        SAID,
    ),
    "no words": ([completed()], Expected(failed="without words")),
    # Tool calls.
    "a call": (
        [
            added(tool()),
            piece('{"city": '),
            piece('"Paris"}'),
            event("function_call_arguments.done", item_id="f1", arguments=PARIS),
            done(tool(PARIS)),
            completed(tool(PARIS)),
        ],
        IN_PARIS,
    ),
    "a call at its end": ([done(tool(PARIS)), completed()], IN_PARIS),
    "a call at the end": ([completed(tool(PARIS), tool(ROME, **SECOND))], IN_BOTH),
    "arguments where a call begins": ([added(tool(PARIS)), completed()], IN_PARIS),
    "arguments as an object": ([added(tool()), done(tool({"city": "Paris"})), completed()], IN_PARIS),
    "a call announced twice": ([added(tool()), added(tool()), piece(PARIS), done(tool(PARIS)), completed()], IN_PARIS),
    "the end of a call twice": (
        [added(tool()), piece(PARIS), done(tool(PARIS)), done(tool(PARIS)), completed()],
        IN_PARIS,
    ),
    "places only": (
        [added(tool(id=None)), piece(PARIS, item_id=None), done(tool(PARIS, id=None)), completed()],
        IN_PARIS,
    ),
    "ids only": ([added(tool(), output_index=None), piece(PARIS, output_index=None), completed()], IN_PARIS),
    "ids here and places there": (
        [added(tool()), piece('{"city": ', output_index=None), piece('"Paris"}', item_id=None), completed()],
        IN_PARIS,
    ),
    "neither": (
        [added(tool(id=None), output_index=None), piece(PARIS, item_id=None, output_index=None), completed()],
        IN_PARIS,
    ),
    "two without either": (
        [
            each
            for city in (PARIS, ROME)
            for each in (added(tool(id=None), output_index=None), piece(city, item_id=None, output_index=None))
        ]
        + [completed()],
        IN_BOTH,
    ),
    "two in turns": (
        [
            added(tool()),
            added(tool(**SECOND), output_index=1),
            piece('{"city": '),
            piece(ROME, item_id="f2", output_index=1),
            piece('"Paris"}'),
            completed(),
        ],
        IN_BOTH,
    ),
    "places, then an id, of a call": (
        [
            added(tool(id=None)),
            piece(PARIS, item_id=None),
            event("function_call_arguments.done", item_id="f1", arguments=PARIS),
            done(tool(PARIS), output_index=None),
            completed(tool(PARIS)),
        ],
        IN_PARIS,
    ),
    "another id in each event of a call": (
        [
            added(tool(id="a")),
            piece('{"city": ', item_id="b"),
            piece('"Paris"}', item_id="c"),
            event("function_call_arguments.done", item_id="d", output_index=0, arguments=PARIS),
            done(tool('{"city":"Paris"}', id="e")),
            completed(),
        ],
        IN_PARIS,
    ),
    "the same call at two places": ([done(tool(PARIS)), done(tool(PARIS), output_index=1), completed()], IN_PARIS),
    "two with places, then ids": (
        [
            added(tool(id=None)),
            piece(PARIS, item_id=None),
            added(tool(**{**SECOND, "id": None}), output_index=1),
            piece(ROME, item_id=None, output_index=1),
            event("function_call_arguments.done", item_id="f1", arguments=PARIS),
            event("function_call_arguments.done", item_id="f2", arguments=ROME),
            completed(),
        ],
        IN_BOTH,
    ),
    "other arguments at its end": (
        [added(tool()), piece(PARIS), done(tool(ROME)), completed()],
        Expected(failed="arguments that are not a whole JSON object"),
    ),
    "two with one id": ([added(tool(PARIS)), added(tool(ROME, id="f2"), output_index=1), completed()], IN_BOTH),
    "an id that is a number": ([added(tool(PARIS, call_id=7)), completed()], IN_PARIS),
    "no id": ([added(tool(PARIS, call_id=None)), completed()], IN_PARIS),
    "the name at the end": ([added(tool(name=None)), piece(PARIS), done(tool(PARIS)), completed()], IN_PARIS),
    "no arguments": ([added(tool(None, "opening_hours")), completed()], Expected(calls=[("opening_hours", {})])),
    "no name": ([added(tool(PARIS, None)), completed()], Expected(failed="called a tool without naming it")),
    "broken arguments": (
        [added(tool()), piece('{"city": "Par'), completed()],
        Expected(failed="arguments that are not a whole JSON object"),
    ),
    "a list as arguments": (
        [done(tool('["Paris"]')), completed()],
        Expected(failed="arguments that are not a whole JSON object"),
    ),
    "arguments cut off": (
        [
            added(tool()),
            piece('{"ci'),
            event("incomplete", response={"incomplete_details": {"reason": "max_output_tokens"}}),
        ],
        Expected(failed="broke its answer off in a tool call (max_output_tokens)"),
    ),
    # Errors.
    "an error": (
        [{"type": "error", "error": {"message": "no more memory"}}],
        Expected(failed="reported an error: no more memory."),
    ),
    "an error as words": (
        [{"type": "error", "error": "no more memory"}],
        Expected(failed="reported an error: no more memory."),
    ),
    "an error without an object": (
        [{"type": "error", "message": "no more memory", "code": "x"}],
        Expected(failed="no more memory"),
    ),
    "an error without a type": ([{"error": {"message": "no more memory"}}], Expected(failed="no more memory")),
    "an error with a status": (
        [{"type": "error", "status": 503, "error": {"message": "full"}}],
        Expected(failed="answered HTTP 503: full."),
    ),
    "a failure": (
        [event("failed", response={"error": {"message": "full"}})],
        Expected(failed="reported an error: full."),
    ),
    "a failure as words": ([event("failed", response={"error": "full"})], Expected(failed="reported an error: full.")),
    "a failure that is said to be complete": (
        [completed(status="failed", error={"message": "full"})],
        Expected(failed="full"),
    ),
    "an error after words": (
        [*words("Hello there."), {"type": "error", "error": {"message": "full"}}],
        Expected(said="Hello there.", failed="full"),
    ),
    "no reason": ([event("failed")], Expected(failed="reported an error: it did not say which.")),
    "no JSON": (["{not"], Expected(failed="answered with no JSON, not with an event of the Responses API")),
}


@pytest.mark.parametrize("case", CASES)
async def test_whatever_a_server_sends_is_an_answer_once_or_a_failure_with_a_reason(case: str) -> None:
    events, expected = CASES[case]

    async def answer(connection: ServerConnection) -> None:
        async for request in connection:
            warms = json.loads(request).get("generate") is False
            for each in (completed(),) if warms else events:
                await connection.send(each if isinstance(each, str) else json.dumps(each))

    async with serve(answer, "127.0.0.1", 0) as server:
        check(await answered(make_service(listening(server), MODEL)), expected)


@pytest.mark.parametrize("pause", [0.0, 0.1])
async def test_an_answer_is_never_given_to_the_next_question(pause: float) -> None:
    asked = 0

    async def answer(connection: ServerConnection) -> None:
        nonlocal asked
        async for request in connection:
            is_warming = json.loads(request).get("generate") is False
            asked += not is_warming
            own, said = {"id": f"r{asked}"}, [] if is_warming else [message(f"Answer {asked}.")]
            late = [event("created", response={"id": "r0"}), *words("Stale. ")] if pause else []
            for each in (event("created", response=own), completed(*said, **own), completed(*said, **own), *late):
                await connection.send(json.dumps(each))

    async with (
        serve(answer, "127.0.0.1", 0) as server,
        in_call(make_service(listening(server), MODEL), Simulator(seed=1)) as call,
    ):
        for number in (1, 2, 3):
            await asyncio.sleep(pause)
            assert (await call.ask("what is the time")).text.strip() == f"Answer {number}."
