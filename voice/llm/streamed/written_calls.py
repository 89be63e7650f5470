"""Reads tool calls written as text, in the forms that open models are trained on. Pure.

`{"name": …, "arguments": {…}}` and its relatives (`parameters`, `function`, `action_input`, …), alone or in a list; a
name in front of an object of arguments (`weather[ARGS]{…}`, `<function=weather>{…}</function>`); parameters as tags
(`<invoke name="weather"><parameter name="city">Paris</parameter></invoke>`, `<arg_key>…<arg_value>…`); and Python
(`[weather(city="Paris")]`).
"""

import ast
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from voice.llm.streamed.markers import PENDING, Pending

LONGEST = 8192
"""The most characters of a call; a longer one is not read."""
LONGEST_PYTHON = 1024
_NAMES = ("name", "tool_name", "tool", "function", "action", "recipient_name")
_ARGUMENTS = ("arguments", "parameters", "args", "kwargs", "input", "tool_input", "action_input", "tool_arguments")
_KEYS = frozenset([*_NAMES, *_ARGUMENTS, "tool_calls", "function_call", "type", "id"])
"""The first key of an object that may be a call."""
_KEY = re.compile(r'\{\s{0,20}(?:"(\w{0,64})(?:"(\s{0,4}:)?)?)?')
_LIST = re.compile(r"\[\s{0,20}")
_PYTHON_CALL = re.compile(r"[A-Za-z_]\w{0,64}\(?")
_ONLY_OF_CALLS = re.compile(r'"(?:arguments|parameters|tool_calls|function_call|tool_input|action_input)"\s{0,4}:')
_BESIDE = frozenset(["type", "id", "call_id", "tool_call_id", "index"])
"""Meaningless keys that a call may have besides its name and arguments."""
_VALUE = re.compile(r"\{|\[\s{0,20}\{")
_CALLING = re.compile(r"<(?:\w+:)?(?:function|invoke)(?:=|\s+name=)[\"']?([\w.-]{1,64})[\"']?\s*>")
_CALLED = re.compile(r"</(?:\w+:)?(?:function|invoke)>")
_PARAMETER = re.compile(
    r"<(?:\w{1,16}:)?parameter(?:=|\s+name=)[\"']?([\w.-]{1,64})[\"']?[^<>]{0,64}>"
    r"|<arg_key>\s{0,8}([\w.-]{1,64})\s{0,8}</arg_key>\s{0,8}<arg_value>"
)
_GIVEN = re.compile(r"</(?:(?:\w{1,16}:)?parameter|arg_value)>")
_LEADING_NAME = re.compile(r"(?:<[^<>]{0,64}>)?\s{0,8}([\w.-]{1,64})\s")
_CALL_ID = re.compile(r"\[CALL_ID\]\s{0,8}[\w.-]{0,64}")
_AROUND = re.compile(r"<[^<>]{0,200}(?:>|\Z)|\[/?[A-Z_]{1,16}\]|```\w{0,12}|\b(?:function|json)\b")
"""Text around calls that is not words."""
_NAME_BEFORE = re.compile(
    r"([\w.-]{1,64})(?::\d{1,4})?[\"']?(?:<[|｜][^<>]{0,48}>|\[ARGS\]|```\w{0,12}|[>\s:=]){0,8}\Z"
)


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A complete tool call from a model's text."""

    name: str
    arguments: dict[str, Any]


def read_calls(text: str, tools: Collection[str] = ()) -> list[WrittenCall]:
    """The complete calls in a text without anything else; a truncated one is left out.

    Args:
        text: the text, with the markers around the calls.
        tools: names of the available tools; a call of one of them needs no arguments.
    """
    if len(text) > LONGEST:
        return []
    return _tagged(text) or _objects(text, tools) or _python(text, tools)


def may_be_call(text: str, at: int, tools: Collection[str]) -> bool | Pending:
    """Whether an object or list at an index may be a call; `PENDING` if it is too early to tell."""
    if text[at] == "[":
        listed = _LIST.match(text, at)
        assert listed is not None
        at = listed.end()
        if at == len(text):
            return PENDING
        if called := _PYTHON_CALL.match(text, at):
            name = called[0].removesuffix("(")
            if called.end() == len(text) and name == called[0]:
                return PENDING if any(tool.startswith(name) for tool in tools) else False
            return name != called[0] and name in tools
    key = _KEY.match(text, at)
    if key is None:
        return False
    if key.end() == len(text) and not key[2]:
        return PENDING if key[1] is None or any(known.startswith(key[1]) for known in (*_KEYS, *tools)) else False
    return bool(key[2]) and (key[1] in _KEYS or key[1] in tools)


def is_like_call(text: str, tools: Collection[str]) -> bool:
    """Whether an object resembles a call, even if it is not one: it has a key that only calls have, or names a tool."""
    if _ONLY_OF_CALLS.search(text):
        return True
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and any(
        isinstance(name := value.get(key), str) and _bare(name) in tools for key in _NAMES
    )


def _is_wordless(rest: str) -> bool:
    """Whether the text beside the calls has no words; with words about it, a call is only a mention."""
    return not any(char.isalnum() for char in _AROUND.sub("", rest))


def _tagged(text: str) -> list[WrittenCall]:
    """Calls whose parameters are tags."""
    calls = []
    pieces = _CALLING.split(text)
    if len(pieces) > 1 and not _is_wordless(pieces[0]):
        return []
    for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
        if (ended := _CALLED.search(body)) is None:
            continue
        if not _is_wordless(body[ended.end() :]):
            return []
        body = body[: ended.start()]
        arguments = _parameters(body)
        if arguments or not body.strip():
            calls.append(WrittenCall(_bare(name), arguments or {}))
    if not calls and "<arg_key>" in text and (named := _LEADING_NAME.match(text)):
        arguments = _parameters(text)
        calls = [WrittenCall(_bare(named[1]), arguments)] if arguments else []
    return calls


def _parameters(body: str) -> dict[str, Any] | None:
    """Parameters given as tags; None if there are none, or one has no end."""
    pieces = _PARAMETER.split(body)
    arguments: dict[str, Any] = {}
    for name, key, rest in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        ended = _GIVEN.search(rest)
        if ended is None:
            return None
        value = rest[: ended.start()].strip()
        arguments[name or key] = _structured(value)
    return arguments or None


def _structured(value: str) -> Any:
    """The object or list in a parameter; other values are text, which the tool's own types convert."""
    if value[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _objects(text: str, tools: Collection[str]) -> list[WrittenCall]:
    """Calls in JSON, up to the first incomplete one."""
    decoder = json.JSONDecoder()
    calls: list[WrittenCall] = []
    done = 0
    while begun := _VALUE.search(text, done):
        start = begun.start()
        before = _CALL_ID.sub("", text[done:start])
        try:
            value, done = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            if not _is_wordless(before) and not _NAME_BEFORE.search(before):
                return []
            return calls
        found = _from_value(value, tools)
        if not found and isinstance(value, dict) and (named := _NAME_BEFORE.search(before)):
            before = before[: named.start()]
            found = [WrittenCall(_bare(named[1]), value)]
        if not _is_wordless(before):
            return []
        calls += found
    return calls if _is_wordless(text[done:]) else []


def _from_value(value: Any, tools: Collection[str], depth: int = 0) -> list[WrittenCall]:
    """The calls described by a JSON value."""
    if isinstance(value, list):
        return [call for item in value for call in _from_value(item, tools, depth + 1)] if depth < 4 else []
    if not isinstance(value, dict) or depth > 4:
        return []
    for key in ("tool_calls", "function", "function_call"):
        if isinstance(value.get(key), dict | list):
            return _from_value(value[key], tools, depth + 1)
    if len(value) == 1 and isinstance(given := value.get(only := next(iter(value))), dict) and only in tools:
        return [WrittenCall(only, given)]
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    arguments = next((value[key] for key in _ARGUMENTS if key in value), None)
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            return []
    if name is None:
        return []
    if arguments is None and (_bare(name) not in tools or not value.keys() <= {*_NAMES, *_ARGUMENTS, *_BESIDE}):
        # Its arguments may be elsewhere: no empty object was sent.
        return []
    return [WrittenCall(_bare(name), arguments or {})] if isinstance(arguments, dict | None) else []


def _python(text: str, tools: Collection[str]) -> list[WrittenCall]:
    """Calls of known tools, written as a Python list."""
    start, end = text.find("["), text.rfind("]")
    if start < 0 or end - start > LONGEST_PYTHON or not _is_wordless(text[end + 1 :]):
        return []
    try:
        listed = ast.parse(text[start : end + 1].strip(), mode="eval").body
        made = listed.elts if isinstance(listed, ast.List) else []
        return [
            WrittenCall(call.func.id, {one.arg: ast.literal_eval(one.value) for one in call.keywords if one.arg})
            for call in made
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in tools
        ]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _bare(name: str) -> str:
    """A tool's name without a namespace prefix, which some models add."""
    return name.removeprefix("functions.").removeprefix("function.")
