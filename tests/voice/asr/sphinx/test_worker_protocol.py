import random
from dataclasses import fields
from typing import get_args

import pytest

from voice.asr.sphinx.worker_protocol import (
    MAX_MESSAGE,
    AbandonUtterance,
    Audio,
    Command,
    Failed,
    Final,
    FinishUtterance,
    Message,
    MessageReader,
    Partial,
    Peeked,
    PeekUtterance,
    ProtocolError,
    Ready,
    Reply,
    Reset,
    StartUtterance,
    encode,
)


def some_message(rng: random.Random) -> Message:
    number, text = rng.randrange(1 << 32), "".join(rng.choices("what is é 語 ", k=rng.randrange(40)))
    return rng.choice(
        [
            StartUtterance(number, rng.random() < 0.5),
            Audio(rng.randbytes(rng.choice([0, 1, 640, 5000]))),
            FinishUtterance(number),
            AbandonUtterance(number),
            Reset(),
            Ready(text, rng.random()),
            Partial(number, text, rng.choice([None, rng.random()])),
            Final(number, text, rng.random(), rng.random(), rng.choice([None, rng.random()])),
            Failed(text),
            PeekUtterance(number),
            Peeked(number, text, rng.choice([None, rng.random()])),
        ]
    )


def test_every_kind_of_message_is_tried_here() -> None:
    tried = {type(some_message(random.Random(seed))) for seed in range(300)}
    assert tried == {*get_args(Command), *get_args(Reply)}


@pytest.mark.parametrize("seed", range(20))
def test_messages_arrive_whole_wherever_the_stream_is_cut(seed: int) -> None:
    rng = random.Random(seed)
    messages = [some_message(rng) for _ in range(30)]
    stream = b"".join(encode(message) for message in messages)
    cuts = sorted(rng.randrange(len(stream) + 1) for _ in range(rng.randrange(60)))
    reader, received = MessageReader(), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        received += reader.feed(stream[start:end])
    assert received == messages


def test_messages_arrive_whole_byte_by_byte() -> None:
    message = Final(7, "what time is it", 0.5, 0.02)
    reader = MessageReader()
    received = [got for byte in encode(message) for got in reader.feed(bytes([byte]))]
    assert received == [message]


def test_an_incomplete_message_waits_for_its_rest() -> None:
    first, rest = encode(Audio(b"\1\2\3\4"))[:-1], encode(Audio(b"\1\2\3\4"))[-1:]
    reader = MessageReader()
    assert reader.feed(first) == []
    assert reader.feed(rest) == [Audio(b"\1\2\3\4")]


@pytest.mark.parametrize(
    "stream",
    [
        b"\0\0\0\0",
        (MAX_MESSAGE + 1).to_bytes(4, "little"),
        b"Traceback (most recent call last)",
        b"\1\0\0\0\xff",
        b"\3\0\0\0\0[]",  # a start without an utterance number
        b"\4\0\0\0\0[1,",  # a start that is not JSON
        b'\6\0\0\0\7[1,"\xff',  # a partial that is not UTF-8
    ],
    ids=["empty message", "too long", "text", "unknown kind", "too few fields", "broken JSON", "broken text"],
)
def test_bytes_that_are_not_messages_are_refused(stream: bytes) -> None:
    with pytest.raises(ProtocolError):
        MessageReader().feed(stream)


def test_a_message_too_long_for_the_other_end_is_refused() -> None:
    assert len(encode(Audio(bytes(MAX_MESSAGE - 1)))) == MAX_MESSAGE + 4
    with pytest.raises(ProtocolError, match="too long"):
        encode(Audio(bytes(MAX_MESSAGE)))


def test_messages_are_values() -> None:
    for kind in (*get_args(Command), *get_args(Reply)):
        assert kind.__dataclass_params__.frozen, kind
        assert all(field.type for field in fields(kind))
