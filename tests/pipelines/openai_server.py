"""A language model server on loopback that speaks OpenAI's Chat Completions, streamed, with a model named `sim:echo`.

It repeats what the user said ("You said: …"). When functions are offered it calls the first one, with the user's last
word for every argument that is a string, and says what the function returned. On request it fails in the ways that
real servers fail.
"""

import json
import socket
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

MODEL = "sim:echo"
PREAMBLE = "Let me see."
"""What it says before it calls a function, as many models do."""

Fault = Literal[
    "http_500", "html", "json", "silent", "empty", "broken_off", "no_json", "other_json", "cut_after", "silent_after"
]
"""Status 500 · a proxy's page in place of an answer, or some JSON · no byte ever · an answer without words · the
connection is cut after some words · a chunk that is not JSON, or of another kind · the connection is cut after the
whole answer, or nothing more is sent on it."""


@dataclass
class OpenAIServer:
    """The server, what it was asked, and what goes wrong next."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of the completions that it was asked for, in order."""
    faults: deque[Fault | None] = field(default_factory=deque)
    """What happens to the next requests, one each; None is an answer, and requests after the last are answered, too."""
    answers: deque[str] = field(default_factory=deque)
    """What it answers the next requests, one each; the others "You said: …"."""
    delay: float = 0.0
    """Seconds before it answers."""
    released: threading.Event = field(default_factory=threading.Event)
    """Ends the silence."""
    connections: set[socket.socket] = field(default_factory=set)
    accepted: int = 0
    """How many connections there have been."""
    port: int = 0
    http: ThreadingHTTPServer | None = None

    @contextmanager
    def gone(self) -> Iterator[None]:
        """Nobody listens, as when the process was killed, until the context ends."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    def start(self) -> None:
        """Listen; on the same port as before, if there was one."""
        server = self

        class Handler(CompletionsHandler):
            state = server

        self.http = http = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.released.clear()
        threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self) -> None:
        """Stop listening and cut every connection."""
        assert self.http is not None
        self.released.set()
        self.http.shutdown()
        self.http.socket.close()
        for connection in list(self.connections):
            with suppress(OSError):  # the other side may have closed it
                connection.shutdown(socket.SHUT_RDWR)
        self.http.server_close()


class CompletionsHandler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    state: OpenAIServer

    def setup(self) -> None:
        super().setup()
        self.state.connections.add(self.connection)
        self.state.accepted += 1

    def finish(self) -> None:
        self.state.connections.discard(self.connection)
        super().finish()

    def do_GET(self) -> None:
        self._json({"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": "test"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.state.requests.append(body)
        fault = self.state.faults.popleft() if self.state.faults else None
        if fault == "silent":
            self.state.released.wait(30)
            self.close_connection = True
        elif fault == "http_500":
            self._json({"error": {"message": "the model has crashed", "type": "server_error"}}, 500)
        elif fault == "html":
            self._send(b"<!DOCTYPE html><html><title>Welcome: sign in</title></html>", "text/html; charset=utf-8", 200)
        elif fault == "json":
            self._json({"status": "ok"})
        elif body["model"] != MODEL:
            self._json({"error": {"message": f"model '{body['model']}' not found", "type": "not_found_error"}}, 404)
        else:
            self.state.released.wait(self.state.delay)
            answer = self.state.answers.popleft() if self.state.answers else ""
            self._stream(list(chunks(body, fault, answer)), fault)

    def _stream(self, parts: list[dict[str, Any]], fault: Fault | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if fault == "broken_off":
            parts = parts[: len(parts) // 2]
        for part in parts:
            self._chunk(f"data: {json.dumps(part)}\n\n")
        if fault == "broken_off":
            self.close_connection = True
            return
        if fault in ("cut_after", "silent_after"):
            if fault == "silent_after":
                self.state.released.wait(30)
            self.close_connection = True
            return
        self._chunk("data: {not json\n\n" if fault == "no_json" else "data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _json(self, body: object, status: int = 200) -> None:
        self._send(json.dumps(body).encode(), "application/json", status)

    def _send(self, data: bytes, kind: str, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


def chunks(body: dict[str, Any], fault: Fault | None, answer: str = "") -> Iterator[dict[str, Any]]:
    """The streamed completion of a request."""
    yield {"hello": "there"} if fault == "other_json" else _chunk_of({"role": "assistant", "content": ""})
    if fault in ("no_json", "other_json"):
        return
    last = body["messages"][-1]
    if fault == "empty":
        pass
    elif last["role"] == "tool":
        yield from _words(json.loads(last["content"]))
    elif body.get("tools"):
        yield from _words(PREAMBLE)
        yield from _call(body["tools"][0]["function"], last["content"])
    else:
        yield from _words(answer or f"You said: {last['content']}")
    yield _chunk_of({}, finish="stop")
    if fault in ("cut_after", "silent_after"):
        return
    if (body.get("stream_options") or {}).get("include_usage"):
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
        yield {**_chunk_of({}), "choices": [], "usage": usage}


def _words(text: str) -> Iterator[dict[str, Any]]:
    for word in text.split():
        yield _chunk_of({"content": word + " "})


def _call(function: dict[str, Any], heard: str) -> Iterator[dict[str, Any]]:
    word = heard.split()[-1].strip(".,?!")
    properties = function["parameters"]["properties"]
    arguments = json.dumps({name: word for name, schema in properties.items() if schema.get("type") == "string"})
    middle = len(arguments) // 2
    start = {"index": 0, "id": "call_1", "type": "function", "function": {"name": function["name"], "arguments": ""}}
    yield _chunk_of({"tool_calls": [start]})
    for part in (arguments[:middle], arguments[middle:]):
        yield _chunk_of({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})


def _chunk_of(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": MODEL, "choices": [choice]}


@contextmanager
def serving() -> Iterator[OpenAIServer]:
    """A server while the context lasts."""
    server = OpenAIServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()
