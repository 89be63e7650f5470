"""Judges the outcome of each turn from its session's recording and the labels.

* Turn latency: from the true end of the user's speech to the first sample of the bot's next utterance, if that starts
  before the user's next turn.
* Cut-off: the bot starts to speak between the start and the end of the user's speech, pauses included, or what is
  heard first after that end answers a turn that the server took for finished before it.
* Early: an answer that is heard less than 200 ms after the user's end, as EVA (ServiceNow's benchmark of voice agents)
  counts it. People rarely answer faster.
* First answer audio: like turn latency, but to the answer itself if a phrase bridged the wait for it.
* Barge-in stop: from the user's onset to the last audible sample of the bot's utterance, if it was stopped. A bot that
  finished its sentence was not stopped.
* Talk-over: how long the bot was audible while the user spoke.
* A turn that wants an answer and gets none has exactly one reason (`latency.judge.unanswered`). Neither an apology for
  a failed language model nor a phrase that bridged a wait is an answer.
* Where the record of the next turn is lost, a turn's answer is only what its own marks confirm; anything else said
  before the next known turn may belong to the lost one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from latency.audio.onset import Span
from latency.judge.answer import first_answer
from latency.judge.barge_in import BargeInResult, talk_over
from latency.judge.overlap import Sound
from latency.judge.right import judge_answer
from latency.judge.unanswered import JITTER_BUFFER, LOST, Unanswered, why
from latency.judge.verdict import is_answerless
from latency.record.marks import Mark
from latency.record.turn import UNNAMED, TurnRecord

ONSET_REACH = 0.05
"""Largest difference between the client's and the recording's onset of an answer, seconds."""
EARLY = 0.2
"""Seconds after the user's end; an answer that is heard sooner is early."""
REACH = 0.3
"""Seconds after a pause during which an agent that took it for the end cannot know yet that the user has continued."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A turn and what the recording shows about it; durations in seconds."""

    turn: TurnRecord
    latency: float | None = None
    answer: float | None = None
    """End of speech to the first audible sample of the answer itself, which a phrase may precede."""
    whole: float | None = None
    """End of speech to the last audible sample of an answer that was played to its end."""
    cut_off: bool = False
    """Whether an answer was heard that was begun before the user had finished; no latency is counted then."""
    answered: bool = False
    unanswered: Unanswered | None = None
    right: bool | None = None
    """Whether what was heard of the answer contains what it should (see `latency.judge.right`); None when no right
    answer, or no transcript of it, is known."""
    barge_in: BargeInResult | None = None
    """None for a turn that was not meant to interrupt."""
    barge_in_stop: float | None = None
    sound: Sound | None = None
    """What a sound that is no turn did to the answer; None for a turn with speech."""
    ducked: float | None = None
    """From the user's onset over an answer until the loudspeaker was softer; None if it was not."""
    talk_over: float = 0.0
    """Seconds during which both spoke, including the time until the bot stopped for a barge-in."""
    early_heard: float = 0.0
    """Seconds that were heard of utterances begun before the user had finished."""
    pauses: int = 0
    pauses_cut: int = 0
    """Pauses in which the bot started to speak or the server took the turn for finished."""
    residual: float | None = None
    """The part of the recorded latency that the marks do not explain, seconds, never negative."""

    @property
    def is_timed(self) -> bool:
        """Whether its latency counts: the turn wants an answer, and got one that was not begun too early."""
        return self.turn.wants_answer and self.latency is not None and not self.cut_off

    @property
    def is_unanswered(self) -> bool:
        """Whether it is known that the turn got no answer, which counts as later than any limit."""
        return self.unanswered is not None and self.unanswered not in LOST

    @property
    def is_early(self) -> bool:
        """Whether its answer was heard too soon after the user's end to be one."""
        return self.is_timed and self.latency is not None and self.latency < EARLY


def judge_turn(
    turn: TurnRecord,
    spoken: Sequence[Span],
    pieces: Sequence[Span],
    *,
    following: float | None,
    until: float | None,
    reported: bool,
    closed: bool,
    before_lost: bool,
) -> Outcome:
    """Judge one turn.

    Args:
        turn: The turn.
        spoken: The bot's utterances in the recording.
        pieces: Its sounds, where a phrase may precede an answer.
        following: When the user's next known turn starts; None after the last one.
        until: When the time for an answer ended; None when the record of the next turn is lost.
        reported: Whether the server reported any turn of the session.
        closed: Whether the session ended early.
        before_lost: Whether the record of the next turn is lost.
    """
    start, end = turn.start, turn.end
    if start is None or end is None:
        return Outcome(turn=turn)
    answerless = is_answerless(turn)
    heard = [u for u in spoken if u.start >= end and (following is None or u.start < following)]
    if before_lost:
        heard = _vouched_for(turn, heard)
    reply = heard[0] if heard and not answerless else None
    early = [u for u in spoken if start <= u.start < end]
    under_way = next((u for u in spoken if u.start < start < u.end), None)
    latency = reply.start - end if reply else None
    answered = turn.wants_answer and not answerless and (reply is not None or any(u.end > end for u in early))
    unanswered = None
    if turn.wants_answer and not answered:
        talked_on = under_way is not None and under_way.end > end
        unanswered = why(
            turn,
            early=bool(early),
            talked_on=talked_on,
            following=following,
            until=until,
            reported=reported,
            closed=closed,
        )
        if before_lost and unanswered is Unanswered.NO_SPEECH:
            unanswered = Unanswered.RECORD_LOST
    return Outcome(
        turn=turn,
        latency=latency,
        answer=_answer(turn, latency, heard, pieces),
        whole=_whole(turn, heard[-1].end, end, following) if reply and not before_lost else None,
        cut_off=not turn.backchannel and (bool(early) or _begun_early(turn, reply)),
        answered=answered,
        unanswered=unanswered,
        right=_right(turn, unanswered),
        talk_over=talk_over(turn, spoken),
        early_heard=sum(u.end - u.start for u in early),
        pauses=len(turn.pauses),
        pauses_cut=_pauses_cut(turn, spoken),
        residual=_residual(turn, latency),
    )


def _vouched_for(turn: TurnRecord, heard: list[Span]) -> list[Span]:
    """The utterances from the one that started the answer according to the turn's own marks; none without marks."""
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


def _whole(turn: TurnRecord, last: float, end: float, following: float | None) -> float | None:
    return None if turn.interrupted or (following is not None and last > following) else last - end


def _right(turn: TurnRecord, unanswered: Unanswered | None) -> bool | None:
    if not (turn.wants_answer and turn.contains) or unanswered in LOST:
        return None
    return False if unanswered else judge_answer(turn)


def _pauses_cut(turn: TurnRecord, spoken: Sequence[Span]) -> int:
    commits = [server_turn.marks.get(Mark.TURN_COMMIT) for server_turn in turn.server_turns]
    instants = [u.start for u in spoken] + [commit for commit in commits if commit is not None]
    last = turn.end or 0.0
    return sum(any(start <= instant < min(end + REACH, last) for instant in instants) for start, end in turn.pauses)


def _begun_early(turn: TurnRecord, reply: Span | None) -> bool:
    """Whether what was heard first after the user's end answers a turn that was committed before it."""
    if reply is None or turn.start is None or turn.end is None:
        return False
    commits = [one.marks[Mark.TURN_COMMIT] for one in turn.server_turns if Mark.TURN_COMMIT in one.marks]
    before = [commit for commit in commits if turn.start <= commit <= reply.start]
    return bool(before) and max(before) < turn.end


def _residual(turn: TurnRecord, latency: float | None) -> float | None:
    needed = (Mark.VAD_STOP, Mark.FIRST_SENT, Mark.FIRST_AUDIBLE)
    if latency is None or any(mark not in turn.marks for mark in needed):
        return None
    named = sum(part or 0.0 for key, part in turn.contributions().items() if key != UNNAMED)
    return abs(latency - named)
