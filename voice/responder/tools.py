"""Calls plain Python functions: by name, or by the values of their arguments.

`order_status` is called for "what is my order status". A function that needs an argument with a few values, such as
`drink: Literal["latte", "mocha"]`, is called for every text that names one: "can I get a latte".
"""

import asyncio
import inspect
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from voice.errors import ConfigurationError
from voice.language.english.numbers import cardinal
from voice.language.english.transcripts import normalise
from voice.llm.tools.tool import TookTooLongError, Tool, Traits, run, traits_of

log = logging.getLogger(__name__)
# Words around a tool's name that do not belong to its argument.
_FRAME = frozenset((
    "a", "an", "the", "is", "are", "was", "were", "do", "does", "did", "i", "me", "my", "you", "your", "to", "of",
    "in", "on", "at", "for", "with", "it", "its", "that", "this", "what", "where", "when", "who", "which", "how",
    "and", "about", "tell", "give", "show", "get", "find", "look", "up", "check", "please", "can", "could", "would",
    "will", "want", "need", "know", "now", "run", "call", "use",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool and its arguments.

    Parameters:
        title: the tool's name in words ("order status").
        function: the tool, synchronous or not.
        arguments: empty, or one text: the words of the request without the tool's name.
        named: the arguments whose values the request names.
    """

    title: str
    function: Tool
    arguments: tuple[str, ...]
    named: Mapping[str, str | list[str]] = field(default_factory=dict)

    @property
    def traits(self) -> Traits:
        """The tool's declared behaviour."""
        return traits_of(self.function)

    async def run(self) -> str:
        """Call the tool within its limit, a synchronous one in its own thread; returns the answer.

        An exception is logged, and the answer says that the tool failed.
        """
        try:
            result = await run(partial(self.function, *self.arguments, **self.named), self.traits, self._ran_on)
            return "Done." if result is None else str(result)
        except TookTooLongError:
            log.warning("the tool %s took longer than %g s", self.title, self.traits.limit)
            return f"The {self.title} tool takes too long. Please ask me again later."
        except Exception:
            log.exception("the tool %s failed", self.title)
            return f"The {self.title} tool failed."

    def _ran_on(self, work: "asyncio.Future[Any]") -> None:
        """The tool, interrupted before, has now ended."""
        if not work.cancelled():
            failed = work.exception()
            log.info("the tool %s, interrupted before, %s", self.title, "has failed" if failed else "has ended")


def stem(word: str) -> str:
    """The word without a plural "s"."""
    return word.removesuffix("s") or word


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An argument that takes one of a few values, or a list of them.

    Parameters:
        values: as the tool's annotation has them.
        several: whether the tool takes a list of values.
        needed: whether the tool cannot be called without it.
    """

    values: tuple[str, ...]
    several: bool
    needed: bool


class Choices:
    """Finds the values of a tool's arguments in the words of a request."""

    def __init__(self, choices: Mapping[str, Choice]) -> None:
        self._choices = choices
        self._values: dict[tuple[str, ...], tuple[str, str]] = {}
        for name, choice in choices.items():
            for value in choice.values:
                self._values.setdefault(_stems(value), (name, value))
        self._longest = max(map(len, self._values), default=0)

    @property
    def needed(self) -> bool:
        """Whether the tool needs any of them."""
        return any(choice.needed for choice in self._choices.values())

    def find(self, text: str) -> dict[str, str | list[str]] | None:
        """The arguments that a text names.

        At each word the longest value counts: "medium roast" is not a size. None if a needed argument is missing, or if
        two values are named for an argument that takes one.
        """
        said: dict[str, list[str]] = {}
        for name, value in self._named(_stems(text)):
            said.setdefault(name, []).append(value)
        if any(choice.needed and name not in said for name, choice in self._choices.items()):
            return None
        if any(len(set(values)) > 1 for name, values in said.items() if not self._choices[name].several):
            return None
        return {name: values if self._choices[name].several else values[0] for name, values in said.items()}

    def _named(self, said: Sequence[str]) -> Iterable[tuple[str, str]]:
        at = 0
        while at < len(said):
            lengths = range(min(self._longest, len(said) - at), 0, -1)
            length = next((length for length in lengths if tuple(said[at : at + length]) in self._values), 0)
            if length:
                yield self._values[tuple(said[at : at + length])]
            at += length or 1


@dataclass(frozen=True, slots=True)
class _Known:
    """A tool, whether it takes a text, and its other arguments."""

    tool: Tool
    takes: bool
    choices: Choices


class ToolBox:
    """Finds the tool named in a text.

    Raises:
        ConfigurationError: a tool has no name, has the same name as another, or needs an argument that no request can
            give.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools: dict[tuple[str, ...], _Known] = {}
        for tool in tools:
            name = getattr(tool, "__name__", "")
            if not callable(tool) or not name.isidentifier():
                raise ConfigurationError(f"A tool must be a named function, to be called by name; {tool!r} is not.")
            title = tuple(name.lower().replace("_", " ").split())
            if not title or title in self._tools:
                raise ConfigurationError(f"Two tools are called {name}; the responder distinguishes tools by name.")
            self._tools[title] = _Known(tool, takes_text(tool, name), Choices(choices_of(tool)))

    def find(self, text: str) -> ToolCall | None:
        """The call that the text asks for, or None.

        A tool is asked for if all words of its name occur (the longest name wins), else by values of the arguments that
        it needs (the most values win).
        """
        return self._by_name(text) or self._by_values(text)

    def _by_name(self, text: str) -> ToolCall | None:
        spoken = normalise(text).split()
        stems = {stem(word) for word in spoken}
        named = [title for title in self._tools if all(stem(word) in stems for word in title)]
        if not named:
            return None
        title = max(named, key=len)
        known = self._tools[title]
        values = known.choices.find(text)
        if values is None:
            return None
        name = {stem(word) for word in title}
        rest = [word for word in spoken if stem(word) not in name]
        while rest and rest[0] in _FRAME:
            rest.pop(0)
        while rest and rest[-1] in _FRAME:
            rest.pop()
        return ToolCall(" ".join(title), known.tool, (" ".join(rest),) if known.takes else (), values)

    def _by_values(self, text: str) -> ToolCall | None:
        spoken = " ".join(normalise(text).split())
        found = [
            ToolCall(" ".join(title), known.tool, (spoken,) if known.takes else (), values)
            for title, known in self._tools.items()
            if known.choices.needed and (values := known.choices.find(text)) is not None
        ]
        return max(found, key=lambda call: len(call.named), default=None)


def choices_of(tool: Tool) -> dict[str, Choice]:
    """The arguments of a tool that take one of a few texts (`Literal`), or a list of them, by name."""
    found = {}
    for parameter in inspect.signature(tool, eval_str=True).parameters.values():
        annotation = parameter.annotation
        if get_origin(annotation) in (Union, UnionType):
            kinds = [one for one in get_args(annotation) if one is not NoneType]
            annotation = kinds[0] if len(kinds) == 1 else annotation
        several = get_origin(annotation) is list
        literal = get_args(annotation)[0] if several else annotation
        values = get_args(literal) if get_origin(literal) is Literal else ()
        if values and all(isinstance(value, str) for value in values):
            needed = parameter.default is parameter.empty
            found[parameter.name] = Choice(values=values, several=several, needed=needed)
    return found


def names_of(tools: Sequence[Tool]) -> list[str]:
    """The words that callers may ask for: the tools' names, and the values of their arguments."""
    titles = [tool.__name__.lower().replace("_", " ").strip() for tool in tools]
    choices = [choice for tool in tools for choice in choices_of(tool).values()]
    return list(dict.fromkeys([*titles, *(value for choice in choices for value in choice.values)]))


def _stems(text: str) -> tuple[str, ...]:
    """The words of a text, normalised for comparison: numbers up to 100 in words, no plural "s"."""
    said = normalise(text).split()
    spelled = (cardinal(int(word)) if word.isdecimal() and int(word) <= 100 else word for word in said)
    return tuple(stem(word) for word in " ".join(spelled).split())


def takes_text(tool: Tool, name: str) -> bool:
    """Whether the tool takes the remaining words as its argument.

    Raises:
        ConfigurationError: besides arguments with a few values, it needs more than one, or one that is not a text.
    """
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = list(inspect.signature(tool, eval_str=True).parameters.values())
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [parameter for parameter in parameters if parameter.default is parameter.empty]
    chosen = choices_of(tool)
    needed = [parameter for parameter in needed if parameter.kind not in variable and parameter.name not in chosen]
    first = next((parameter for parameter in parameters if parameter.kind in positional), None)
    textual = first is not None and first.annotation in (str, inspect.Parameter.empty, str | None)
    if len(needed) > 1 or (needed and (needed[0] is not first or not textual)):
        raise ConfigurationError(
            f"The responder can call a tool with one text and with values that its annotations list (Literal), and "
            f"{name} needs more; give its other parameters defaults, or use a pipeline with a language model."
        )
    return textual
