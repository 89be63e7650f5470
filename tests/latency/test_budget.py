import pytest

from latency.budget import Budget, BudgetError, Commit, Deadline, remaining_turn_budget


def test_the_usual_shares_make_800_ms_without_a_warning() -> None:
    budget = Budget()
    assert budget.total == pytest.approx(0.8)
    assert (budget.endpointing, budget.transcription, budget.llm, budget.synthesis, budget.transport) == (
        0.2, 0.02, 0.45, 0.06, 0.07,
    )  # fmt: skip
    assert budget.warning is None


def test_shares_that_do_not_add_up_are_refused_with_the_sum() -> None:
    with pytest.raises(BudgetError, match="make 850 ms, not the total of 800 ms"):
        Budget(llm=0.5)
    with pytest.raises(BudgetError, match="synthesis must be above 0 ms"):
        Budget(synthesis=0, llm=0.51)


@pytest.mark.parametrize(("llm", "total"), [(0.39, 0.74), (0.51, 0.86), (5.0, 5.35), (0.1, 0.45)])
def test_an_unusual_llm_budget_moves_the_total_and_warns(llm: float, total: float) -> None:
    budget = Budget.with_llm(llm)
    assert budget.total == pytest.approx(total)
    assert budget.warning is not None
    assert "400 ms to 500 ms" in budget.warning


@pytest.mark.parametrize("llm", [0.4, 0.45, 0.5])
def test_a_usual_llm_budget_does_not_warn(llm: float) -> None:
    assert Budget.with_llm(llm).warning is None


@pytest.mark.parametrize("llm", [0.099, 5.01, 0.0, -1.0, float("nan")])
def test_an_absurd_llm_budget_is_refused(llm: float) -> None:
    with pytest.raises(BudgetError, match="outside 100 ms to 5000 ms"):
        Budget.with_llm(llm)


def test_a_deadline_is_spent_exactly_when_reached() -> None:
    deadline = Deadline(10.0)
    assert deadline.remaining(9.75) == 0.25
    assert deadline.remaining(11.0) == 0.0


def test_without_a_known_end_of_speech_the_llm_budget_alone_is_the_deadline() -> None:
    assert Commit(at=10.0).deadline(Budget()) == Deadline(10.45)


@pytest.mark.parametrize(
    ("speech_end", "synthesis", "at", "limit"),
    [
        (9.9, None, 10.45, "llm"),
        (9.78, None, 10.45, "llm"),
        (9.7, None, 10.37, "turn"),
        (9.7, 0.1, 10.33, "turn"),
        (9.9, 0.02, 10.45, "llm"),
    ],
)
def test_the_deadline_is_the_earlier_of_the_llm_budget_and_the_rest_of_the_turn(
    speech_end: float, synthesis: float | None, at: float, limit: str
) -> None:
    commit = Commit(at=10.0, speech_end=speech_end, synthesis_p95=synthesis, fast_p95=0.2)
    deadline = commit.deadline(Budget())
    assert deadline.at == pytest.approx(at)
    assert (deadline.limit, deadline.charged) == (limit, None)


@pytest.mark.parametrize(
    ("commit", "charged"),
    [
        (Commit(at=10.0, speech_end=9.0, vad_stop=9.8, fast_p95=0.2), "endpointing"),
        (Commit(at=10.0, speech_end=9.0, vad_stop=9.2, fast_p95=0.2), "transcription"),
        (Commit(at=10.0, speech_end=9.0, vad_stop=9.2, silent_enough=9.95, fast_p95=0.2), "endpointing"),
        (Commit(at=10.0, speech_end=9.0, vad_stop=9.2, silent_enough=9.2, fast_p95=0.2), "transcription"),
        (Commit(at=10.0, speech_end=9.0, silent_enough=9.3, fast_p95=0.2), "transcription"),
        (Commit(at=10.0, speech_end=9.0, fast_p95=0.2), "endpointing"),
        (Commit(at=10.0, speech_end=9.78, synthesis_p95=0.5, fast_p95=0.2), "synthesis"),
        (Commit(at=10.0, speech_end=9.6, fast_p95=0.4), "endpointing"),
    ],
)
def test_a_floored_deadline_leaves_time_for_the_fast_tier_and_charges_who_overspent(
    commit: Commit, charged: str
) -> None:
    deadline = commit.deadline(Budget())
    assert commit.fast_p95 is not None
    assert deadline.at == pytest.approx(10.03 + commit.fast_p95)
    assert (deadline.limit, deadline.charged) == ("floor", charged)


def test_a_turn_without_a_fast_tier_is_never_given_a_deadline_before_its_commit() -> None:
    deadline = Commit(at=10.0, speech_end=8.0).deadline(Budget())
    assert (deadline.at, deadline.limit, deadline.charged) == (10.0, "floor", "endpointing")


@pytest.mark.parametrize("speech_end", [None, 9.78, 9.0])
def test_a_fast_tier_that_is_slower_than_the_budget_never_moves_a_deadline_beyond_it(speech_end: float | None) -> None:
    deadline = Commit(at=10.0, speech_end=speech_end, fast_p95=0.9).deadline(Budget())
    assert deadline.at == pytest.approx(10.45)


def test_a_floor_keeps_the_deadline_that_it_replaced() -> None:
    floored = Commit(at=10.0, speech_end=9.4, fast_p95=0.2).deadline(Budget())
    assert floored.limit == "floor"
    assert floored.hold_until == pytest.approx(remaining_turn_budget(9.4, Budget()))
    assert floored.hold_until < floored.at
    usual = Commit(at=10.0, speech_end=9.8, fast_p95=0.1).deadline(Budget())
    assert usual.hold_until == usual.at


def test_the_rest_of_a_turn_does_not_depend_on_its_commit() -> None:
    assert remaining_turn_budget(10.0, Budget()) == pytest.approx(10.67)
    assert remaining_turn_budget(10.0, Budget(), 0.1) == pytest.approx(10.63)


def test_a_fast_tier_that_just_fits_is_no_floor() -> None:
    assert Commit(at=10.0, fast_p95=0.42).deadline(Budget()).limit == "llm"


def test_another_llm_budget_moves_the_limit_of_the_turn_with_it() -> None:
    deadline = Commit(at=10.0, speech_end=9.78).deadline(Budget.with_llm(1.0))
    assert deadline.at == pytest.approx(11.0)


@pytest.mark.parametrize(
    ("usually_at", "limit", "at"),
    [(10.4, "llm", 10.45), (10.45, "llm", 10.45), (10.46, "floor", 10.18), (None, "floor", 10.18)],
)
def test_a_preferred_tier_that_usually_fits_its_budget_has_all_of_it_after_a_long_wait(
    usually_at: float | None, limit: str, at: float
) -> None:
    commit = Commit(at=10.0, speech_end=9.2, fast_p95=0.15, preferred_at=usually_at)
    deadline = commit.deadline(Budget())
    assert (deadline.limit, deadline.at) == (limit, pytest.approx(at))
    if limit == "llm":
        assert deadline.hold_until == deadline.at
