"""Judges a session: each of its turns, and the session as a whole, by the recording.

In a run with injected faults, each turn also has exactly one end.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from latency.audio.dropouts import gaps, split_at_flushes
from latency.audio.onset import Span, as_floats, sounds, utterances
from latency.audio.recording import RATE
from latency.judge.barge_in import BotSpeech, ducked_after, false_barge_ins, judge_barge_in, judge_sound, onset_of
from latency.judge.llm_budget import judge
from latency.judge.turn import LOST, ONSET_REACH, AnswerWindow, Outcome, Unanswered, judge_turn
from latency.record.marks import Mark
from latency.record.session import InjectedFault, Session
from latency.record.turn import TurnRecord

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


KEY_REACH = 1.0
"""Seconds for a key's interruption to reach the server and come back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOutcome:
    """A session's turns, and findings about the session as a whole."""

    session: Session
    outcomes: tuple[Outcome, ...]
    recorded: bool
    spoken: tuple[Span, ...] = ()
    """The bot's utterances, ended where an interruption emptied the loudspeaker."""
    gaps: tuple[Span, ...] = ()
    false_barge_ins: int = 0
    """Interruptions of an audible bot that were not caused by a turn of the user."""


def judge_session(
    session: Session,
    turns: Sequence[TurnRecord],
    stereo: "npt.NDArray[np.int16] | None",
    *,
    is_whole: bool = True,
) -> SessionOutcome:
    """Judge the turns of a session by its recording.

    Args:
        turns: Its recorded turns, in order; numbers missing between them were lost.
        stereo: The recording, int16, shape (samples, 2), 16 kHz; None when there is none.
        is_whole: Whether the last of them was the session's last turn.
    """
    if stereo is None:
        outcomes = [
            Outcome(turn=turn, unanswered=Unanswered.NO_RECORDING if turn.wants_answer else None) for turn in turns
        ]
        return SessionOutcome(session=session, outcomes=tuple(outcomes), recorded=False)
    samples = as_floats(stereo[:, 1])
    server_turns = [one for turn in turns for one in turn.server_turns]
    bot = BotSpeech(
        spoken=split_at_flushes(utterances(samples, RATE), samples, RATE, session.flushes),
        samples=samples,
        flushes=session.flushes,
        ducked=session.ducked,
        overlaps=[overlap for one in server_turns for overlap in one.overlaps or ()],
    )
    pieces = sounds(samples, RATE) if any(one.opening for one in server_turns) else ()
    outcomes = []
    for position, turn in enumerate(turns):
        later = turns[position + 1 :]
        following = next((one.start for one in later if one.start is not None), None)
        next_number = later[0].turn if later else turn.turn + is_whole
        is_lost = next_number != turn.turn + 1
        window = AnswerWindow(
            following=following,
            until=None if is_lost else len(samples) / RATE if following is None else following,
            is_session_reported=bool(server_turns),
            is_session_closed=session.closed is not None,
        )
        barge_in = judge_barge_in(turn, bot)
        again = next((onset for one in later if (onset := onset_of(one)) is not None), None)
        judged = replace(
            judge_turn(turn, bot.spoken, pieces, window),
            barge_in=barge_in and barge_in.result,
            barge_in_stop=barge_in and barge_in.stop,
            sound=judge_sound(turn, bot, following=again),
            ducked=ducked_after(turn, bot),
        )
        outcomes.append(judged)
    found = gaps(samples, RATE, underruns=session.underruns, flushes=session.flushes, spoken=bot.spoken)
    # An interruption by a key is not without cause.
    unasked = [at for at in session.flushes if not any(0 <= at - key <= KEY_REACH for key in session.silence_asked)]
    return SessionOutcome(
        session=session,
        outcomes=tuple(outcomes),
        recorded=True,
        spoken=tuple(bot.spoken),
        gaps=_dropouts(found, outcomes),
        false_barge_ins=false_barge_ins(turns, replace(bot, flushes=unasked)),
    )


def _dropouts(found: Sequence[Span], outcomes: Sequence[Outcome]) -> tuple[Span, ...]:
    """Gaps in the bot's speech, without the silences between a bridging phrase and its answer."""
    bridged = [
        o.turn.end + o.answer
        for o in outcomes
        if o.turn.end is not None and o.latency is not None and o.answer is not None and o.answer > o.latency
    ]
    return tuple(gap for gap in found if not any(abs(gap.end - answer) <= ONSET_REACH for answer in bridged))


End = Literal["answered", "rescued", "apologised", "unanswered", "not judged", "no answer wanted", "not played"]
"""Answered by the tier asked first, or by another; the caller was told that there is no answer; or there was none.
"not judged": the recording or the record is lost. "not played": the call ended before the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAccount:
    """One turn, its fault, and its end."""

    session: str
    turn: int
    faults: tuple[InjectedFault, ...]
    end: End
    reason: str | None = None
    """Why it was not answered; None for an answered turn."""


def accounts(sessions: Iterable[SessionOutcome], *, budget: float) -> tuple[TurnAccount, ...]:
    """One account for every turn of the sessions' recordings, in order, including turns that were never played.

    Args:
        sessions: the judged sessions.
        budget: see `latency.judge.llm_budget.judge`.
    """
    found = []
    for judged in sessions:
        session, following = judged.session, 0
        for outcome in judged.outcomes:
            end, reason = _end(outcome, budget)
            number = outcome.turn.turn
            faults = tuple(fault for fault in session.injected if fault.turn == number)
            found.append(TurnAccount(session=session.name, turn=number, faults=faults, end=end, reason=reason))
            following = number + 1
        why = f"the call ended before: {session.closed or 'the replay was stopped'}"
        found += [
            TurnAccount(session=session.name, turn=number, faults=(), end="not played", reason=why)
            for number in range(following, following + (session.never_sent or 0))
        ]
    return tuple(found)


def _end(outcome: Outcome, budget: float) -> tuple[End, str | None]:
    turn = outcome.turn
    if not turn.wants_answer:
        return "no answer wanted", None
    if outcome.answered:
        judged = judge(turn, budget=budget)
        another = judged is not None and judged.tier is not None and judged.tier != judged.asked
        return ("rescued" if another else "answered"), None
    if outcome.unanswered in LOST:
        return "not judged", str(outcome.unanswered)
    reason = turn.failed or (str(outcome.unanswered) if outcome.unanswered else None)
    # Speech after the end of a turn without an answer is the announcement of the reason.
    told = Mark.FIRST_AUDIBLE in turn.marks
    return ("apologised" if told else "unanswered"), reason
