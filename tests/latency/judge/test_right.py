import pytest

from latency.judge.right import judge_answer
from latency.record.turn import TurnRecord


def answered(*answers: tuple[str, str | None, bool], said: str | None = None) -> TurnRecord:
    """A turn whose right answer is 56, with (said, played, interrupted) of each of the server's turns."""
    own = [{"turn": n, "said": s, "played": p, "interrupted": i} for n, (s, p, i) in enumerate(answers)]
    return TurnRecord.from_json(
        {"session": "s", "turn": 0, "speech": [[1, 2]], "wants_answer": True, "contains": ["56"], "server_turns": own}
        | {"said": said}
    )


RIGHT, WRONG = "7 times 8 is 56.", "I can't answer that."


@pytest.mark.parametrize(
    ("answers", "right"),
    [
        ([(RIGHT, RIGHT, False)], True),
        ([(WRONG, WRONG, False)], False),
        # Written, but not heard.
        ([(WRONG, "", True), (RIGHT, RIGHT, False)], True),
        ([(f"{WRONG} {RIGHT}", WRONG, False)], False),
        # A wrong answer to half of the turn came first.
        ([(WRONG, "I can't", True), (RIGHT, RIGHT, False)], False),
        ([(RIGHT, RIGHT, False), (WRONG, WRONG, False)], True),
        # The user interrupted what would have become right.
        ([(RIGHT, "7 times", True)], None),
        ([(RIGHT, "7 times", True), (RIGHT, RIGHT, False)], True),
        ([(RIGHT, "7 times", True), (WRONG, WRONG, False)], False),
    ],
)
def test_what_was_heard_first_decides(answers: list[tuple[str, str | None, bool]], right: bool | None) -> None:
    assert judge_answer(answered(*answers)) is right


def test_without_what_was_played_the_text_decides() -> None:
    assert judge_answer(answered((RIGHT, None, False), said=RIGHT)) is True
    assert judge_answer(answered((WRONG, None, False), said=WRONG)) is False
    assert judge_answer(answered()) is None
