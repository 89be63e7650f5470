"""Connections as bytes: what a client sends in which pieces, and how it goes away. Written to files and read again."""

import asyncio
import json
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

Ending = Literal["reset", "close", "half-close", "stays"]
"""The client resets the connection, closes it, says that it sends nothing more, or does nothing more for a while."""
ENDINGS: tuple[Ending, ...] = get_args(Ending)
STAYS = 0.3
"""Seconds for which a client that stays does nothing."""
PAUSE = 0.03
"""Seconds after each piece of a client that sends slowly."""
READ_WITHIN = 0.15
"""Seconds that a client reads after its last piece, if nothing comes."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What a client sends on one connection.

    Parameters:
        pieces: what it sends, each in a packet of its own.
        ending: how it goes away.
        reads: whether it reads what it gets.
        slowly: whether it waits a little after each piece, so that it may be answered before the next one.
    """

    pieces: tuple[bytes, ...]
    ending: Ending = "reset"
    reads: bool = True
    slowly: bool = False

    def as_json(self) -> str:
        """One line of a corpus."""
        return json.dumps([[piece.decode("latin-1") for piece in self.pieces], self.ending, self.reads, self.slowly])

    @classmethod
    def from_json(cls, line: str) -> "Sent":
        pieces, ending, reads, slowly = json.loads(line)
        return cls(tuple(piece.encode("latin-1") for piece in pieces), ending, reads, slowly)


def corpus(path: Path) -> list[Sent]:
    """The connections in a file."""
    return [Sent.from_json(line) for line in path.read_text().splitlines() if line]


def masked(opcode: int, payload: bytes, *, fin: bool = True, rsv: int = 0, length: int | None = None) -> bytes:
    """A frame of a WebSocket as a client sends it; `length` is what it says its payload has."""
    said = len(payload) if length is None else length
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    if said < 126:
        head += bytes([0x80 | said])
    elif said < 1 << 16:
        head += b"\xfe" + struct.pack(">H", said)
    else:
        head += b"\xff" + struct.pack(">Q", said)
    # The mask 0 leaves the payload readable in a corpus.
    return head + bytes(4) + payload


async def send(what: Sent, port: int) -> bytes:
    """Connect to a port of this machine and send it; returns what was answered.

    Raises:
        OSError: nobody listens there.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer = b""
    try:
        # The server may end the connection at any time; a timeout is an OSError, too.
        with suppress(OSError):
            for piece in what.pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(PAUSE if what.slowly else 0)
            if what.ending == "half-close" and writer.can_write_eof():
                writer.write_eof()
            while what.reads:
                async with asyncio.timeout(READ_WITHIN):
                    if not (data := await reader.read(1 << 16)):
                        break
                answer += data
    finally:
        if what.ending == "stays":
            await asyncio.sleep(STAYS)
        if what.ending == "reset":
            sock = writer.get_extra_info("socket")
            with suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    return answer
