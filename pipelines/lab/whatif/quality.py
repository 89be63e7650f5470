"""How often an answer by several models is right. Pure. All of it is assumption [A]; no measurement is known.

[A] Answers picked from several candidates: drafts of one model err together. With the probability `CORRELATION` a
turn's candidates are all right or all wrong; otherwise each is right independently. Wrong candidates agree with each
other, the worst case: if most are wrong, the pick is wrong.

[A] Answers that one model drafts and another verifies: the verifier finds and corrects a wrong draft as often as it
would be right itself, it objects to no right draft, and the two err independently. A draft without a verdict in time
is right as often as its model is.
"""

from math import comb

from latency.record.requests import Vote

CORRELATION = 0.5
"""[A] Between no gain at all (1) and the textbook's independent votes (0)."""

VOTING_ASSUMED = (
    f"Assumed [A], not measured: with probability {CORRELATION:g} they are all right or all wrong, else each on its "
    "own; those that are wrong agree; for the time it takes, all say the same."
)
VERIFYING_ASSUMED = (
    "Assumed [A], not measured: the large tier mends a wrong draft as often as it would be right itself, objects to no "
    "right one, and the two err independently; for the time and the price, it objects to none."
)


def majority_right(share: float, voters: int, *, correlation: float = CORRELATION) -> float:
    """The share of right answers by majority vote; a tie is decided for the candidate that was there first.

    Args:
        share: that of one candidate alone, 0 to 1.
        voters: the number of candidates.
        correlation: the probability that all are right or all are wrong.
    """
    alone = sum(
        comb(voters, right) * share**right * (1 - share) ** (voters - right) * (0.5 if 2 * right == voters else 1.0)
        for right in range((voters + 1) // 2, voters + 1)
    )
    return correlation * share + (1 - correlation) * alone


def voters(vote: Vote) -> int:
    """How many candidates decided a vote.

    A pick is made as soon as most candidates agree, because the others cannot change it.
    """
    return vote.candidates if 2 * vote.there > vote.candidates else max(1, vote.there)


def verified_right(draft: float, verifier: float) -> float:
    """The share of right answers among verified ones.

    Args:
        draft: the share that the drafting model gets right alone, 0 to 1.
        verifier: the same of the verifying model.
    """
    return draft + (1 - draft) * verifier
