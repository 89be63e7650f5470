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

_TOKEN = re.compile(r"<(\w+):(\w+)>|<(\w+)>|([\[\]()|])|([^\s\[\]()|<>]+)")


@dataclass(frozen=True, slots=True)
class SlotKind:
    """What may fill a slot.

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
class _Word:
    text: str

    def pattern(self) -> str:
        spellings = (self.text, *MISHEARD.get(self.text, ()))
        if len(spellings) == 1:
            return re.escape(self.text) + " "
        return "(?:" + "|".join(map(re.escape, spellings)) + ") "

    def first(self) -> tuple[set[str], bool]:
        return {self.text, *MISHEARD.get(self.text, ())}, False

    def sample(self, rng: random.Random, filled: Mapping[str, str]) -> list[str]:
        return [self.text]


@dataclass(frozen=True, slots=True)
class _Slot:
    name: str
    kind: SlotKind

    def pattern(self) -> str:
        return f"(?P<{self.name}>{self.kind.pattern})"

    def first(self) -> tuple[set[str], bool]:
        return {""}, False

    def sample(self, rng: random.Random, filled: Mapping[str, str]) -> list[str]:
        return [filled.get(self.name) or self.kind.sample(rng)]


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: tuple["_Node", ...]

    def pattern(self) -> str:
        return "".join(part.pattern() for part in self.parts)

    def first(self) -> tuple[set[str], bool]:
        words: set[str] = set()
        for part in self.parts:
            more, empty = part.first()
            words |= more
            if not empty:
                return words, False
        return words, True

    def sample(self, rng: random.Random, filled: Mapping[str, str]) -> list[str]:
        return [word for part in self.parts for word in part.sample(rng, filled)]


@dataclass(frozen=True, slots=True)
class _Choice:
    options: tuple[_Sequence, ...]
    optional: bool = False

    def pattern(self) -> str:
        return "(?:" + "|".join(o.pattern() for o in self.options) + ")" + ("?" if self.optional else "")

    def first(self) -> tuple[set[str], bool]:
        found = [option.first() for option in self.options]
        return set().union(*(words for words, _ in found)), self.optional or any(empty for _, empty in found)

    def sample(self, rng: random.Random, filled: Mapping[str, str]) -> list[str]:
        if self.optional and rng.random() < 0.5:
            return []
        return rng.choice(self.options).sample(rng, filled)


_Node = _Word | _Slot | _Sequence | _Choice


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled template; the module docstring describes the notation."""

    tree: _Sequence
    kinds: Mapping[str, SlotKind]
    """Slot name to kind."""
    first_words: frozenset[str]
    """The words that an utterance may begin with; includes "" if it may begin with a slot."""
    expression: "re.Pattern[str]" = field(repr=False)

    @classmethod
    def compile(cls, text: str, kinds: Mapping[str, SlotKind]) -> "Template":
        """Compile a template; `kinds` maps names to kinds.

        Raises:
            ValueError: brackets do not match or a kind is unknown.
        """
        slots: dict[str, SlotKind] = {}
        tokens = list(_TOKEN.finditer(text))
        tree, position = _read_sequence(tokens, 0, kinds, slots)
        if position != len(tokens):
            raise ValueError(f"The template {text!r} closes a bracket it never opened.")
        first, _ = tree.first()
        return cls(tree, slots, frozenset(first), re.compile(tree.pattern()))

    def match(self, text: str) -> dict[str, object] | None:
        """The slot values of `text` (words, each followed by one space), or None if it does not match."""
        found = self.expression.fullmatch(text)
        if found is None:
            return None
        values: dict[str, object] = {}
        for name, words in found.groupdict().items():
            if words is None:
                continue
            value = self.kinds[name].parse(words.strip())
            if value is None:
                return None
            values[name] = value
        return values

    def sample(self, rng: random.Random, filled: Mapping[str, str]) -> str:
        """A sentence that this template matches, in a recogniser's spelling; `filled` has words for some slots."""
        return " ".join(self.tree.sample(rng, filled))


def _read_sequence(
    tokens: list["re.Match[str]"], at: int, kinds: Mapping[str, SlotKind], slots: dict[str, SlotKind]
) -> tuple[_Sequence, int]:
    parts: list[_Node] = []
    while at < len(tokens) and tokens[at].group() not in (")", "]", "|"):
        opening = tokens[at].group()
        if opening in ("(", "["):
            choice, at = _read_choice(tokens, at + 1, kinds, slots, closing=")" if opening == "(" else "]")
            parts.append(choice)
            continue
        name = tokens[at].group(1) or tokens[at].group(3)
        if name:
            kind = tokens[at].group(2) or name
            if kind not in kinds:
                raise ValueError(f"No kind is called {kind!r}.")
            slots[name] = kinds[kind]
            parts.append(_Slot(name, kinds[kind]))
        else:
            parts.append(_Word(opening))
        at += 1
    return _Sequence(tuple(parts)), at


def _read_choice(
    tokens: list["re.Match[str]"], at: int, kinds: Mapping[str, SlotKind], slots: dict[str, SlotKind], *, closing: str
) -> tuple[_Choice, int]:
    options: list[_Sequence] = []
    while True:
        option, at = _read_sequence(tokens, at, kinds, slots)
        options.append(option)
        if at == len(tokens):
            raise ValueError(f"A template lacks its {closing!r}.")
        at += 1
        if tokens[at - 1].group() != "|":
            return _Choice(tuple(options), optional=closing == "]"), at
