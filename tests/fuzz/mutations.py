"""Broken versions of whole messages and files, from a seed: the same seed breaks the same thing in the same way."""

import random
from collections.abc import Sequence

WORDS = (
    b"", b"\x00", b"\xff\xfe", b"\xf0\x9f\x92", b"null", b"true", b"-1", b"1e999", b"NaN", b"18446744073709551616",
    b"[]", b"{}", b'""', b"[" * 2000, b'{"a":' * 500, b"!include x", b"&a *a", b"\r\n", b"\x1b[31m", b"%s%n",
    b"../../etc/passwd", b"\xed\xa0\x80", b"9" * 400, b"inf", b"=", b"'''", b'"""', b"- - -",
)  # fmt: skip


def mutated(whole: bytes, corpus: Sequence[bytes], rng: random.Random) -> bytes:
    """One of a corpus, changed in one to four places.

    Args:
        whole: what is changed.
        corpus: other wholes, of which pieces are spliced in.
        rng: decides how.
    """
    broken = bytearray(whole)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        at = rng.randrange(len(broken) + 1)
        match rng.randrange(8):
            case 0 if broken:
                broken[min(at, len(broken) - 1)] ^= 1 << rng.randrange(8)
            case 1:
                del broken[at : at + rng.choice((1, 2, 8, 64, 1 << 20))]
            case 2:
                broken[at:at] = rng.choice(WORDS)
            case 3:
                broken[at : at + rng.choice((1, 4, 16))] = rng.choice(WORDS)
            case 4:
                other = rng.choice(corpus)
                begin = rng.randrange(len(other) + 1)
                broken[at:at] = other[begin : begin + rng.randrange(64)]
            case 5:
                begin = rng.randrange(len(broken) + 1)
                broken[at:at] = broken[begin : begin + rng.choice((1, 8, 64))]
            case 6:
                broken[at : at + 1] = rng.randbytes(rng.choice((1, 2, 9)))
            case _:
                number = str(rng.choice((-1, 0, 2**31, 2**63, 10**30, 0.5, -0.0))).encode()
                broken[at : at + rng.randrange(6)] = number
    return bytes(broken)
