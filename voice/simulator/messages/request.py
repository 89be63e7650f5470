"""Reads requests for Anthropic's Messages. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from voice.errors import ConfigurationError
from voice.simulator.conversation import Message, OfferedTool, json_text
from voice.simulator.request_fields import plain_text, read_tools
from voice.simulator.simulator import FAST
from voice.simulator.wire_errors import RefusedError

VERSION = "anthropic-version"
FAST_BETA = "fast-mode-2026-02-01"
"""The value of `anthropic-beta` that some models need for any `speed`."""
THOUGHT_TOKENS = {"low": 20, "medium": 60, "high": 160, "xhigh": 300, "max": 500}
"""Tokens that are thought before an answer when thinking is on, or an effort is named; an assumption."""
_USUAL_EFFORT = "high"
_THOUGHT = "I should answer this briefly and in plain words. "


@dataclass(frozen=True, slots=True)
class MessagesRequest:
    """The fields of a request that the simulator uses.

    Parameters:
        model: the model, as the client wrote it.
        messages: the conversation, the system prompt left out.
        tools: the offered tools; empty if the request forbids calls.
        stream: the client asks for server-sent events.
        max_tokens: most tokens of the answer.
        speed: "fast", or None for the usual one.
        fixed: the part of the prompt before the messages, for the prefix cache.
        thought: what the model thinks before it answers; empty for none.
        is_cached: the request marks what is to be cached, without which nothing is.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[OfferedTool, ...]
    stream: bool
    max_tokens: int | None
    speed: str | None
    fixed: str
    thought: str
    is_cached: bool


def read_request(body: object, headers: Mapping[str, str], *, fast_beta: str | None) -> MessagesRequest:
    """Reads a request from a decoded body and the request's headers.

    Args:
        body: the decoded body.
        headers: of the request; names in lower case.
        fast_beta: the value of `anthropic-beta` without which a speed is refused; None if none is needed.

    Raises:
        ConfigurationError: the request cannot be served.
    """
    if not (headers.get("x-api-key") or headers.get("authorization")):
        raise RefusedError(401, "x-api-key header is required")
    if not headers.get(VERSION):
        raise ConfigurationError(f"{VERSION}: header is required")
    if not isinstance(body, Mapping) or not isinstance(body.get("model"), str):
        raise ConfigurationError("The body must be a JSON object with a model.")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ConfigurationError("messages: at least one message is required")
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        raise ConfigurationError("max_tokens: a number of at least 1 is required")
    tools = read_tools(body)
    choice = body.get("tool_choice") or {}
    return MessagesRequest(
        model=body["model"],
        messages=tuple(part for message in messages for part in _parts(message)),
        tools=() if choice.get("type") == "none" else tuple(map(_offered, tools)),
        stream=bool(body.get("stream")),
        max_tokens=body["max_tokens"],
        speed=_speed(body, headers, fast_beta),
        fixed=json_text([plain_text(body.get("system")), tools]),
        thought=_thought(body),
        is_cached='"cache_control":{' in json_text(body),
    )


def _speed(body: Mapping[str, Any], headers: Mapping[str, str], fast_beta: str | None) -> str | None:
    speed = body.get("speed")
    if speed is None:
        return None
    if speed not in ("standard", FAST):
        raise ConfigurationError(f"speed: Input should be 'standard' or 'fast', not {speed}")
    betas = [beta.strip() for beta in headers.get("anthropic-beta", "").split(",")]
    if fast_beta is not None and fast_beta not in betas:
        raise ConfigurationError(f"speed: this model needs the header anthropic-beta: {fast_beta}")
    return FAST if speed == FAST else None


def _thought(body: Mapping[str, Any]) -> str:
    """What is thought first: nothing unless thinking is on or an effort is named, which decides how much."""
    thinking = (body.get("thinking") or {}).get("type")
    effort = (body.get("output_config") or {}).get("effort")
    if thinking == "disabled" or (thinking is None and effort is None):
        return ""
    effort = effort or _USUAL_EFFORT
    if effort not in THOUGHT_TOKENS:
        raise ConfigurationError(f"output_config.effort: Input should be one of {', '.join(THOUGHT_TOKENS)}")
    # The sentence has ten tokens.
    return (_THOUGHT * (THOUGHT_TOKENS[effort] // 10)).rstrip()


def _offered(tool: Mapping[str, Any]) -> OfferedTool:
    return OfferedTool(str(tool.get("name", "")), tool.get("input_schema") or {})


def _parts(message: object) -> Iterator[Message]:
    """The messages of the house's conversation that one of Anthropic's carries: each of its blocks is one."""
    if not isinstance(message, Mapping) or message.get("role") not in ("user", "assistant"):
        raise ConfigurationError("messages: every message needs a role, user or assistant")
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(blocks, list) or not blocks or not all(isinstance(block, Mapping) for block in blocks):
        raise ConfigurationError("messages: content must be a text or a list of blocks, not empty")
    role = str(message["role"])
    for block in blocks:
        match block.get("type"):
            case "text":
                yield Message(role, str(block.get("text") or ""))
            case "tool_use":
                yield Message("assistant", f"{block.get('name')}({json_text(block.get('input'))})")
            case "tool_result":
                yield Message("tool", plain_text(block.get("content")))
            case "thinking" | "redacted_thinking":
                continue
            case kind:
                raise ConfigurationError(f"The simulator does not know the content block {kind}.")
