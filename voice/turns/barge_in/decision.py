"""The decision to duck, silence, stop or resume an answer over which the caller speaks. Pure: times are arguments.

Speech before the answer or in its first moment silences it at once, since the caller may be going on. Any words except
backchannels and laughter then stop it; a cough only delays it.

Later, sound that is likely to be speech ducks the answer; the words decide:

- "stop", "wait", a correction or the answer to the agent's question stop it once they have stayed in the transcript for
  `STABLE`, and so does a whole request that has lasted for `short`.
- Other words stop it when the speech has gone on for `decide`. A shorter sound whose words ask for nothing does not
  interrupt, because recognisers also write words for hums, coughs and laughter.
- Speech that still has no words silences it after `decide`. It can be resumed for `hold`, or `HOLDS` times as long
  while the speech goes on, since some recognisers give words only at a pause. Words that come after the answer has
  resumed still stop it.
- Backchannels, silence, the agent's own words and voices much softer than the caller's resume it.

A recogniser may also classify a short sound, regardless of its words: one like a backchannel stops the answer only if
its words ask for it, and one like an interruption stops it however short it is.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto

from latency.record.turn import Because, OverlapRecord
from voice.turns.barge_in.meaning import TAKES_THE_FLOOR, Meaning

STABLE = 0.15
"""Seconds for which interim words must keep their meaning: PocketSphinx revises its words every 0.1 s."""
LIKELY = 0.13
"""Seconds of speech before the detector calls it likely."""
DETECTION = 0.23
"""Seconds of speech before the detector reports it (median; see `voice.turns.vad`)."""
LISTENS = 4.0
"""Seconds after the end of the sound after which no words are expected any more."""
AWAITED = 1.0
"""Seconds after the end of the sound for which a silenced answer waits for the last words, even beyond `hold`."""
HOLDS = 3
"""The multiple of `hold` for which an answer stays silent while the speech goes on without words."""

LISTENS_BELOW = 20.0
"""The least log-likelihood ratio of interruption to backchannel, in nats, for a sound's words to stop the answer."""
INTERRUPTS_FROM = 60.0
"""The ratio from which a sound stops the answer however short it is, unless its words are a backchannel."""
LEANS = 1.3
"""Seconds of sound after which only the words count."""
SENTENCE, MANY_WORDS = 0.65, 4
"""Seconds of sound and number of words from which the words already count: a sentence may also begin like a
backchannel."""


class Action(Enum):
    """An action on the answer."""

    DUCK = auto()
    """Go on more softly."""
    SILENCE = auto()
    """Be silent, but ready to resume."""
    RESUME = auto()
    """Go on as before; a silenced answer goes on where it broke off."""
    STOP = auto()
    """The caller's turn begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The times by which speech stops an answer, in seconds."""

    decide: float
    """How long speech goes on before words of any kind stop the answer."""
    short: float
    """Shorter speech stops the answer only by words that ask for it."""
    hold: float
    """How long a silenced answer waits for words."""


class BargeInDecision:
    """Follows a stretch of speech over an answer, from the first sound to the decision; afterwards it is `idle`.

    Args:
        rules: when speech stops an answer.
        meaning: returns the meaning of words, given whether they are final.
        is_far: whether the sound so far is too soft to be the caller's.
    """

    def __init__(
        self, rules: Rules, meaning: Callable[[str, bool], Meaning], *, is_far: Callable[[], bool] = lambda: False
    ) -> None:
        self._rules, self._meaning, self._is_far = rules, meaning, is_far
        self.record: OverlapRecord | None = None
        """The latest stretch of sound and its decision, kept until `clear`."""
        self.clear()

    def clear(self) -> None:
        """Forget the speech: a turn has begun."""
        self._begin(None)

    def _begin(self, record: OverlapRecord | None, *, early: bool = False) -> None:
        self.record = record
        self._active = record is not None
        self._early = early
        """Whether the speech began before the answer, or in its first moment."""
        self._text, self._final, self._settled, self._doubtful = "", False, False, False
        self._meant: tuple[Meaning, float] = (Meaning.NOTHING, 0.0)
        """The meaning of the words, and since when they have had it."""
        self._reported = False
        self._until: float | None = None
        self._let_go = False
        self._leaning: float | None = None
        self._leant_in_pause = False
        """Whether the sound has been classified since its latest pause."""

    @property
    def idle(self) -> bool:
        """Whether no sound over the answer awaits a decision."""
        return not self._active

    @property
    def spoken(self) -> bool:
        """Whether the detector has reported the sound as speech."""
        return self._active and self._reported

    def likely(self, now: float) -> Action | None:
        """A sound is probably speech."""
        if self._active:
            return None
        self._begin(OverlapRecord(onset=now - LIKELY, ducked=now))
        return Action.DUCK

    def unlikely(self, now: float) -> Action | None:
        """The sound was not speech: it ended before the detector reported any."""
        if not self._active or self._reported:
            return None
        return self._end(Action.RESUME, "no_speech", now)

    def started(self, now: float, *, early: bool = False) -> Action | None:
        """The detector reports speech; `early` if the answer has only just begun, or is still awaited."""
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

    def words(
        self, text: str, now: float, *, final: bool, settled: bool = False, doubtful: bool = False
    ) -> Action | None:
        """Take the recogniser's words so far.

        Args:
            text: all words of this speech.
            now: seconds.
            final: whether it gives no others.
            settled: whether they were heard to their end, in a pause, so that their meaning need not prove stable.
            doubtful: whether the recogniser itself doubts them, so that only a "stop" or a backchannel counts.
        """
        self._text, self._final, self._settled, self._doubtful = text, final, settled, doubtful
        return self.tick(now)

    def leans(self, nats: float) -> None:
        """Take the log-likelihood ratio of interruption to backchannel for the sound so far."""
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
        if self._doubtful and meaning in (Meaning.WORDS, Meaning.REQUEST):
            meaning = Meaning.NOTHING
        if meaning is not self._meant[0]:
            self._meant = (meaning, now)
        if self._final:
            return self._by_last_words(meaning, now)
        stays = self._settled or now - self._meant[1] >= STABLE
        if self._early and stays and meaning is Meaning.WORDS and not self._is_far():
            return self._end(Action.STOP, "at_once", now)
        if stays and not self._is_far() and self._asks(meaning, now):
            return self._end(Action.STOP, _WHY[meaning], now)
        if self._leant_in_pause and self._text and meaning is not Meaning.OWN and self._calls(meaning, now):
            # The sound seems to be over: its last words would change nothing.
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
        """The action after `held` seconds of silence without a decision by words."""
        if self._until is not None:
            # Some recognisers give words only after the speech, and long requests take longest.
            return self._go_on(now) if now - self._until >= (LISTENS if self._early else AWAITED) else None
        if meaning is not Meaning.NOTHING or self._is_far():
            return None if self._early else self._go_on(now)
        if self._early:
            # Continuing speech without words is the caller's, and its last words are worth waiting for.
            return self._end(Action.STOP, "at_once", now)
        return self._go_on(now) if held >= HOLDS * self._rules.hold else None

    def _go_on(self, now: float) -> Action | None:
        """Resume the answer, but for a while still accept the late words of a request."""
        if self._let_go:
            is_over = self._until is not None and now - self._until >= 2 * LISTENS
            return self._end(Action.RESUME, "no_words", now) if is_over else None
        self._let_go = True
        return self._resume("no_words", now)

    def _in_time(self, record: OverlapRecord, meaning: Meaning, now: float) -> Action | None:
        """The action once speech has lasted, or its words have been awaited, for `decide`."""
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
        """The action once the words are final."""
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
        """Whether the words alone stop the answer. Recognisers hear whole requests even in a hum ("the time")."""
        if meaning is Meaning.REQUEST and not self._early:
            return self._lasted(now) >= self._rules.short and not self._listens(now)
        return meaning in TAKES_THE_FLOOR or meaning is Meaning.REQUEST

    def _listens(self, now: float) -> bool:
        """Whether the sound is like a backchannel."""
        lasted = self._lasted(now)
        is_long = lasted >= LEANS or (lasted >= SENTENCE and len(self._text.split()) >= MANY_WORDS)
        return self._leaning is not None and self._leaning < LISTENS_BELOW and not is_long

    def _calls(self, meaning: Meaning, now: float) -> bool:
        """Whether the sound is like an interruption, is not too soft, and has no backchannel's words."""
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
