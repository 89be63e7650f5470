"""The tier changes at most once in so many turns."""

from voice.llm.policy.situation import SETTLED_AFTER, Route


def test_alternating_turns_change_the_tier_once_in_so_many() -> None:
    route, went = Route(), []
    for turn in range(30):
        wanted = "fast" if turn % 2 else "large"
        tier = route.keeps(wanted) or wanted
        route = route.then(tier)
        went.append(tier)
    changes = [at for at in range(1, 30) if went[at] != went[at - 1]]
    assert changes
    assert all(later - earlier >= SETTLED_AFTER for earlier, later in zip(changes, changes[1:], strict=False))


def test_nothing_is_kept_at_the_beginning_or_by_a_policy_that_does_not_route() -> None:
    assert Route().keeps("fast") is None
    assert Route().then(None) == Route()
    assert Route("large", 1).then(None) == Route("large", 1)
    assert Route("large", 1).keeps("fast") == "large"
    assert Route("large", SETTLED_AFTER).keeps("fast") is None
