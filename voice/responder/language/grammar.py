"""Templates of what users say; a template both recognises utterances and generates sentences.

    "set (a|another) timer [of] <length:duration>"

Words stand for themselves, `(a|b)` for alternatives, `[x]` for optional words and `<name:kind>` for a slot. A template
must match the whole of a normalised text (see `transcript.normalise`).
"""

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

# What recognisers write when they mishear these words. Used for matching, never for generation.
MISHEARD: Mapping[str, tuple[str, ...]] = {
    "a": ("an", "the"),
    "an": ("a", "the"),
    "the": ("a", "an"),
    "to": ("two", "too"),
    "for": ("four", "fore"),
    "in": ("and",),
    "is": ("was",),
    "are": ("our", "or", "is"),
    "by": ("bye", "buy"),
    "spell": ("spelled",),
    "spelled": ("spelt", "spell"),
    "timer": ("time",),
    "you": ("u",),
    "today's": ("todays",),
    "tomorrow's": ("tomorrows",),
    "yesterday's": ("yesterdays",),
    "goodbye": ("good-bye",),
}

_TOKEN = re.compile(r"<(?P<slot>\w+)(?::(?P<kind>\w+))?>|(?P<bracket>[\[\]()|])|(?P<word>[^\s\[\]()|<>]+)")
_BRACKETS = {"(": "(?:", "[": "(?:", ")": ")", "]": ")?", "|": "|"}
_INNERMOST = re.compile(r"\((?P<one>[^\[\]()]*)\)|\[(?P<optional>[^\[\]()]*)\]")


@dataclass(frozen=True, slots=True)
class SlotKind:
    """A kind of slot value.

    Parameters:
        name: its name in templates.
        pattern: regular expression of its words, each followed by one space.
        parse: returns the value of those words, or None if they have no meaning.
        sample: returns an example in a recogniser's spelling.
    """

    name: str
    pattern: str
    parse: Callable[[str], object | None]
    sample: Callable[[random.Random], str]


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled template; the module docstring describes the notation."""

    text: str
    kinds: Mapping[str, SlotKind]
    """Slot name to kind."""
    expression: "re.Pattern[str]" = field(repr=False)

    @classmethod
    def compile(cls, text: str, kinds: Mapping[str, SlotKind]) -> "Template":
        """Compile a template; `kinds` maps names to kinds.

        Raises:
            ValueError: brackets do not match or a kind is unknown.
        """
        slots: dict[str, SlotKind] = {}
        pattern = ""
        for token in _TOKEN.finditer(text):
            if name := token["slot"]:
                kind = token["kind"] or name
                if kind not in kinds:
                    raise ValueError(f"No kind is called {kind!r}.")
                slots[name] = kinds[kind]
                pattern += f"(?P<{name}>{kinds[kind].pattern})"
            elif word := token["word"]:
                pattern += f"(?:{'|'.join(map(re.escape, (word, *MISHEARD.get(word, ()))))}) "
            else:
                pattern += _BRACKETS[token["bracket"]]
        try:
            return cls(text, slots, re.compile(pattern))
        except re.error as error:
            raise ValueError(f"The template {text!r} is malformed: {error}.") from error

    def match(self, text: str) -> dict[str, object] | None:
        """The slot values of `text` (words, each followed by one space), or None if it does not match."""
        found = self.expression.fullmatch(text)
        if found is None:
            return None
        said = {name: words.strip() for name, words in found.groupdict().items() if words is not None}
        values = {name: self.kinds[name].parse(words) for name, words in said.items()}
        return None if None in values.values() else dict(values)

    def sample(self, rng: random.Random, filled: Mapping[str, str]) -> str:
        """A sentence that this template matches, in a recogniser's spelling; `filled` has words for some slots."""
        text = self.text
        while found := _INNERMOST.search(text):
            left_out = found["optional"] is not None and rng.random() < 0.5
            chosen = "" if left_out else rng.choice((found["one"] or found["optional"]).split("|"))
            text = text[: found.start()] + chosen + text[found.end() :]
        words = (self._word(token, rng, filled) for token in _TOKEN.finditer(text))
        return " ".join(words)

    def _word(self, token: "re.Match[str]", rng: random.Random, filled: Mapping[str, str]) -> str:
        name = token["slot"]
        return filled.get(name) or self.kinds[name].sample(rng) if name else token[0]
