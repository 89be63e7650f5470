"""What newcomers ask for is done, or honestly refused."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from voice.asr.sphinx.language_model import pronounceable
from voice.responder.dialogue import NOT_UNDERSTOOD, Responder

NOW = datetime(2026, 11, 20, 16, 10, tzinfo=UTC)
REQUESTS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("ordinary_requests.yaml").read_text())


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda entry: entry["said"])
def test_an_ordinary_request_is_done_or_refused(request_: dict[str, Any]) -> None:
    responder = Responder()
    for text in request_.get("after", []):
        assert responder.reply(text, NOW).intent != NOT_UNDERSTOOD
    before = responder.state
    reply = responder.reply(request_["said"], NOW)
    if request_.get("refused"):
        assert reply.intent == NOT_UNDERSTOOD
        assert "can't answer that" in reply.text
        assert responder.state == before.but(refusals=1, last_answer=reply.text)
        return
    assert re.search(request_["answer"], reply.text)


def test_some_of_fifty_are_understood() -> None:
    assert len(REQUESTS) == len({entry["said"] for entry in REQUESTS}) == 50
    assert sum(not entry.get("refused") for entry in REQUESTS) >= 18


def test_the_recogniser_can_write_every_one() -> None:
    assert pronounceable([entry["said"] for entry in REQUESTS])[1] == set()


@pytest.mark.parametrize(
    ("said", "task", "due"),
    [
        ("remind me to call my mother tomorrow at nine", "to call your mother", (21, 9, 0)),
        ("remind me at half past six to feed the cat", "to feed the cat", (20, 18, 30)),
        ("remind me in an hour to put the cake in the oven", "to put the cake in the oven", (20, 17, 10)),
        ("remind me to put the cake in the oven in an hour", "to put the cake in the oven", (20, 17, 10)),
        ("Remind me to take my medicine at 8:15 p.m.", "to take your medicine", (20, 20, 15)),
        ("remind me to call anna tonight at eleven", "to call anna", (20, 23, 0)),
    ],
)
def test_a_reminder_is_set_for_its_time_and_says_its_task(said: str, task: str, due: tuple[int, int, int]) -> None:
    responder = Responder()
    timer = responder.reply(said, NOW).timer
    assert timer is not None
    assert (timer.due.day, timer.due.hour, timer.due.minute) == due
    assert timer.seconds == (timer.due - NOW).total_seconds()
    assert responder.finish(timer) == f"You asked me to remind you {task}."


def test_a_reminder_without_a_time_asks_for_it() -> None:
    responder = Responder()
    assert responder.reply("remind me to buy milk", NOW).text == "When should I remind you?"
    assert responder.reply("in twenty minutes", NOW).text.startswith("I will remind you to buy milk in 20 minutes.")
    assert responder.reply("what are my reminders", NOW).text == (
        "I will remind you to buy milk at 4:30 in the afternoon."
    )
    assert len(responder.reply("cancel the reminder", NOW).cancelled) == 1
    assert responder.reply("what are my reminders", NOW).text == "You have no reminders."


def test_a_reminder_is_no_timer() -> None:
    responder = Responder()
    responder.reply("remind me to call anna at five", NOW)
    assert responder.reply("cancel the timer", NOW).text == "There is no timer running."
    late = responder.reply("remind me to call anna at four in the afternoon today", NOW)
    assert late.text == "That time has already passed."
    assert responder.reply("cancel that", NOW).text == "Reminder cancelled."


def test_a_list_keeps_each_thing_once() -> None:
    responder = Responder()
    responder.reply("put bread and some eggs on my shopping list", NOW)
    assert responder.reply("add eggs to the list", NOW).text == "Your shopping list has eggs already."
    responder.reply("add a tent to my packing list", NOW)
    assert responder.reply("what's on my grocery list", NOW).text == "Your shopping list has bread and eggs."
    responder.reply("clear my shopping list", NOW)
    assert responder.reply("what do i need to buy", NOW).text == "Your shopping list is empty."
    assert responder.reply("what is on my packing list", NOW).text == "Your packing list has tent."


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("what is twenty percent of fifty dollars", "20 percent of 50 is 10 dollars."),
        ("what's a 15% tip on 60 euros", "15 percent of 60 is 9 euros."),
        ("what is three dollars plus four dollars", "3 plus 4 is 7 dollars."),
        ("ten is what percent of fifty", "10 is 20 percent of 50."),
        ("what percent of eighty is twenty", "20 is 25 percent of 80."),
    ],
)  # fmt: skip
def test_it_is_really_worked_out(said: str, answer: str) -> None:
    assert Responder().reply(said, NOW).text == answer
