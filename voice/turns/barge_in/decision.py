"""What becomes of an answer that the caller speaks over: ducked, silenced, stopped or resumed. Pure: times are given.

Speech between a request and the first moment of its answer silences that at once: the caller may be going on. Any words
then stop it, but backchannels and laughter; a cough leaves the answer as it was, only later.

Later, sound that is likely to be speech ducks the answer; the words decide:

- "stop", "wait", a correction or the answer to the agent's question stop it as soon as the recogniser has stayed with
  them for `STABLE`, and so does a whole request that has lasted for `short`.
- Other words stop it when the speech has gone on for `decide`; a shorter sound whose words ask for nothing is no
  interruption, because recognisers write words for hums, coughs and laughter, too.
- Speech without any word yet silences it after `decide`. It stays silent, and can still be resumed, for `hold`, and
  while the speech goes on for `HOLDS` times as long: some recognisers give words only at a pause. Words that come after
  the answer has gone on still stop it.
- Backchannels, no words, the agent's own words and voices that are much softer than the caller's resume it.

A recogniser may also tell what a short sound is like, whatever its words: one that is like a backchannel stops the
answer only by words that ask for it, and one that is like an interruption stops it however short it is.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto

from latency.record.turn import Because, OverlapRecord
from voice.turns.barge_in.meaning import TAKES_THE_FLOOR, Meaning

STABLE = 0.15
"""Seconds for which partial words must mean the same: PocketSphinx corrects its words every 0.1 s."""
LIKELY = 0.13
"""Seconds of speech before the detector calls it likely."""
DETECTION = 0.23
"""Seconds of speech before the detector reports it (median; see `voice.turns.vad`)."""
LISTENS = 4.0
"""Seconds after the end of the sound after which no words are expected any more."""
AWAITED = 1.0
"""Seconds after the end of the sound for which a silenced answer waits for the last words, however long it was held."""
HOLDS = 3
"""How many times `hold` an answer stays silent while the speech goes on without words."""

LISTENS_BELOW = 20.0
"""Nats by which a sound must be more like an interruption than like a backchannel, for its words to stop the answer."""
INTERRUPTS_FROM = 60.0
"""Nats from which it stops the answer however short it is, unless its words are a backchannel's."""
LEANS = 1.3
"""Seconds of sound after which only its words count."""
SENTENCE, MANY_WORDS = 0.65, 4
"""Seconds of sound and words in it from which they count already: sentences, too, may begin like a backchannel."""


class Action(Enum):
    """What is to be done with the answer."""

    DUCK = auto()
    """Go on more softly."""
    SILENCE = auto()
    """Be silent, in a way that can be taken back."""
    RESUME = auto()
    """Go on as before; a silenced answer goes on where it was."""
    STOP = auto()
    """The caller's turn begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """When speech stops an answer; seconds."""

    decide: float
    """How long speech goes on before words of any kind stop the answer."""
    short: float
    """Shorter speech stops the answer only by words that ask for it."""
    hold: float
    """How long a silenced answer waits for words."""


class BargeInDecision:
    """One stretch of speech over an answer, from the first sound to the decision; then it is `idle` again.

    Args:
        rules: when speech stops an answer.
        meaning: what the words so far mean, and whether they are all.
        is_far: whether the sound so far is too soft to be the caller's.
    """

    def __init__(
        self, rules: Rules, meaning: Callable[[str, bool], Meaning], *, is_far: Callable[[], bool] = lambda: False
    ) -> None:
        self._rules, self._meaning, self._is_far = rules, meaning, is_far
        self.record: OverlapRecord | None = None
        """The latest stretch of sound and what was decided, also after the decision; None after `clear`."""
        self.clear()

    def clear(self) -> None:
        """Forget the speech: a turn has begun."""
        self._begin(None)

    def _begin(self, record: OverlapRecord | None, *, early: bool = False) -> None:
        self.record = record
        self._active = record is not None
        self._early = early
        """Whether the speech began before the answer, or in its first moment."""
        self._text, self._final = "", False
        self._meant: tuple[Meaning, float] = (Meaning.NOTHING, 0.0)
        """What the words mean, and since when."""
        self._reported = False
        self._until: float | None = None
        self._let_go = False
        self._leaning: float | None = None
        self._leant_in_pause = False
        """Whether what the sound is like was told since its latest pause."""

    @property
    def idle(self) -> bool:
        """Whether no sound over the answer awaits a decision."""
        return not self._active

    @property
    def spoken(self) -> bool:
        """Whether the detector has reported the sound as speech."""
        return self._active and self._reported

    def likely(self, now: float) -> Action | None:
        """A sound is likely to be speech."""
        if self._active:
            return None
        self._begin(OverlapRecord(onset=now - LIKELY, ducked=now))
        return Action.DUCK

    def unlikely(self, now: float) -> Action | None:
        """The sound was no speech: it ended before the detector reported any."""
        if not self._active or self._reported:
            return None
        return self._end(Action.RESUME, "no_speech", now)

    def started(self, now: float, *, early: bool = False) -> Action | None:
        """The detector reports speech; `early` if the answer has hardly begun, or is still awaited."""
        if self._active and not self._let_go:
            self._until, self._final, self._reported = None, False, True
            self._leaning, self._leant_in_pause = None, False
            return None
        silenced = now if early else None
        self._begin(OverlapRecord(onset=now - DETECTION, ducked=now, silenced=silenced), early=early)
        self._reported = True
        return Action.SILENCE if early else Action.DUCK

    def paused(self, now: float, silence: float) -> Action | None:
        """The detector hints at, or reports, the end of speech after this much silence."""
        self._until = now - silence
        return self.tick(now)

    def went_on(self) -> None:
        """The hint was wrong."""
        self._until, self._leant_in_pause = None, False

    def words(self, text: str, now: float, *, final: bool) -> Action | None:
        """The recogniser's words so far; with `final`, it gives no others."""
        self._text, self._final = text, final
        return self.tick(now)

    def leans(self, nats: float) -> None:
        """By the sound so far, an interruption is likelier than a backchannel by this much."""
        if self._active:
            self._leaning, self._leant_in_pause = nats, self._until is not None

    def lost(self, now: float) -> Action | None:
        """The recogniser has failed: there will be no words."""
        if not self._active:
            return None
        if self._lasted(now) < self._rules.short:
            return self._end(Action.RESUME, "short", now)
        return self._end(Action.STOP, "no_words", now)

    def tick(self, now: float) -> Action | None:
        """Time has passed."""
        if self.record is None or not (self._active and self._reported):
            return None
        meaning = self._meaning(self._text, self._final)
        if meaning is not self._meant[0]:
            self._meant = (meaning, now)
        if self._final:
            return self._by_last_words(meaning, now)
        stays = now - self._meant[1] >= STABLE
        if self._early and stays and meaning is Meaning.WORDS and not self._is_far():
            return self._end(Action.STOP, "at_once", now)
        if stays and not self._is_far() and self._asks(meaning, now):
            return self._end(Action.STOP, _WHY[meaning], now)
        if self._leant_in_pause and self._text and meaning is not Meaning.OWN and self._calls(meaning, now):
            # The sound seems over: its last words come later and would change nothing.
            return self._end(Action.STOP, "stop_word", now)
        silenced = self.record.silenced
        if silenced is not None and now - silenced >= self._rules.hold:
            return self._after_hold(now - silenced, meaning, now)
        if self._until is not None and now - self._until >= LISTENS:
            return self._go_on(now)
        if now - self.record.onset >= self._rules.decide and not self._let_go:
            return self._in_time(self.record, meaning, now)
        return None

    def _after_hold(self, held: float, meaning: Meaning, now: float) -> Action | None:
        """What follows from a silence of `held` seconds, in which no words have decided."""
        if self._until is not None:
            # Some recognisers give words only after the speech; those of a long request come last.
            return self._go_on(now) if now - self._until >= (LISTENS if self._early else AWAITED) else None
        if meaning is not Meaning.NOTHING or self._is_far():
            return None if self._early else self._go_on(now)
        if self._early:
            # Speech that goes on without words is the caller's, and the last words are worth waiting for.
            return self._end(Action.STOP, "at_once", now)
        return self._go_on(now) if held >= HOLDS * self._rules.hold else None

    def _go_on(self, now: float) -> Action | None:
        """The answer goes on, but for a while a request is not lost because its words are late."""
        if self._let_go:
            is_over = self._until is not None and now - self._until >= 2 * LISTENS
            return self._end(Action.RESUME, "no_words", now) if is_over else None
        self._let_go = True
        return self._resume("no_words", now)

    def _in_time(self, record: OverlapRecord, meaning: Meaning, now: float) -> Action | None:
        """What follows from speech that has gone on, or whose words have been awaited, for `decide`."""
        lasted = self._lasted(now)
        if self._until is not None and lasted < self._rules.short and record.silenced is None:
            # The words are late. A "stop" among them still stops the answer.
            self._let_go = True
            return self._resume("short", now)
        if meaning in (Meaning.BACKCHANNEL, Meaning.OWN) or self._is_far() or self._listens(now):
            return None
        if lasted >= self._rules.decide and self._calls(meaning, now):
            return self._end(Action.STOP, "stop_word", now)
        if meaning is Meaning.WORDS and lasted >= self._rules.decide:
            return self._end(Action.STOP, "words", now)
        if meaning is Meaning.NOTHING and record.silenced is None:
            self.record = replace(record, silenced=now)
            return Action.SILENCE
        return None

    def _by_last_words(self, meaning: Meaning, now: float) -> Action:
        """What follows from all words there will be."""
        if meaning in (Meaning.BACKCHANNEL, Meaning.OWN, Meaning.NOTHING):
            return self._end(Action.RESUME, _WHY[meaning], now)
        if self._is_far():
            return self._end(Action.RESUME, "far", now)
        if self._early:
            return self._end(Action.STOP, "at_once", now)
        if self._asks(meaning, now):
            return self._end(Action.STOP, _WHY[meaning], now)
        if self._calls(meaning, now):
            return self._end(Action.STOP, "stop_word", now)
        if self._listens(now):
            return self._end(Action.RESUME, "backchannel", now)
        if self._lasted(now) < self._rules.short:
            return self._end(Action.RESUME, "short", now)
        return self._end(Action.STOP, "words", now)

    def _asks(self, meaning: Meaning, now: float) -> bool:
        """Whether the words alone stop the answer. Recognisers hear whole requests in a hum, too ("the time")."""
        if meaning is Meaning.REQUEST and not self._early:
            return self._lasted(now) >= self._rules.short and not self._listens(now)
        return meaning in TAKES_THE_FLOOR or meaning is Meaning.REQUEST

    def _listens(self, now: float) -> bool:
        """Whether the sound is like a backchannel."""
        lasted = self._lasted(now)
        is_long = lasted >= LEANS or (lasted >= SENTENCE and len(self._text.split()) >= MANY_WORDS)
        return self._leaning is not None and self._leaning < LISTENS_BELOW and not is_long

    def _calls(self, meaning: Meaning, now: float) -> bool:
        """Whether the sound is like an interruption, and neither read as a backchannel nor too soft."""
        if meaning is Meaning.BACKCHANNEL or self._leaning is None or self._is_far():
            return False
        return self._leaning >= INTERRUPTS_FROM and self._lasted(now) < LEANS

    def _lasted(self, now: float) -> float:
        return (now if self._until is None else self._until) - (self.record.onset if self.record else now)

    def _end(self, action: Action, because: Because, now: float) -> Action:
        self._active = False
        if action is Action.RESUME:
            return self._resume(because, now)
        if self.record is not None:
            words = self._text or None
            self.record = replace(self.record, decided=now, verdict="stopped", because=because, words=words)
        return action

    def _resume(self, because: Because, now: float) -> Action:
        if self.record is not None:
            words = self._text or None
            self.record = replace(self.record, decided=now, verdict="resumed", because=because, words=words)
        return Action.RESUME


_WHY: dict[Meaning, Because] = {
    Meaning.NOTHING: "nothing_heard",
    Meaning.BACKCHANNEL: "backchannel",
    Meaning.OWN: "own_words",
    Meaning.WORDS: "words",
    Meaning.STOP: "stop_word",
    Meaning.ANSWER: "answer",
    Meaning.REQUEST: "request",
}
