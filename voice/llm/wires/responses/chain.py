"""Tracks the part of a conversation stored on a Responses server, so that only new items are sent. Pure."""

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
        output: its output, as reported by the server.
    """

    response_id: str
    given: Sequence[Item]
    output: Sequence[Item]

    def following(self, conversation: Sequence[Item]) -> list[Item] | None:
        """The items of a conversation that are new to the server; None if everything must be sent.

        Everything must be sent if the conversation differs from the response, for example after an interruption or an
        answer by another model.
        """
        count = len(self.given)
        if list(conversation[:count]) != list(self.given):
            return None
        rest = list(conversation[count:])
        for said in self.output:
            if rest and _same(said, rest[0]):
                rest.pop(0)
            elif said.get("type") != "reasoning":
                # Reasoning items remain on the server even if the conversation has dropped them.
                return None
        return rest or None


def _same(said: Item, kept: Item) -> bool:
    """Whether an item of the conversation equals the server's output, apart from white space, which speech changes."""
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
