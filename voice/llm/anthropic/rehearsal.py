"""Has Anthropic's SDK read a message before the first call: it compiles what events may look like with the first one.

That takes a tenth of a second, which would otherwise stop every call of the process.
"""

import json

import httpx2
from anthropic import Anthropic, DefaultHttpxClient

_MESSAGE = {"id": "", "type": "message", "role": "assistant", "model": "", "content": [], "usage": {"input_tokens": 0}}
_EVENTS = (
    {"type": "message_start", "message": _MESSAGE},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
)


def rehearse() -> int:
    """Read a message that comes from nowhere; returns the number of its events. No connection is opened."""
    body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _EVENTS)

    def answer(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, text=body)

    http = DefaultHttpxClient(transport=httpx2.MockTransport(answer))
    with Anthropic(api_key="none", base_url="http://rehearsal", max_retries=0, http_client=http) as client:
        stream = client.beta.messages.create(
            model="none", max_tokens=1, messages=[{"role": "user", "content": "Hi"}], stream=True, betas=["none"]
        )
        return sum(1 for _ in stream)
