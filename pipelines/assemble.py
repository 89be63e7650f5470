"""Assembles the pipeline of one call."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMAssistantAggregator,
    LLMUserAggregator,
    LLMUserAggregatorParams,
)
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.processors.frameworks.rtvi import RTVIObserverParams
from pipecat.services.llm_service import LLMService
from pipecat.turns.user_start import BaseUserTurnStartStrategy, VADUserTurnStartStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.utils.types import NOT_GIVEN

from pipelines.call_log.call_worker import CallWorker
from pipelines.call_log.observer import MonotonicClock, TurnObserver
from pipelines.call_log.turn_log import TurnLog
from pipelines.pipecat_services.component_factory import ComponentFactory
from pipelines.providers.responder import ResponderTable
from pipelines.settings import Call
from pipelines.shared_engines import Engines
from pipelines.tiers.table import Tiers
from voice.conversation.goodbye import EndsAtGoodbye
from voice.conversation.reprompt import Reprompt, ask_once
from voice.conversation.transcript import Transcript
from voice.language import Language
from voice.language.by_language import PHRASES, TURN_WORDS
from voice.language.turn_words import TurnWords
from voice.llm import CONTEXT_TURNS
from voice.llm.answer.service import BudgetedLLMService
from voice.llm.answer.spoken_service import PartRules, SpeechRules
from voice.llm.context_window import bound
from voice.llm.interruption import SettlingAssistantAggregator, mark_interruptions
from voice.llm.joining import JoiningUserAggregator
from voice.llm.tiers.swap import TierSwap, swap_tool
from voice.llm.tools import Tool, describe
from voice.second_pass import WordCheck
from voice.server.calls import BuiltCall
from voice.server.event_loop import LoopWatch
from voice.server.rtvi import CallRTVI, answer_requests
from voice.server.transport import Caller, CallTransport
from voice.turns.barge_in.decision import Rules
from voice.turns.barge_in.turn_start import BargeInStart, UninterruptibleStart
from voice.turns.end_of_turn import EndOfTurn
from voice.turns.endpointing import Endpointing
from voice.turns.own_voice import OwnVoiceGate, SpokenWords, SpokenWordsTap
from voice.turns.vad import HintingVADProcessor, SharedSilero
from voice.turns.words.trigram_reader import TrigramReader
from voice.watchdog.hangs import Limits
from voice.watchdog.watchdog import Watchdog
from voice.wire.endpoint import IN_RATE

LAG_REMEMBERED = 0.5
"""Seconds without speculative answers after a stall of the event loop."""
CANCEL_WITHIN = 3.0
"""Seconds that a call may take to end when its client has gone; after that, its parts are cancelled one by one."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The agent's prompt, tools and processors.

    Parameters:
        prompt: the system prompt; None takes the pipeline's own.
        tools: plain functions that a language model may call; the responder calls them by their names.
        before_llm: processors after the recogniser.
        before_tts: processors after the language model.
    """

    prompt: str | None = None
    tools: Sequence[Tool] = ()
    before_llm: Sequence[ComponentFactory] = ()
    before_tts: Sequence[ComponentFactory] = ()

    def components(self) -> dict[str, str]:
        """The processors by place, as a report shows them."""
        places = {"before_llm": self.before_llm, "before_tts": self.before_tts}
        return {
            place: ", ".join(factory.name for factory in factories) for place, factories in places.items() if factories
        }


def build_call(engines: Engines, behaviour: Behaviour, caller: Caller) -> BuiltCall:
    """The pipeline of one call.

    The VAD is in front of the recogniser, which therefore never delays it.
    """
    settings, models = engines.settings, engines.models
    phrases, words = PHRASES[settings.language], TURN_WORDS[settings.language]
    params = VADParams(
        confidence=settings.vad.confidence,
        start_secs=settings.vad.start_ms / 1000,
        stop_secs=settings.vad.stop_ms / 1000,
        min_volume=settings.vad.min_volume,
    )
    vad = engines.turns.vad(params)
    limits = Limits(silence=settings.watchdog.silence_ms / 1000, give_up=settings.watchdog.give_up_ms / 1000)

    async def end(reason: str) -> None:
        await transport.end(reason)

    watchdog = Watchdog(limits, end, phrases)
    transport = CallTransport(
        caller,
        audio_came=watchdog.audio_came,
        away=watchdog.paused,
        user_may_be_starting=lambda: vad.may_be_starting or vad.in_doubt,
        ducked_gain=10 ** (-settings.barge_in.duck_db / 20),
    )
    watch = engines.headroom.watch
    stop = _turn_stop(engines, vad, params, watch)

    def thinks() -> float | None:
        return llm.planner.thinks if isinstance(llm, BudgetedLLMService) else 0.0

    def is_strict() -> bool:
        return isinstance(llm, BudgetedLLMService) and llm.planner.may_do_harm

    check = WordCheck(thinks=thinks, is_strict=is_strict)
    rules = SpeechRules(
        prepares=settings.turns.speculation in ("llm+tts", "early") and engines.synthesiser.speaks_ahead,
        is_wanted=stop.speculation.wants,
        parts=PartRules(settings.call.part_ms / 1000, phrases.go_on, words) if settings.call.part_ms else None,
        introduction=engines.synthesiser.introduction,
        check=check,
    )
    answering = models.services(prompt=behaviour.prompt, tools=behaviour.tools, rules=rules)
    llm = answering[-1]
    swap = make_swap(llm, settings.llm, settings.language)
    wants_swap_tool = isinstance(settings.llm, Tiers) and settings.llm.swap_tool
    tools = [*behaviour.tools, *([swap_tool(swap)] if swap and wants_swap_tool else [])]
    schemas = ToolsSchema(standard_tools=[describe(tool) for tool in tools])
    context = LLMContext(tools=schemas if tools else NOT_GIVEN)
    spoken = SpokenWords(words)
    own_voice = OwnVoiceGate(spoken, language=words)
    strategies = UserTurnStrategies(start=_turn_starts(engines, vad, stop, transport, own_voice), stop=[stop])
    user = JoiningUserAggregator(
        context,
        params=LLMUserAggregatorParams(
            user_turn_strategies=strategies, user_idle_timeout=settings.call.silence_ms / 1000
        ),
        # A processor behind the language model may be a recorder that needs the caller's audio.
        passes_audio=bool(behaviour.before_tts),
        audio_through=watchdog.audio_through,
        check=check,
    )
    assistant = SettlingAssistantAggregator(context)
    turns = settings.llm.context_turns if isinstance(settings.llm, Tiers) else CONTEXT_TURNS
    bound(
        assistant,
        context,
        turns=turns,
        **({"forgot": llm.planner.forget} if isinstance(llm, BudgetedLLMService) else {}),
    )
    mark_interruptions(assistant, context)
    pipeline = Pipeline(
        [
            transport.input(),
            HintingVADProcessor(vad=vad, hint=settings.turns.hint_ms / 1000 or None, given_up=end),
            engines.recogniser.service(at_fades=settings.turns.speculation == "early", check=check),
            own_voice,
            Reprompt(phrases),
            *(factory.take() for factory in behaviour.before_llm),
            user,
            *answering,
            *(factory.take() for factory in behaviour.before_tts),
            watchdog,
            engines.synthesiser.service(),
            *call_processors(settings.call, words, user, assistant, context),
            transport.output(),
            SpokenWordsTap(spoken),
            assistant,
        ]
    )
    log = TurnLog(
        tier=models.components["llm"],
        models=models.models,
        stalls=watch.between if watch else None,
        speculates=settings.turns.speculation != "off",
        began=time.monotonic(),
        synthesised=models.synthesised,
    )
    rtvi = CallRTVI()
    answer_requests(rtvi, swap.carry_out if swap else None)
    worker = CallWorker(
        pipeline,
        clock=MonotonicClock(),
        # A call without speech is no idle call: hanging up closes the socket.
        idle_timeout_secs=None,
        cancel_timeout_secs=CANCEL_WITHIN,
        observers=[
            TurnObserver(log, rtvi, watch, caller.metrics),
            watchdog.observer,
        ],
        params=PipelineParams(
            audio_in_sample_rate=IN_RATE, audio_out_sample_rate=caller.sample_rate, enable_metrics=True
        ),
        rtvi_processor=rtvi,
        rtvi_observer_params=RTVIObserverParams(metrics_enabled=False),
        metrics=caller.metrics,
    )
    return BuiltCall(worker, transport)


def call_processors(
    call: Call, words: TurnWords, user: LLMUserAggregator, assistant: LLMAssistantAggregator, context: LLMContext
) -> list[FrameProcessor]:
    """The processors in front of the output: silence, goodbye and the transcript."""
    if call.silence_ms:
        ask_once(user, call.silence_question)
    if call.transcripts:
        Transcript(Path(call.transcripts).expanduser(), days=call.transcript_days or None).follow(user, assistant)
    return [EndsAtGoodbye(context, language=words)] if call.hang_up else []


def _turn_starts(
    engines: Engines, vad: SharedSilero, stop: EndOfTurn, transport: CallTransport, own_voice: OwnVoiceGate
) -> list[BaseUserTurnStartStrategy]:
    """The strategies that start the turns of a call, and so interrupt its answers."""
    settings, models = engines.settings.barge_in, engines.models
    mode = settings.mode
    if mode == "auto":
        mode = "words" if engines.recogniser.gives_partials else "speech"
    match mode:
        case "off":
            return [UninterruptibleStart(stop.set_aside)]
        case "speech":
            return [VADUserTurnStartStrategy(enable_interruptions=True)]
        case "words":
            rules = Rules(
                decide=settings.decide_ms / 1000, short=settings.short_ms / 1000, hold=settings.hold_ms / 1000
            )
            return [
                BargeInStart(
                    vad=vad,
                    voice=transport.voice,
                    rules=rules,
                    far=settings.far_db,
                    set_aside=stop.set_aside,
                    whole_request=models.whole_request,
                    is_own=own_voice.is_own,
                    awaits_answer=lambda: stop.awaits_answer,
                    hears_itself=lambda: own_voice.hearing.hears_itself,
                    language=TURN_WORDS[engines.settings.language],
                )
            ]


def _turn_stop(engines: Engines, vad: SharedSilero, params: VADParams, watch: LoopWatch | None) -> EndOfTurn:
    """The strategy that ends the turns of a call."""
    turns, language = engines.settings.turns, engines.settings.language

    def lagging() -> bool:
        now = time.monotonic()
        stalled = watch is not None and bool(watch.log.between(now - LAG_REMEMBERED, now))
        return stalled or engines.headroom.is_scarce(now)

    return EndOfTurn(
        vad=vad,
        smart_turn=engines.turns.smart_turn(start_secs=params.start_secs),
        endpointing=Endpointing(
            stop=params.stop_secs,
            fallback=turns.fallback_ms / 1000,
            longest=turns.longest_ms / 1000,
            adaptive=turns.adaptive,
            risk=turns.risk,
        ),
        waiting=engines.waiting,
        speculate=turns.speculation != "off",
        early=turns.extra_requests if turns.speculation == "early" else None,
        reads=TrigramReader.shared().log_probability if turns.adaptive and language == "en" else None,
        reader=engines.reader,
        whole_request=engines.models.whole_request if turns.adaptive else None,
        lagging=lagging,
        language=TURN_WORDS[language],
    )


def make_swap(llm: LLMService[Any], settings: ResponderTable | Tiers, language: Language) -> TierSwap | None:
    """The function that changes the language models of a running call; None if the call has none."""
    if isinstance(settings, Tiers) and isinstance(llm, BudgetedLLMService):
        return TierSwap(
            llm, tiers=tuple(settings.tiers), large=settings.large, fast=settings.fast, bridge=settings.bridge,
            best_of=settings.best_of, language=language,
        )  # fmt: skip
    return None
