import pytest

from tests.voice.responder.skills.conversing import answer


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        ("what is seven times eight", "7 times 8 is 56."),
        ("what's seven times eight", "7 times 8 is 56."),
        ("What's 7 × 8?", "7 times 8 is 56."),
        ("seven times eight", "7 times 8 is 56."),
        ("uh what is seven times ate", "7 times 8 is 56."),
        ("how much is seven time eight please", "7 times 8 is 56."),
        ("the what is seven times eight", "7 times 8 is 56."),
        ("what is seven times eight and", "7 times 8 is 56."),
        ("what is to plus too", "2 plus 2 is 4."),
        ("what is twenty percent of fifty", "20 percent of 50 is 10."),
        ("What is 20% of 50?", "20 percent of 50 is 10."),
        ("what is two plus three times four", "2 plus 3 times 4 is 14."),
        ("what is one hundred and twenty five divided by five", "125 divided by 5 is 25."),
        ("what is three minus ten", "3 minus 10 is minus 7."),
        ("what is three point five times two", "3.5 times 2 is 7."),
        ("what is ten divided by three", "10 divided by 3 is about 3.33."),
        ("what is ten divided by zero", "Dividing by zero has no answer."),
        ("i want to know what twenty five percent of two hundred is", "25 percent of 200 is 50."),
        ("what is five squared", "5 squared is 25."),
        ("what is the square root of sixteen", "The square root of 16 is 4."),
        ("what is the square root of two", "The square root of 2 is about 1.41."),
        ("what is half of ten", "Half of 10 is 5."),
        ("double eight", "Double 8 is 16."),
        ("add five and six", "5 plus 6 is 11."),
        ("add nine and three hundred and fifty five", "9 plus 355 is 364."),
        ("subtract five from twelve", "12 minus 5 is 7."),
        ("multiply six by seven", "6 times 7 is 42."),
        ("divide ten by four", "10 divided by 4 is 2.5."),
        ("what is the difference between ten and three", "10 minus 3 is 7."),
        ("what is a thousand times a thousand", "1000 times 1000 is 1,000,000."),
    ],
)
def test_arithmetic_is_right(heard: str, said: str) -> None:
    assert answer(heard) == said
