"""Connections that strangers may make to a server, as hypothesis draws them: HTTP, WebSockets, and neither."""

import random
from collections.abc import Sequence

from hypothesis import strategies as st

from tests.fuzz.mutations import WORDS, mutated
from tests.fuzz.raw_connection import ENDINGS, Sent, masked
from tests.fuzz.targets import CHAT, FRAMES, MESSAGES, RESPONSES, RTVI, frame, rtvi

VOICE_PATHS = (
    "/", "/start", "/live", "/live/calls", "/metrics", "/healthz", "/livez", "/readyz", "/page/index.html",
    "/page/page.js", "/page/../../etc/passwd", "/page/%2e%2e/x", "/page/%00", "/ws", "/ws?resumes=1",
    "/ws?sample_rate=24000", "/ws?sample_rate=-1", "/ws?resume=x&received=9", "/docs", "/nothing",
)  # fmt: skip
SIM_PATHS = (
    "/healthz", "/sim/requests", "/sim/fault?model=sonnet&fault=", "/sim/fault?model=x&fault=y", "/v1/models",
    "/v1/chat/completions", "/v1/messages", "/v1/responses", "/with/model=sonnet&fault=500/v1/chat/completions",
    "/with/ttft_ms=nan/v1/chat/completions", "/with/ttft_ms=1e308&tokens_per_s=0/v1/messages", "/with/%ff/v1/models",
)  # fmt: skip
METHODS = ("GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "CONNECT", "PRI", "get", "G\0T", "")
HEADERS = (
    b"Content-Length: 5", b"Content-Length: -1", b"Content-Length: 99999999999999999999", b"Content-Length: 5, 6",
    b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked", b"Connection: close", b"Connection: upgrade",
    b"Upgrade: h2c", b"Upgrade: websocket", b"Expect: 100-continue", b"Authorization: Bearer \xff\xfe",
    b"Authorization: Bearer", b"Origin: null", b"Origin: https://evil.example", b"Origin: http://[",
    b"Cookie: " + b"a=b;" * 900,
    b"X: " + b"y" * 70_000, b"No colon here", b" folded: x", b"\x00: \x00", b"Host: evil.example", b"Host: [::1",
    b"Resume-Call: x", b"Resume-Received: 1e9", b"Sec-WebSocket-Key: x", b"Sec-WebSocket-Version: 99",
    b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=99", b"Sec-WebSocket-Protocol: ,,",
)  # fmt: skip
OPCODES = (0, 1, 2, 3, 7, 8, 9, 10, 11, 15)
LARGE = (
    rtvi("send-text", {"content": "seven times " * 5000}),
    frame(message={"data": rtvi("client-message", {"t": "x" * 60_000, "d": [[]] * 20_000}).decode()}),
    frame(audio={"audio": bytes(900_000), "sample_rate": 48000, "num_channels": 1}),
    bytes(3 << 20),
)
READY = masked(2, FRAMES[6])
"""What a client says first."""

endings = st.sampled_from(ENDINGS)
seeds = st.integers(0, 2**32 - 1)


def _broken(whole: bytes, seed: int, others: Sequence[bytes]) -> bytes:
    return mutated(whole, others, random.Random(seed))


@st.composite
def requests(draw: st.DrawFn, paths: Sequence[str], bodies: Sequence[bytes]) -> Sent:
    """HTTP requests, whole or broken, one or several on a connection."""
    whole = b""
    for _ in range(draw(st.integers(1, 3))):
        body = draw(st.sampled_from([b"", b"hello", *bodies]))
        if draw(st.booleans()):
            body = _broken(body, draw(seeds), [*bodies, b"x"])
        line = (
            f"{draw(st.sampled_from(METHODS))} {draw(st.sampled_from(paths))} HTTP/1.{draw(st.sampled_from('1101x'))}"
        )
        headers = [line.encode(), b"Host: 127.0.0.1"] + draw(st.lists(st.sampled_from(HEADERS), max_size=3))
        if draw(st.booleans()):
            headers.append(b"Content-Length: %d" % len(body))
        whole += draw(st.sampled_from([b"\r\n", b"\r\n", b"\n"])).join(headers) + b"\r\n\r\n" + body
    if draw(st.booleans()):
        whole = _broken(whole, draw(seeds), [whole])
    return Sent(_cut(draw, whole), draw(endings), draw(st.booleans()), draw(st.booleans()))


@st.composite
def frames(draw: st.DrawFn, payloads: Sequence[bytes]) -> bytes:
    """A frame of a WebSocket, right or broken."""
    payload = draw(st.sampled_from([*payloads, *payloads, *WORDS, bytes(640), *LARGE]))
    if len(payload) < 5000 and draw(st.booleans()):
        payload = _broken(payload, draw(seeds), payloads)
    if draw(st.integers(0, 3)):
        return masked(draw(st.sampled_from([1, 2, 2, 2])), payload)
    lies = draw(st.sampled_from([None, None, 0, 125, 1 << 16, 1 << 40, (1 << 64) - 1]))
    opcode, rsv = draw(st.sampled_from(OPCODES)), draw(st.sampled_from([0, 0, 0, 1, 4]))
    made = masked(opcode, payload, fin=draw(st.booleans()), rsv=rsv, length=lies)
    # A client's frame without a mask is refused.
    return made if draw(st.integers(0, 3)) else bytes([made[0], made[1] & 0x7F]) + made[2:]


@st.composite
def sockets(draw: st.DrawFn, paths: Sequence[str], payloads: Sequence[bytes]) -> Sent:
    """WebSockets whose handshake is right or broken, and what follows it."""
    headers = [
        f"GET {draw(st.sampled_from(paths))} HTTP/1.1".encode(), b"Host: 127.0.0.1", b"Connection: Upgrade",
        b"Upgrade: websocket", b"Sec-WebSocket-Version: 13", b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    ]  # fmt: skip
    shake = b"\r\n".join(headers) + b"\r\n\r\n"
    match draw(st.integers(0, 5)):
        case 0:
            shake = _broken(shake, draw(seeds), HEADERS)
        case 1:
            shake = shake[: draw(st.integers(0, len(shake)))]
        case 2:
            shake = shake[:-2] + draw(st.sampled_from(HEADERS)) + b"\r\n\r\n"
        case _:
            pass
    follow = draw(st.lists(frames(payloads), max_size=6))
    if draw(st.booleans()):
        follow.insert(0, READY)
    if draw(st.booleans()):
        follow.append(masked(8, draw(st.sampled_from([b"", b"\x03\xe8", b"\x03\xe8bye", b"\0", b"\xff\xff\xff"]))))
    pieces = (shake, *follow) if draw(st.booleans()) else _cut(draw, shake + b"".join(follow))
    return Sent(pieces, draw(endings), draw(st.booleans()), draw(st.booleans()))


garbage = st.builds(Sent, st.lists(st.binary(max_size=300), max_size=4).map(tuple), endings, st.booleans())
to_voice = st.one_of(
    requests(VOICE_PATHS, FRAMES), sockets(("/ws", "/ws", "/ws?resumes=1", *VOICE_PATHS), (*FRAMES, *RTVI)), garbage
)
to_simulator = st.one_of(
    requests(SIM_PATHS, (*CHAT, *MESSAGES)), sockets(("/v1/responses", *SIM_PATHS), RESPONSES), garbage
)


def _cut(draw: st.DrawFn, whole: bytes) -> tuple[bytes, ...]:
    """What is sent in up to three pieces."""
    at = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=2)))
    return tuple(whole[start:end] for start, end in zip([0, *at], [*at, len(whole)], strict=True))
