"""Configures, assembles and runs agents: settings, pipelines, and the commands that serve, replay and talk.

The Python API: `Agent`, `serve`, `replay`, and the errors that they raise. `Agent`, `serve` and `replay` are imported
on first use, because their dependencies take seconds to load.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from voice.errors import ComponentError as ComponentError
from voice.errors import ConfigurationError as ConfigurationError
from voice.errors import FixtureError as FixtureError
from voice.errors import VoiceError as VoiceError

if TYPE_CHECKING:
    from pipelines.agent import Agent as Agent
    from pipelines.replaying.agent_replay import replay as replay
    from pipelines.serving.serve import serve as serve

_LAZY = {"Agent": "pipelines.agent", "replay": "pipelines.replaying.agent_replay", "serve": "pipelines.serving.serve"}
__all__ = ["Agent", "ComponentError", "ConfigurationError", "FixtureError", "VoiceError", "replay", "serve"]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from pipelines.threads import limit_threads

        limit_threads()
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
