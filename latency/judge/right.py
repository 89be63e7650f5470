"""Whether the answer to a turn was right, by the words whose audio was played."""

from latency.judge.scoring import is_right
from latency.record.turn import TurnRecord


def judge_answer(turn: TurnRecord) -> bool | None:
    """Whether an answered turn was answered rightly; None when no right answer, or no transcript of it, is known.

    A user who went on after a pause may have heard several answers. They are judged in order, and the first one
    decides, so a right answer after a wrong one comes too late. An answer that the user interrupted decides nothing if
    its rest would have made it right.
    """
    if not turn.contains:
        return None
    heard = [one for one in turn.server_turns if one.played]
    if not heard:
        # The server does not say what was played.
        return None if turn.said is None else is_right(turn.said, turn.contains)
    for one in heard:
        if is_right(one.played or "", turn.contains):
            return True
        if not (one.interrupted and is_right(one.said or "", turn.contains)):
            return False
    return None
