"""An answer's text as a request delivers it: its tokens, and after which of them each clause can be spoken. Pure."""

from dataclasses import dataclass
from functools import lru_cache

from voice.llm.answer.clauses import ClauseSplitter
from voice.simulator.conversation import tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A piece of an answer that is spoken as one."""

    text: str
    until: int
    """How many tokens of the answer must have arrived before it is known to be whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """An answer's text, counted in the simulator's tokens."""

    text: str
    tokens: int
    clauses: tuple[Clause, ...]
    """In order; the last one is whole when the stream ends."""

    @property
    def first_clause(self) -> int:
        """Tokens that must arrive before the first clause can be spoken."""
        return self.clauses[0].until

    def after(self, heard: int) -> "Wording":
        """What is left after the first `heard` clauses, as a request that continues them says it."""
        return wording(" ".join(clause.text for clause in self.clauses[heard:]), begun=True)


@lru_cache(maxsize=4096)
def wording(text: str, *, begun: bool = False) -> Wording:
    """The wording of a text; `begun` says that it continues an answer, so that it has no first clause."""
    splitter, clauses = ClauseSplitter(begun=begun), list[Clause]()
    arrived = tokens(text)
    for count, token in enumerate(arrived, 1):
        clauses += [Clause(text=piece, until=count) for piece in splitter.feed(token)]
    if rest := splitter.flush():
        clauses.append(Clause(text=rest, until=len(arrived)))
    return Wording(text=text, tokens=len(arrived), clauses=tuple(clauses))
