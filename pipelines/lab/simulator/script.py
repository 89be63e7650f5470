"""Words a simulated model's answers: the responder's answer to the whole conversation.

A request carries its conversation. The responder answers all user messages in order, so it knows the facts that it was
asked to remember. Answers have no effects outside the conversation: a timer that is set does not ring.
"""

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pipelines.lab.simulator.conversation import Message, OfferedTool, ScriptedAnswer, json_text
from pipelines.lab.simulator.shared_answers import (
    after_opening,
    begun,
    opening_for,
    relayed,
    rest_of,
    reviewed,
    verdict_on,
)
from voice.language.english.number_words import parse_number
from voice.llm.answer.clauses import ClauseSplitter
from voice.llm.tools.tool import Tool
from voice.responder.dialogue import NOT_UNDERSTOOD, Proposal, Responder

CANNOT_ANSWER = "I am a simulated model, so I can't answer that. I can tell the time, do arithmetic and convert units."
STORY = (
    "Once there was a lighthouse keeper called Ada. Every evening she climbed one hundred steps and lit "
    "the lamp. One night a thick fog came in from the sea, and the lamp could not be seen. Ada rang the old brass "
    "bell until her arms were tired. In the morning three small boats lay safe in the harbor. The fishermen brought "
    "her fresh bread, and she slept until noon."
)
"""The answer to any request for a story: long enough to interrupt."""

_FIRST_CLAUSE_WORDS = range(4, 11)
_LEADS = ("Let me see about that.", "I can do that for you.", "That one is easy enough.")
_LEADS_OF = {
    "hello": "It is good to hear you.",
    "goodbye": "It was nice talking to you.",
    "stop": "I will leave it there.",
    "thanks": "It was no trouble at all.",
}
_MOST_KEPT = 4096
_GENERIC_VERBS = frozenset(["get", "fetch", "find", "lookup", "look", "check", "read", "query", "call", "run"])


class ConversationScript:
    """Answers conversations; the same conversation gives the same answer.

    The state after a conversation is kept, so that the request for its next turn does not replay it.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, ...], Proposal] = OrderedDict()

    def answer(self, messages: Sequence[Message], tools: Sequence[OfferedTool], *, now: datetime) -> ScriptedAnswer:
        """The answer to a conversation; `now` is local time."""
        if (heard := begun(messages)) is not None:
            whole = self.answer(messages[:-2], tools, now=now)
            return whole if whole.tool else ScriptedAnswer(rest_of(whole.text, heard=heard))
        review = reviewed(messages)
        relay = relayed(review.messages)
        messages = relay.messages
        if review.draft is not None:
            return ScriptedAnswer(verdict_on(review.draft, self.answer(messages, (), now=now).text))
        asked = tuple(message.text for message in messages if message.role == "user")
        if messages and messages[-1].role == "tool":
            return ScriptedAnswer(f"Here is what I found out. {_as_sentence(messages[-1].text)}")
        if not asked:
            return ScriptedAnswer(with_lead(Responder().greeting(now).reply.text, "hello", turn=0))
        if relay.opens:
            return ScriptedAnswer(opening_for(asked[-1], turn=len(asked)))
        before = self._replay(asked[:-1], now)
        # Two tools with the same spoken name cannot be distinguished by voice; the later one is called.
        named = {stand_in.__name__: (stand_in, tool) for tool in tools if (stand_in := _stand_in(tool)) is not None}
        responder = _after(before, [stand_in for stand_in, _ in named.values()])
        reply = responder.propose(asked[-1], now).reply
        if reply.call is not None:
            _, tool = named[reply.call.function.__name__]
            return ScriptedAnswer(_arguments(tool, " ".join(reply.call.arguments)), tool=tool.name)
        if reply.intent == NOT_UNDERSTOOD:
            return ScriptedAnswer(STORY if "story" in asked[-1] else CANNOT_ANSWER)
        if relay.opening is not None:
            return ScriptedAnswer(after_opening(reply.text, opening=relay.opening, asked=asked[-1]))
        if review.corrects:
            return ScriptedAnswer(reply.text)
        return ScriptedAnswer(with_lead(reply.text, reply.intent, turn=len(asked)))

    def _replay(self, texts: tuple[str, ...], now: datetime) -> Proposal | None:
        """The answer to the last of `texts`, with the state after it; None if there are none."""
        known = next((length for length in range(len(texts), 0, -1) if texts[:length] in self._kept), 0)
        last = self._kept[texts[:known]] if known else None
        for length in range(known + 1, len(texts) + 1):
            heard = texts[:length]
            last = self._kept[heard] = _after(last).propose(heard[-1], now)
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return last


def _after(before: Proposal | None, tools: Sequence[Tool] = ()) -> Responder:
    """A responder that has given an answer before; None for the first one."""
    responder = Responder(tools=tools)
    if before is not None:
        responder.accept(before)
    return responder


def with_lead(text: str, intent: str, *, turn: int) -> str:
    """The text, after a short sentence if its own first clause has fewer than 4 or more than 10 words.

    The first clauses of real models have that length, and latency is measured to the first clause.
    """
    splitter = ClauseSplitter()
    first = next(iter(splitter.feed(text + " ")), text)
    if len(first.split()) in _FIRST_CLAUSE_WORDS:
        return text
    return f"{_LEADS_OF.get(intent, _LEADS[turn % len(_LEADS)])} {text}"


def _stand_in(tool: OfferedTool) -> Tool | None:
    """A function with a name that the responder recognises in speech ("weather" for get_weather)."""
    name = re.sub(r"\W", "_", tool.name).strip("_")
    parts = name.lower().split("_")
    while len(parts) > 1 and parts[0] in _GENERIC_VERBS:
        parts.pop(0)
    spoken = "_".join(part for part in parts if part)
    if not spoken.isidentifier():
        return None

    def stand_in(text: str = "") -> str:
        return text

    stand_in.__name__ = spoken
    return stand_in


def _arguments(tool: OfferedTool, words: str) -> str:
    """JSON arguments that fit the schema: the request's other words for a string, their number for a number."""
    properties: Mapping[str, Any] = tool.parameters.get("properties", {})
    required = tool.parameters.get("required") or list(properties)[:1]
    return json_text({name: _argument(properties.get(name, {}), words) for name in required})


def _argument(schema: Mapping[str, Any], words: str) -> object:
    if schema.get("enum"):
        return next((value for value in schema["enum"] if str(value).lower() in words), schema["enum"][0])
    kind = schema.get("type", "string")
    if kind in ("integer", "number"):
        number = parse_number(words)
        return (int(number) if kind == "integer" else float(number)) if number is not None else 1
    return {"boolean": True, "array": [words], "object": {}}.get(kind, words)


def _as_sentence(result: str) -> str:
    text = result.strip().strip('"')
    return text if text.endswith((".", "!", "?")) else f"{text}."
