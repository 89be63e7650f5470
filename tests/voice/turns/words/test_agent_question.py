"""What the agent's last sentences ask for."""

import pytest

from voice.turns.words.agent_question import asked


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Is that correct?", "yes_no"),
        ("Your table is for four people. Shall I book it?", "yes_no"),
        ("Would you like me to set another timer?", "yes_no"),
        ("So that is ten minutes, right?", "yes_no"),
        ("You said ten minutes?", "yes_no"),
        ("Great! Do you want to hear more", "yes_no"),
        ("Are you still there?", "yes_no"),
        ("27, 28, 29, 30, Shall I go on?", "yes_no"),
        ("- flour\n- milk\n- eggs Shall I go on?", "yes_no"),
        ("You are welcome. Anything else?", "offer"),
        ("Is there anything else I can help you with?", "offer"),
        ("What is your phone number?", "number"),
        ("Could you tell me your account number, please?", "number"),
        ("May I have the last four digits of your card?", "number"),
        ("Please read the confirmation code. Take your time.", "number"),
        ("What's your zip code?", "number"),
        ("I'll need your order number.", "number"),
        ("How do you spell that?", "spelling"),
        ("Can you spell your last name for me?", "spelling"),
        ("Please spell it.", "spelling"),
        ("For how long should I set the timer?", "short"),
        ("You have 2 timers: pasta, tea. Which one should I cancel?", "short"),
        ("What is your name?", "short"),
        ("May I have your name?", "short"),
        ("Would you like tea or coffee?", "short"),
        ("How many people?", "short"),
        ("Hello. How can I help you?", "open"),
        ("Hello there. What can I do for you?", "open"),
        ("What happened?", "open"),
        ("Tell me more about it.", "open"),
        ("Why is that?", "open"),
        ("What is your number? Take your time.", "number"),
        ("Timer set for ten minutes.", None),
        ("It is four o'clock. The next train leaves in an hour. Have a good trip.", None),
        ("Your order number is 5 5 1.", None),
        ("What time is it? It is four. Sunny today.", None),
        ("", None),
        (None, None),
    ],
)
def test_the_last_question_says_what_answer_is_expected(text: str | None, kind: str | None) -> None:
    assert asked(text) == kind
