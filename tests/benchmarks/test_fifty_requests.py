"""Which arrangement of the offline models answers fifty ordinary requests right; prints a table.

Run it with `pytest -m slow -s tests/benchmarks/test_fifty_requests.py` once the models are pulled.
"""

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.pulled import use_pulled
from voice.language.english.phrases import ENGLISH
from voice.llm.wires.in_process.engine import Message
from voice.llm.wires.in_process.gguf_file import read_gguf
from voice.llm.wires.in_process.model import OwnModel
from voice.models.store import find
from voice.responder.dialogue import NOT_UNDERSTOOD, Responder

pytestmark = pytest.mark.slow
NOW = datetime(2026, 11, 20, 16, 10, tzinfo=UTC)
REQUESTS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("fifty_requests.yaml").read_text())
Answer = Callable[[Sequence[str]], tuple[str, str]]
"""Answers the last of a conversation's texts; returns who answered and the words."""


def by_rules(texts: Sequence[str]) -> tuple[str, str]:
    responder = Responder()
    *before, last = texts
    for text in before:
        responder.reply(text, NOW)
    return "responder", responder.reply(last, NOW).text


def by_model(model: OwnModel, prompt: str) -> Answer:
    def answer(texts: Sequence[str]) -> tuple[str, str]:
        messages: list[Message] = []
        for text in texts:
            messages += [Message("user", text), Message("assistant", generated(model, prompt, messages, text))]
        return model.name, messages[-1].text

    return answer


def by_both(model: OwnModel, prompt: str) -> Answer:
    def answer(texts: Sequence[str]) -> tuple[str, str]:
        responder, who = Responder(is_alone=False), ""
        messages: list[Message] = []
        for text in texts:
            reply, who = responder.reply(text, NOW), "responder"
            said = reply.text
            if reply.intent == NOT_UNDERSTOOD:
                said, who = generated(model, prompt, messages, text), model.name
            messages += [Message("user", text), Message("assistant", said)]
        return who, messages[-1].text

    return answer


def generated(model: OwnModel, prompt: str, messages: Sequence[Message], text: str) -> str:
    async def collect() -> str:
        stream = model.stream(prompt, [*messages, Message("user", text)], longest=80)
        return "".join([piece async for piece in stream if isinstance(piece, str)])

    return asyncio.run(collect())


def is_right(request: dict[str, Any], answer: str) -> bool:
    wrong = request.get("wrong")
    return bool(re.search(request["right"], answer, re.I)) and not (wrong and re.search(wrong, answer, re.I))


def test_the_responder_before_a_model_answers_more_than_either_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("qwen2.5-coder-0.5b", "smollm2-135m")
    use_pulled(monkeypatch, *names)
    prompt = ENGLISH.prompt_at(ENGLISH.prompt, NOW)
    qwen, smol = (OwnModel.load(read_gguf(path)) for path in map(find, names) if path)
    arrangements: dict[str, Answer] = {
        "responder": by_rules, "qwen": by_model(qwen, prompt), "smollm2": by_model(smol, prompt),
        "responder, qwen": by_both(qwen, prompt), "responder, smollm2": by_both(smol, prompt),
    }  # fmt: skip
    right: dict[str, int] = dict.fromkeys(arrangements, 0)
    for request in REQUESTS:
        print(f"\n{request['kind']}: {' / '.join([*request.get('after', []), request['said']])}")
        for name, answer in arrangements.items():
            began = time.perf_counter()
            who, words = answer([*request.get("after", []), request["said"]])
            ok = is_right(request, words)
            right[name] += ok
            print(f"  {'right' if ok else 'WRONG'} {time.perf_counter() - began:4.1f} s  {name} ({who}): {words}")
    qwen.close()
    smol.close()
    print(f"\nright of {len(REQUESTS)}: {', '.join(f'{name} {count}' for name, count in right.items())}")
    assert right["responder, qwen"] > max(right["responder"], right["qwen"])
