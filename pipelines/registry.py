"""The engines and providers that a pipeline can name. To add one, write a module beside these and a line here.

Settings, listings, `voice check` and the assembly of calls find it through that line.
"""

from pipelines.engines.engine import AsrTable, TtsTable
from pipelines.engines.piper import Piper
from pipelines.engines.scripted import ScriptedWhisper
from pipelines.engines.sphinx import Sphinx
from pipelines.engines.whisper import Whisper
from pipelines.pipecat_services.tables import PipecatAsr, PipecatTier, PipecatTts
from pipelines.providers.anthropic import AnthropicTier
from pipelines.providers.openai import OpenAITier
from pipelines.providers.own import OwnTier
from pipelines.providers.provider import TierTable
from pipelines.providers.sim import SimTier

RECOGNISERS: tuple[type[AsrTable], ...] = (Sphinx, Whisper, PipecatAsr, ScriptedWhisper)
"""`asr.engine`"""
SYNTHESISERS: tuple[type[TtsTable], ...] = (Piper, PipecatTts)
"""`tts.engine`"""
PROVIDERS: tuple[type[TierTable], ...] = (OpenAITier, AnthropicTier, SimTier, OwnTier, PipecatTier)
"""`provider` of a tier in `[llm]`"""
