"""Servers on loopback that answer a request for models or a token in some way, most of them wrong."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Handler = Callable[[socket.socket, threading.Event], None]
SLOW = 3.0
"""Seconds that a slow handler takes; a search that waits for it takes at least as long."""


def http(body: bytes, *, status: str = "200 OK", kind: str = "application/json") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def models(*names: str) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": name, "object": "model"} for name in names]}).encode()


def read_request(connection: socket.socket) -> bytes:
    """The request with its body."""
    text = b""
    while b"\r\n\r\n" not in text:
        text += connection.recv(4096)
    head, _, body = text.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += connection.recv(4096)
    return head + b"\r\n\r\n" + body


def says(answer: bytes) -> Handler:
    def handle(connection: socket.socket, _over: threading.Event) -> None:
        read_request(connection)
        connection.sendall(answer)

    return handle


def says_nothing(connection: socket.socket, over: threading.Event) -> None:
    read_request(connection)
    over.wait(SLOW)


def dribbles(answer: bytes) -> Handler:
    """Sends a byte now and then, each well within any time limit of a single read."""

    def handle(connection: socket.socket, over: threading.Event) -> None:
        read_request(connection)
        for index in range(len(answer)):
            connection.sendall(answer[index : index + 1])
            if over.wait(SLOW / len(answer)):
                return

    return handle


def lists(*names: str, then: Handler) -> Handler:
    """Lists models, and treats a request for a completion in its own way."""

    def handle(connection: socket.socket, over: threading.Event) -> None:
        request = connection.recv(4, socket.MSG_PEEK)
        if request == b"POST":
            then(connection, over)
        else:
            says(http(models(*names)))(connection, over)

    return handle


@contextmanager
def listening(handle: Handler) -> Iterator[int]:
    """A server whose connections are handled in a thread each; its port."""
    over = threading.Event()
    threads: list[threading.Thread] = []

    def one(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            handle(connection, over)

    def accept(server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                threads.append(threading.Thread(target=one, args=(connection,)))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        accepting = threading.Thread(target=accept, args=(server,))
        accepting.start()
        try:
            yield server.getsockname()[1]
        finally:
            over.set()
            server.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for thread in threads:
                thread.join()


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


COMPLETION = http(b'{"choices": [{"message": {"content": "Hi"}}]}')
PAGE = b"<!doctype html><title>It works</title>"
