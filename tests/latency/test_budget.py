import pytest

from latency.budget import Budget, BudgetError, Deadline


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
    assert not deadline.expired(9.999)
    assert deadline.expired(10.0)
    assert deadline.remaining(11.0) == 0.0
