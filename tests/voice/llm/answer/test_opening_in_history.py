"""What was heard of an opening stays in the conversation: the next answer knows that it was said."""

import asyncio
from collections.abc import Callable
from typing import Any

from pipecat.frames.frames import EndFrame, LLMContextFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.workers.runner import WorkerRunner

from tests.voice.llm.answer import budgeted_rig as rig
from voice.tts.piper.service import PiperTTSService
from voice.tts.piper.voice import Voice

OPENING = "About your flight, let me see."
ANSWER = "It can be moved to Monday. It costs nothing."


async def messages_after(context: LLMContext, service: Any, voice: Voice, over: Callable[[], object]) -> list[Any]:
    assistant = LLMContextAggregatorPair(context).assistant()
    pipeline = Pipeline([service, PiperTTSService(voice), assistant])
    worker = PipelineWorker(pipeline, cancel_on_idle_timeout=False, enable_rtvi=False)
    started = asyncio.Event()

    @worker.event_handler("on_pipeline_started")  # type: ignore[untyped-decorator]
    async def start(_: Any, frame: Any) -> None:
        started.set()

    async def go_through() -> None:
        await started.wait()
        await worker.queue_frame(LLMContextFrame(context))
        while not over():
            await asyncio.sleep(0.02)
        await worker.queue_frame(EndFrame())

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        tasks.create_task(runner.run())
        tasks.create_task(go_through())
    return context.get_messages()


async def test_an_opening_that_was_heard_stays_before_its_answer(embedded: Voice) -> None:
    asked: Any = [{"role": "user", "content": "can I move my flight"}]
    context = LLMContext(asked)
    async with rig.serving(rig.Server(ANSWER, wait=0.3)) as slow, rig.serving(rig.Server(OPENING)) as quick:
        call = rig.make_call("relay", slow, quick, budget=rig.PATIENT, p95=2.0)
        found = await messages_after(context, call.service, embedded, lambda: len(call.records))
    assert {message["role"] for message in found[1:]} == {"assistant"}
    # In one message or two, as the answer's beginning comes before or after the opening's end.
    heard = " ".join(message["content"] for message in found[1:])
    assert heard.split() == f"{OPENING} {ANSWER}".split()
