"""Tracks what a Responses server remembers of a conversation, so that only new items are sent. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Chain:
    """A complete response from which the conversation can continue.

    Parameters:
        response_id: its id on the server.
        given: the whole input of that response.
        output: what it said, as the server reported it.
    """

    response_id: str
    given: Sequence[Item]
    output: Sequence[Item]

    def following(self, conversation: Sequence[Item]) -> list[Item] | None:
        """The items of a conversation that the server does not know; None when everything must be sent.

        Everything must be sent when the conversation differs from the response, for example because it was interrupted
        and only partly heard, or because another model's answer was spoken.
        """
        count = len(self.given)
        if list(conversation[:count]) != list(self.given):
            return None
        rest = list(conversation[count:])
        for said in self.output:
            if rest and _same(said, rest[0]):
                rest.pop(0)
            elif said.get("type") != "reasoning":
                # Reasoning stays on the server when the conversation did not keep it.
                return None
        return rest or None


def _same(said: Item, kept: Item) -> bool:
    """Whether an item of the conversation is what the server said. White space may differ: speech changes it."""
    match said.get("type"):
        case "message":
            return kept.get("role") == said.get("role", "assistant") and _words(kept) == _words(said)
        case "function_call":
            return kept.get("type") == "function_call" and kept.get("call_id") == said.get("call_id")
        case "reasoning":
            return kept.get("type") == "reasoning" and kept.get("id") == said.get("id")
    return False


def _words(message: Item) -> list[str]:
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "".join(str(part.get("text") or "") for part in content)
    return content.split()
