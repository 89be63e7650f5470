"""Judges the outcome of each turn from its session's recording and the labels.

* Turn latency: from the true end of the user's speech to the first sample of the bot's next utterance, if that starts
  before the user's next turn.
* Cut-off: the bot starts to speak between the start and the end of the user's speech, pauses included, or the first
  utterance after that end answers a turn that the server took for finished before it.
* Early: an answer that is heard less than 200 ms after the user's end. People rarely answer faster.
* First answer audio: like turn latency, but to the answer itself if a phrase bridged the wait for it.
* Barge-in stop: from the user's onset to the last audible sample of the bot's utterance, if it was stopped. A bot that
  finished its sentence was not stopped.
* Talk-over: how long the bot was audible while the user spoke.
* A turn that wants an answer and gets none has exactly one reason (`Unanswered`). Neither an apology for
  a failed language model nor a phrase that bridged a wait is an answer.
* If the record of the next turn is lost, only an utterance confirmed by the turn's own marks is its answer; other
  utterances before the next known turn may belong to the lost one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from latency.audio.loudness import Span
from latency.budget import EARLY
from latency.judge.answer import judge_answer
from latency.judge.barge_in import BargeInResult, Sound, talk_over
from latency.judge.llm_budget import is_answerless
from latency.record.contributions import UNNAMED
from latency.record.marks import Mark
from latency.record.turn import ServerTurn, TurnRecord

JITTER_BUFFER = 0.3
"""Seconds from the server to the ear: an answer sent less than this before the next turn was talked over."""
CALLER_PATIENCE = 3.9
"""Seconds of silence that are the agent's fault: the caller of a replay waits 4 s, and checks once per frame."""


class Unanswered(StrEnum):
    """Why a turn got no answer."""

    NO_RECORDING = "recording lost"
    SESSION_CLOSED = "session closed"
    FAILED = "component failed"
    NOTHING_HEARD = "nothing heard"
    TALKED_ON = "bot talked on"
    ONLY_EARLY = "bot spoke only before the user's end"
    TALKED_OVER = "talked over by the next turn"
    INTERRUPTED = "interrupted before its answer was heard"
    HUNG_UP = "the call ended before its answer"
    RECORD_LOST = "the record behind it is lost"
    """The answer may belong to the lost turn."""
    NO_SPEECH = "no speech from the bot"


LOST = frozenset({Unanswered.NO_RECORDING, Unanswered.RECORD_LOST})
"""Reasons that are independent of the agent: whether it answered is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWindow:
    """The time for a turn's answer, and facts about its session; seconds on the recording's clock."""

    following: float | None
    """When the user began the next known turn; None after the last one."""
    until: float | None
    """When the caller stopped waiting: at `following`, or where the recording ends; None when the record of the next
    turn is lost."""
    is_session_reported: bool
    """Whether the server reported any turn of the session."""
    is_session_closed: bool
    """Whether the session ended early."""

    @property
    def is_before_lost(self) -> bool:
        """Whether the record of the next turn is lost."""
        return self.until is None


def _why_unanswered(turn: TurnRecord, window: AnswerWindow, *, early: bool, talked_on: bool) -> Unanswered:
    """The reason why a turn with speech and a recording got no answer, although it wants one.

    Args:
        early: Whether the bot spoke between the start and the end of the user's speech.
        talked_on: Whether the bot spoke from before the user's onset until after the user's end.
    """
    following, until = window.following, window.until
    if window.is_session_closed and not turn.server_turns:
        return Unanswered.SESSION_CLOSED
    if turn.failed is not None:
        return Unanswered.FAILED
    if talked_on:
        return Unanswered.TALKED_ON
    # When a call ends, the words of its last turn may not have been reported.
    hasty = until is not None and turn.end is not None and until - turn.end < CALLER_PATIENCE
    if hasty and following is None and turn.ended_by is None:
        return Unanswered.HUNG_UP
    if window.is_session_reported and not turn.heard:
        return Unanswered.NOTHING_HEARD
    if early:
        return Unanswered.ONLY_EARLY
    stages = (Mark.CLAUSE_TO_TTS, Mark.TTS_FIRST_SAMPLE, Mark.FIRST_SENT)
    under_way = [turn.marks[mark] for mark in stages if mark in turn.marks]
    late = bool(following is not None and under_way and max(under_way) > following - JITTER_BUFFER)
    if following is not None and (turn.interrupted or late or hasty):
        return Unanswered.TALKED_OVER
    if hasty:
        return Unanswered.HUNG_UP
    return Unanswered.INTERRUPTED if turn.interrupted else Unanswered.NO_SPEECH


PHRASE_SLACK = 0.03
"""Seconds by which a phrase may end earlier than its first sound plus its length: the silence before that sound."""
CLOCK_ERROR = 0.02
"""Largest error of the server's clock, seconds."""


def first_answer(turn: TurnRecord, heard: Sequence[Span], sounds: Sequence[Span]) -> float | None:
    """When the answer's first audible sample was played, seconds; None when it cannot be determined.

    Args:
        turn: The turn, with the server's reports of it.
        heard: The bot's utterances between this turn and the next, in order.
        sounds: The bot's sounds in the whole recording (`latency.audio.onset.sounds`).
    """
    # The last committed report, from which the record's own fields come.
    report = next((one for one in reversed(turn.server_turns) if Mark.TURN_COMMIT in one.marks), None)
    if not heard or report is None or not report.is_opening_known:
        return None
    if report.attempts and all(attempt.outcome != "spoken" for attempt in report.attempts):
        return None
    if report.opening is None:
        return heard[0].start
    over = _phrases_over(report, heard)
    if over is None:
        return None
    text = report.marks.get(Mark.LLM_FIRST_CLAUSE)
    after = over if text is None else max(over, text - CLOCK_ERROR)
    # An earlier sound that ends at once is the phrase's last word; one that continues has become the answer.
    found = next((one for one in sounds if one.start >= after or one.end > after + PHRASE_SLACK), None)
    return None if found is None or found.start >= heard[-1].end else max(found.start, after)


def _phrases_over(report: ServerTurn, heard: Sequence[Span]) -> float | None:
    """The earliest time at which the last phrase can have ended; `heard` starts with the first phrase."""
    seconds = report.opening_seconds
    if seconds is None:
        return None
    instants = [phrase.at for answer in report.responses for phrase in answer.said]
    start = heard[0].start
    if len(instants) > 1:
        last = instants[-1]
        found = None if last is None else next((one for one in heard if one.start >= last - CLOCK_ERROR), None)
        if found is None:
            return None
        start = found.start
        seconds -= sum(one.end - one.start for one in heard if one.start < start)
    return start + max(0.0, seconds) - PHRASE_SLACK


ONSET_REACH = 0.05
"""Largest difference between the client's and the recording's onset of an answer, seconds."""
REACH = 0.3
"""Seconds after a pause in which an agent that took it for the end cannot yet know that the user has continued."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A turn and its measurements in the recording; durations in seconds."""

    turn: TurnRecord
    latency: float | None = None
    answer: float | None = None
    """End of speech to the first audible sample of the answer itself, which a phrase may precede."""
    whole: float | None = None
    """End of speech to the last audible sample of an answer that was played to its end."""
    cut_off: bool = False
    """Whether the answer began before the user had finished; no latency is counted then."""
    answered: bool = False
    unanswered: Unanswered | None = None
    right: bool | None = None
    """Whether the heard part of the answer contains the right words (see `latency.judge.answer`); None when no right
    answer, or no transcript of it, is known."""
    barge_in: BargeInResult | None = None
    """None for a turn that was not meant to interrupt."""
    barge_in_stop: float | None = None
    sound: Sound | None = None
    """The effect on the answer of a sound that is not a turn; None for a turn with speech."""
    ducked: float | None = None
    """From the user's onset over an answer until the loudspeaker was softer; None if it was not."""
    talk_over: float = 0.0
    """Seconds during which both spoke, including the time until the bot stopped for a barge-in."""
    early_heard: float = 0.0
    """Heard seconds of utterances that began before the user had finished."""
    pauses: int = 0
    pauses_cut: int = 0
    """Pauses in which the bot started to speak or the server took the turn for finished."""
    taken: tuple[bool, ...] = ()
    """Which of the turn's pauses these are, in order; empty without a recording."""
    residual: float | None = None
    """The part of the recorded latency that the marks do not explain, seconds, never negative."""

    @property
    def is_timed(self) -> bool:
        """Whether its latency counts: the turn wants an answer and got one that did not begin too early."""
        return self.turn.wants_answer and self.latency is not None and not self.cut_off

    @property
    def is_usual(self) -> bool:
        """Whether it is a usual turn, warm and not a barge-in, whose latency counts with the others'."""
        return not (self.turn.cold or self.turn.barge_in)

    @property
    def is_unanswered(self) -> bool:
        """Whether the turn is known to have got no answer, which counts as later than any limit."""
        return self.unanswered is not None and self.unanswered not in LOST

    @property
    def is_early(self) -> bool:
        """Whether its answer was heard too soon after the user's end."""
        return self.is_timed and self.latency is not None and self.latency < EARLY


def judge_turn(turn: TurnRecord, spoken: Sequence[Span], pieces: Sequence[Span], window: AnswerWindow) -> Outcome:
    """Judge one turn.

    Args:
        spoken: The bot's utterances in the recording.
        pieces: Its sounds, where a phrase may precede an answer.
        window: The time that its answer had.
    """
    start, end = turn.start, turn.end
    if start is None or end is None:
        return Outcome(turn=turn)
    answerless, following = is_answerless(turn), window.following
    heard = [u for u in spoken if u.start >= end and (following is None or u.start < following)]
    if window.is_before_lost:
        heard = _confirmed(turn, heard)
    reply = heard[0] if heard and not answerless else None
    early = [u for u in spoken if start <= u.start < end]
    under_way = next((u for u in spoken if u.start < start < u.end), None)
    latency = reply.start - end if reply else None
    is_played_out = not (turn.interrupted or (heard and following is not None and heard[-1].end > following))
    answered = turn.wants_answer and not answerless and (reply is not None or any(u.end > end for u in early))
    unanswered = None
    if turn.wants_answer and not answered:
        talked_on = under_way is not None and under_way.end > end
        unanswered = _why_unanswered(turn, window, early=bool(early), talked_on=talked_on)
        if window.is_before_lost and unanswered is Unanswered.NO_SPEECH:
            unanswered = Unanswered.RECORD_LOST
    taken = _pauses_taken(turn, spoken)
    right = None
    if turn.wants_answer and turn.contains and unanswered not in LOST:
        right = False if unanswered else judge_answer(turn)
    return Outcome(
        turn=turn,
        latency=latency,
        answer=_answer(turn, latency, heard, pieces),
        whole=heard[-1].end - end if reply and is_played_out and not window.is_before_lost else None,
        cut_off=not turn.backchannel and (bool(early) or _begun_early(turn, reply)),
        answered=answered,
        unanswered=unanswered,
        right=right,
        talk_over=talk_over(turn, spoken),
        early_heard=sum(u.end - u.start for u in early),
        pauses=len(turn.pauses),
        pauses_cut=sum(taken),
        taken=taken,
        residual=_residual(turn, latency),
    )


def _confirmed(turn: TurnRecord, heard: list[Span]) -> list[Span]:
    """The utterances from the start of the answer on, by the turn's own marks; none without marks."""
    played, sent = turn.marks.get(Mark.FIRST_AUDIBLE), turn.marks.get(Mark.FIRST_SENT)
    if played is not None:
        earliest, latest = played - ONSET_REACH, played + ONSET_REACH
    elif sent is not None:
        earliest, latest = sent, sent + JITTER_BUFFER
    else:
        return []
    first = next((number for number, one in enumerate(heard) if earliest <= one.start <= latest), len(heard))
    return heard[first:]


def _answer(turn: TurnRecord, latency: float | None, heard: Sequence[Span], pieces: Sequence[Span]) -> float | None:
    """The answer's own latency, from the recording or, without the server's report, from the client's playout."""
    if latency is None or turn.end is None:
        return None
    if (found := first_answer(turn, heard, pieces)) is not None:
        return found - turn.end
    first, answer = turn.marks.get(Mark.FIRST_AUDIBLE), turn.marks.get(Mark.FIRST_ANSWER_AUDIBLE)
    return None if first is None or answer is None else latency + answer - first


def _commits(turn: TurnRecord) -> list[float]:
    return [one.marks[Mark.TURN_COMMIT] for one in turn.server_turns if Mark.TURN_COMMIT in one.marks]


def _pauses_taken(turn: TurnRecord, spoken: Sequence[Span]) -> tuple[bool, ...]:
    instants = [u.start for u in spoken] + _commits(turn)
    last = turn.end or 0.0
    return tuple(any(start <= instant < min(end + REACH, last) for instant in instants) for start, end in turn.pauses)


def _begun_early(turn: TurnRecord, reply: Span | None) -> bool:
    """Whether the first utterance after the user's end answers a turn that was committed before it."""
    if reply is None or turn.start is None or turn.end is None:
        return False
    before = [commit for commit in _commits(turn) if turn.start <= commit <= reply.start]
    return bool(before) and max(before) < turn.end


def _residual(turn: TurnRecord, latency: float | None) -> float | None:
    needed = (Mark.VAD_STOP, Mark.FIRST_SENT, Mark.FIRST_AUDIBLE)
    if latency is None or any(mark not in turn.marks for mark in needed):
        return None
    named = sum(part or 0.0 for key, part in turn.contributions().items() if key != UNNAMED)
    return abs(latency - named)
