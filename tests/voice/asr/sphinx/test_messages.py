import random
from typing import get_args

import msgspec
import pytest

from voice.asr.sphinx.messages import (
    AbandonUtterance,
    Audio,
    Command,
    Failed,
    Final,
    FinishUtterance,
    Partial,
    Peeked,
    PeekUtterance,
    Ready,
    Reply,
    StartUtterance,
    encode,
    read_command,
    read_reply,
)


def some_command(rng: random.Random) -> Command:
    number = rng.randrange(1 << 32)
    return rng.choice(
        [
            StartUtterance(number, rng.random() < 0.5),
            Audio(rng.randbytes(rng.choice([0, 1, 640, 5000]))),
            FinishUtterance(number),
            AbandonUtterance(number),
            PeekUtterance(number),
        ]
    )


def some_reply(rng: random.Random) -> Reply:
    number, text = rng.randrange(1 << 32), "".join(rng.choices("what is é 語 \n", k=rng.randrange(40)))
    return rng.choice(
        [
            Ready(text),
            Partial(number, text, rng.choice([None, rng.random()])),
            Final(number, text, rng.random(), rng.random(), rng.choice([None, rng.random()])),
            Failed(text),
            Peeked(number, text, rng.choice([None, rng.random()])),
        ]
    )


def test_every_kind_of_message_is_tried_here() -> None:
    seeds = [random.Random(seed) for seed in range(300)]
    assert {type(some_command(rng)) for rng in seeds} == {*get_args(Command)}
    assert {type(some_reply(rng)) for rng in seeds} == {*get_args(Reply)}


@pytest.mark.parametrize("seed", range(50))
def test_a_message_is_one_line_and_arrives_as_it_was_sent(seed: int) -> None:
    command, reply = some_command(random.Random(seed)), some_reply(random.Random(seed))
    for line in (encode(command), encode(reply)):
        assert line.count(b"\n") == 1
        assert line.endswith(b"\n")
    assert read_command(encode(command)) == command
    assert read_reply(encode(reply)) == reply


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"Traceback (most recent call last)\n",
        b'{"type":"Restart"}\n',
        b'{"type":"StartUtterance"}\n',
        b'{"type":"Partial","utterance":1}\n',
        b'{"type":"StartUtterance","utterance":1,\n',
        b'{"type":"Partial","utterance":1,"text":"\xff"}\n',
    ],
    ids=["empty line", "text", "unknown kind", "no number", "no text", "broken JSON", "broken text"],
)
def test_lines_that_are_no_messages_are_refused(line: bytes) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeError)):
        read_command(line)
    with pytest.raises((msgspec.DecodeError, UnicodeError)):
        read_reply(line)


def test_a_reply_is_no_command_and_a_command_no_reply() -> None:
    with pytest.raises(msgspec.DecodeError):
        read_command(encode(Ready("pocketsphinx")))
    with pytest.raises(msgspec.DecodeError):
        read_reply(encode(FinishUtterance(1)))


def test_messages_are_values() -> None:
    for kind in (*get_args(Command), *get_args(Reply)):
        assert kind.__struct_config__.frozen, kind
