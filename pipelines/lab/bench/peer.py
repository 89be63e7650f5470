"""Serves another framework's bot on /ws, in a process of its own: `python -m pipelines.lab.bench.peer BOT …`."""

import argparse
import asyncio
import importlib
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import faster_whisper
import uvicorn
from fastapi import FastAPI, WebSocket
from loguru import logger

from pipelines.engines.scripted import SCRIPT
from pipelines.lab.bench.bots import BOTS
from pipelines.lab.scripted.model import ScriptedWhisperModel
from voice.server.listening import listen, stdin_closed
from voice.wire.endpoint import CALL_PATH, call_url

DECODING = {"beam_size": 1, "temperature": 0.0, "condition_on_previous_text": False, "without_timestamps": True}
"""Our recogniser's decoding as arguments of faster-whisper's `transcribe`, for tuned bots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts that every bot is built from.

    Parameters:
        whisper: folder of a CTranslate2 Whisper model.
        voice: a Piper voice's .onnx file.
        llm_url: base URL of an OpenAI-compatible server.
        llm_model: the name of the model on that server.
        prompt: the system prompt.
    """

    whisper: Path
    voice: Path
    llm_url: str
    llm_model: str
    prompt: str


def create_app(run_bot: Callable[[WebSocket, Parts], Awaitable[None]], parts: Parts) -> FastAPI:
    """The web application that accepts a bot's calls."""
    app = FastAPI()

    @app.websocket(CALL_PATH)
    async def call(websocket: WebSocket) -> None:
        await websocket.accept()
        await run_bot(websocket, parts)

    return app


async def serve(app: FastAPI) -> None:
    """Serve on a free loopback port until standard input ends; the address is printed to standard output."""
    sock = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    print(f"Listening on {call_url('127.0.0.1', sock.getsockname()[1])}", flush=True)
    watching = asyncio.create_task(stdin_closed())
    await asyncio.wait({serving, watching}, return_when=asyncio.FIRST_COMPLETED)
    watching.cancel()
    server.should_exit = True
    await serving


def main(argv: Sequence[str] | None = None) -> None:
    """Serve the bot named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m pipelines.lab.bench.peer")
    parser.add_argument("bot", choices=BOTS)
    parser.add_argument("--whisper", type=Path, required=True)
    parser.add_argument("--voice", type=Path, required=True)
    parser.add_argument("--llm-url", required=True)
    parser.add_argument("--llm-model", required=True)
    parser.add_argument("--prompt", required=True)
    args = vars(parser.parse_args(argv))
    name, parts = args.pop("bot"), Parts(**args)
    # By default, pipecat logs individual frames.
    logger.remove()
    logger.add(sys.stderr, level="WARNING")
    if (parts.whisper / SCRIPT).is_file():
        # Replaced before the bot imports it.
        faster_whisper.WhisperModel = ScriptedWhisperModel
    module, _, function = BOTS[name].function.partition(":")
    bot = importlib.import_module(module)
    if hasattr(bot, "prewarm"):
        bot.prewarm(parts)
    asyncio.run(serve(create_app(getattr(bot, function), parts)))


if __name__ == "__main__":
    main()
