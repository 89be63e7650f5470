"""How often an answer that was picked from several candidates is right. Pure.

[A] Drafts of one model err together: with the probability `CORRELATION` all of a turn's candidates are right or wrong
alike, and otherwise each is right on its own. Wrong candidates are taken to agree with each other, which is the worst
case: where most are wrong the pick is wrong. No measurement of either is known to us.
"""

from math import comb

from latency.record.requests import Vote

CORRELATION = 0.5
"""[A] Between no gain at all (1) and the textbook's independent votes (0)."""

ASSUMED = (
    f"Assumed [A], not measured: with probability {CORRELATION:g} they are all right or all wrong, else each on its "
    "own; those that are wrong agree; for the time it takes, all say the same."
)


def majority_right(share: float, voters: int, *, correlation: float = CORRELATION) -> float:
    """The share of right answers by majority vote; a tie is decided for the candidate that was there first.

    Args:
        share: that of one candidate alone, 0 to 1.
        voters: how many candidates vote.
        correlation: the probability that all are right or wrong alike.
    """
    alone = sum(
        comb(voters, right) * share**right * (1 - share) ** (voters - right) * (0.5 if 2 * right == voters else 1.0)
        for right in range((voters + 1) // 2, voters + 1)
    )
    return correlation * share + (1 - correlation) * alone


def voters(vote: Vote) -> int:
    """How many candidates decided a vote.

    A pick is made as soon as most agree; the others could not have changed it.
    """
    return vote.candidates if 2 * vote.there > vote.candidates else max(1, vote.there)
