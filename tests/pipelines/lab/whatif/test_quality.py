"""How much candidates gain: nothing when they err together, the textbook's majority when they do not."""

import pytest

from latency.record.requests import Vote
from pipelines.lab.whatif.quality import majority_right, voters


def test_independent_votes_follow_the_binomial_and_dependent_ones_gain_nothing() -> None:
    assert majority_right(0.9, 3, correlation=0.0) == pytest.approx(0.9**3 + 3 * 0.9**2 * 0.1)
    assert majority_right(0.9, 3, correlation=1.0) == 0.9
    assert majority_right(0.9, 3) == pytest.approx((0.9 + 0.972) / 2)
    # Of two that disagree the first is spoken.
    assert majority_right(0.9, 2, correlation=0.0) == pytest.approx(0.9)
    assert majority_right(0.9, 1) == pytest.approx(0.9)
    # Where most are wrong, a vote makes it worse.
    assert majority_right(0.3, 3) < 0.3


@pytest.mark.parametrize(("there", "deciding"), [(3, 3), (2, 3), (1, 1), (0, 1)])
def test_those_decide_that_were_there_or_could_not_have_changed_it(there: int, deciding: int) -> None:
    assert voters(Vote(candidates=3, there=there, agreeing=there)) == deciding
