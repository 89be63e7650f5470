"""Calls plain Python functions by name: `order_status` for "what is my order status"."""

import asyncio
import inspect
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from voice.errors import ConfigurationError
from voice.llm.tools.tool import TookTooLongError, Tool, Traits, run, traits_of
from voice.responder.language.transcript import normalise
from voice.responder.language.vocabulary import words

log = logging.getLogger(__name__)
# Words around a tool's name that do not belong to its argument.
_FRAME = frozenset(
    words(
        "a an the is are was were do does did i me my you your to of in on at for with it its that this what where "
        "when who which how and about tell give show get find look up check please can could would will want need know "
        "now run call use"
    )
)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool and its arguments.

    Parameters:
        title: the tool's name in words ("order status").
        function: the tool, synchronous or not.
        arguments: empty, or one text: the words of the request without the tool's name.
    """

    title: str
    function: Tool
    arguments: tuple[str, ...]

    @property
    def failure(self) -> str:
        """The answer when the tool raises an exception."""
        return f"The {self.title} tool failed."

    def run(self) -> str:
        """Call a synchronous tool; returns the answer. An exception is logged and answered with `failure`.

        Raises:
            ConfigurationError: the tool is asynchronous.
        """
        if inspect.iscoroutinefunction(self.function):
            raise ConfigurationError(
                f"The tool {self.function.__name__} is asynchronous; answer with ResponderLLMService, which awaits it."
            )
        try:
            return as_text(self.function(*self.arguments))
        except Exception:
            log.exception("the tool %s failed", self.title)
            return self.failure

    @property
    def traits(self) -> Traits:
        """What the tool says of itself."""
        return traits_of(self.function)

    async def run_async(self) -> str:
        """Call any tool, as `run` does, within its limit; a synchronous tool runs in a thread of its own."""
        try:
            return as_text(await run(partial(self.function, *self.arguments), self.traits, self._ran_on))
        except TookTooLongError:
            log.warning("the tool %s took longer than %g s", self.title, self.traits.limit)
            return f"The {self.title} tool takes too long. Please ask me again later."
        except Exception:
            log.exception("the tool %s failed", self.title)
            return self.failure

    def _ran_on(self, work: "asyncio.Future[Any]") -> None:
        """The tool was interrupted, and has ended now."""
        if not work.cancelled():
            failed = work.exception()
            log.info("the tool %s, interrupted before, %s", self.title, "has failed" if failed else "has ended")


def as_text(result: object) -> str:
    """A tool's result as an answer."""
    return "Done." if result is None else str(result)


def stem(word: str) -> str:
    """The word without a plural "s"."""
    return word.removesuffix("s") or word


class ToolBox:
    """Finds the tool that a text names.

    Raises:
        ConfigurationError: a tool has no name, has the same name as another, or needs more than one text.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools: dict[tuple[str, ...], tuple[Tool, bool]] = {}
        for tool in tools:
            name = getattr(tool, "__name__", "")
            if not callable(tool) or not name.isidentifier():
                raise ConfigurationError(f"A tool must be a named function, to be called by name; {tool!r} is not.")
            title = words(name.lower().replace("_", " "))
            if not title or title in self._tools:
                raise ConfigurationError(f"Two tools are called {name}; the responder distinguishes tools by name.")
            self._tools[title] = (tool, takes_text(tool, name))

    def find(self, text: str) -> ToolCall | None:
        """The call that the text asks for, or None: all words of the tool's name occur; the longest name wins."""
        spoken = normalise(text).split()
        stems = {stem(word) for word in spoken}
        named = [title for title in self._tools if all(stem(word) in stems for word in title)]
        if not named:
            return None
        title = max(named, key=len)
        tool, takes = self._tools[title]
        name = {stem(word) for word in title}
        rest = [word for word in spoken if stem(word) not in name]
        while rest and rest[0] in _FRAME:
            rest.pop(0)
        while rest and rest[-1] in _FRAME:
            rest.pop()
        return ToolCall(" ".join(title), tool, (" ".join(rest),) if takes else ())


def takes_text(tool: Tool, name: str) -> bool:
    """Whether the tool takes the remaining words as its argument.

    Raises:
        ConfigurationError: it needs more than one argument, or one that is not a text.
    """
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = list(inspect.signature(tool, eval_str=True).parameters.values())
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [parameter for parameter in parameters if parameter.default is parameter.empty]
    needed = [parameter for parameter in needed if parameter.kind not in variable]
    first = next((parameter for parameter in parameters if parameter.kind in positional), None)
    textual = first is not None and first.annotation in (str, inspect.Parameter.empty, str | None)
    if len(needed) > 1 or (needed and (needed[0] is not first or not textual)):
        raise ConfigurationError(
            f"The responder can call a tool with nothing or with one text, and {name} needs more; give its other "
            "parameters defaults, or use a pipeline with a language model."
        )
    return textual
