"""Recognises markers in models' text: of thoughts, tool calls, turns and channels. Pure.

A marker is recognised by its name, for any model: `<think>`, `[THINK]`, `<|START_THINKING|>` and `◁think▷` all begin a
thought. A token between `<|` and `|>` is never text.
"""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["thought", "call", "result", "end", "role", "header", "turn", "channel", "message", "nothing"]
LONGEST_NAME = 48
LONGEST_ATTRIBUTES = 200
"""The most characters of a marker; anything longer is text."""
LONGEST_SPACED = 3
"""The most words of a token with spaces; a longer one is text."""


def _names(written: str) -> frozenset[str]:
    return frozenset(map(_joined, written.split()))


def _joined(name: str) -> str:
    """A name in lower case, with its words joined by underscores: `chain-of-thought` is `chain_of_thought`."""
    return name.casefold().replace("_", "").replace("-", "")


_THOUGHTS = _names(
    "think thinking thought thoughts reasoning reflection scratchpad analysis rationale deliberation "
    "antthinking inner_monologue internal_monologue inner_thoughts chain_of_thought thought_process thinking_process "
    "reasoning_process plan"
)
_CALLS = _names("tool_call tool_calls toolcall function_call function_calls function invoke tool_use")
_RESULTS = _names(
    "tool_response tool_responses tool_result tool_results tool_output function_result function_results "
    "function_response"
)
_ENDS = _names(
    "s eos eot eot_id eom_id eod im_end end return call end_of_turn end_turn endofturn endoftext end_of_text "
    "end_of_sentence end_of_utterance"
)
_TURNS = _names("start_of_turn im_start turn")
"""After these comes a role."""
_HEADERS = _names("start start_header_id header_start start_of_role")
"""After these comes a role, and another token."""
ROLES = _names("user human assistant chatbot model system developer tool observation ipython environment functions")
_WRAPPERS = _names("bos pad unk answer final final_answer response begin_of_text")
_TAGS: dict[str, Kind] = {
    **dict.fromkeys(_WRAPPERS, "nothing"),
    **dict.fromkeys(_ENDS - {"end", "return", "call"}, "end"),
    **dict.fromkeys(_THOUGHTS, "thought"),
    **dict.fromkeys(_CALLS, "call"),
    **dict.fromkeys(_RESULTS, "result"),
    "startofturn": "turn",
    "turn": "end",
    "channel": "thought",
}
_SPACES = ("seed:", "antml:", "minimax:", "anthropic:")
"""Providers' namespaces, which tags may have."""
_BRACKETS: dict[str, Kind] = {
    "think": "thought",
    **dict.fromkeys(["THINK", "THINKING", "THOUGHT", "THOUGHTS", "REASONING"], "thought"),
    "TOOL_CALLS": "call",
    "TOOL_CALL": "call",
    "TOOL_RESULTS": "result",
    "AVAILABLE_TOOLS": "result",
    "SYSTEM_PROMPT": "result",
    "INST": "role",
    "ARGS": "nothing",
    "CALL_ID": "nothing",
    "BOS": "nothing",
    "EOS": "end",
}
_TOKEN = re.compile(rf"<[|｜]([^<>\n|｜]{{0,{LONGEST_NAME}}})([|｜]?)(>?)")
_TAG = re.compile(rf"[<◁](\s?)(/?)(\s?)([A-Za-z_:-]{{0,{LONGEST_NAME}}})")
_SYSTEM = re.compile(r"<<(/?)SYS>>")
_ATTRIBUTES = re.compile(rf"[^<>◁▷]{{0,{LONGEST_ATTRIBUTES}}}")
_BRACKET = re.compile(r"\[(/?)([A-Za-z_]{0,16})(\]?)")
_EDGES = _names("begin start end of") | {""}


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker in a text.

    Parameters:
        kind: its kind; "nothing" for one that is only left out.
        name: its name without prefixes for beginning or end, so that both ends of a region share it.
        closes: whether it ends a region.
        end: the index just after it.
        is_token: whether it is a token of a chat template, which is never text.
    """

    kind: Kind
    name: str
    closes: bool
    end: int
    is_token: bool = False


class Pending:
    """Text that may become a marker with the next characters."""


PENDING = Pending()
Found = Marker | Pending | None


def marker(text: str, at: int) -> Found:
    """The marker at an index; None if there is none, `PENDING` if the text ends too early to tell."""
    if text[at] == "[":
        return _bracket(text, at)
    if text[at] == "<":
        if at + 1 == len(text):
            return PENDING
        if text[at + 1] in "|｜":
            return _token(text, at)
        if text[at + 1] == "<":
            return _system(text, at)
    return _tag(text, at)


def _token(text: str, at: int) -> Found:
    """A token: `<|name|>`, or `<|name>`."""
    found = _TOKEN.match(text, at)
    if found is None:
        return None
    name, _, closed = found.groups()
    if not closed:
        return PENDING if found.end() == len(text) and len(name) < LONGEST_NAME else None
    has_spaces = " " in name
    name = name.casefold().replace("▁", "_").replace(" ", "_")
    closes = name.startswith("/")
    name = name.strip("_/").removesuffix("_token")
    if _joined(name) in _ENDS:
        return Marker("end", name, True, found.end(), is_token=True)
    words = name.split("_")
    closes = closes or "end" in words
    core = "".join(word for word in words if word not in _EDGES)
    kind = _kind_of_token(name, set(words))
    if has_spaces and (kind == "nothing" or len(words) > LONGEST_SPACED):
        # Two operators with words between them, as `a <| f |> b`.
        return None
    return Marker(kind, core, closes, found.end(), is_token=True)


def _system(text: str, at: int) -> Found:
    """Llama's marker around the system prompt: `<<SYS>>`, `<</SYS>>`."""
    if found := _SYSTEM.match(text, at):
        return Marker("result", "sys", bool(found[1]), found.end())
    rest = text[at:]
    return PENDING if "<<SYS>>".startswith(rest) or "<</SYS>>".startswith(rest) else None


def _kind_of_token(name: str, words: set[str]) -> Kind:
    if name in ROLES:
        return "role"
    if _joined(name) in _TURNS:
        return "turn"
    if _joined(name) in _HEADERS:
        return "header"
    if name == "channel":
        return "channel"
    if name == "message":
        return "message"
    if words & {"think", "thinking", "thought", "reasoning"}:
        return "thought"
    if words & {"tool", "tools", "function", "action", "python"}:
        return "result" if words & {"output", "outputs", "result", "results", "response", "responses"} else "call"
    return "nothing"


def _tag(text: str, at: int) -> Found:
    """A tag: `<name attributes>`, `</name>` or `◁name▷`; also `<name|>`, the end of `<|name>`."""
    found = _TAG.match(text, at)
    if found is None:
        return None
    name = found[4].casefold()
    if found.end() == len(text):
        return PENDING if _may_become(name) else None
    name = _joined(name.removeprefix(next((space for space in _SPACES if name.startswith(space)), "")))
    kind = _TAGS.get(name)
    attributes = _ATTRIBUTES.match(text, found.end()) if kind else None
    if kind is None or attributes is None or (attributes[0] and attributes[0][0] not in " \t\n=/|"):
        return None
    if attributes.end() == len(text):
        return PENDING if len(attributes[0]) < LONGEST_ATTRIBUTES else None
    if text[attributes.end()] not in ">▷":
        return None
    ends_token = attributes[0].endswith("|")
    if name in ("channel", "turn") and not ends_token:
        return None
    if (found[1] or found[3]) and (kind not in ("thought", "call") or attributes[0].strip()):
        # Two comparisons with words between them.
        return None
    if attributes[0].endswith("/"):
        # An empty one, such as `<think/>`.
        kind = "nothing"
    closes = bool(found[2]) or ends_token or kind == "end"
    return Marker(kind, name, closes, attributes.end() + 1)


def _bracket(text: str, at: int) -> Found:
    """A Mistral token: `[NAME]` or `[/NAME]`."""
    found = _BRACKET.match(text, at)
    if found is None:
        return None
    if not found[3]:
        known = found[2] == "" or any(name.startswith(found[2]) for name in _BRACKETS)
        return PENDING if found.end() == len(text) and known else None
    kind = _BRACKETS.get(found[2])
    if kind == "role" and found[1]:
        kind = "nothing"
    return kind and Marker(kind, found[2].casefold(), bool(found[1]), found.end())


def _may_become(name: str) -> bool:
    """Whether a tag's name may be the beginning of a known one."""
    space = next((space for space in _SPACES if name.startswith(space)), "")
    name = name.removeprefix(space)
    return any(known.startswith(_joined(name)) for known in _TAGS) or (
        not space and any(known.startswith(name) for known in _SPACES)
    )
