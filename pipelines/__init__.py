"""Assembly and driving: which parts, in what order, with what settings; serve, replay, talk.

`Agent` and `serve` are the Python API; they are imported on first use, because what they need takes seconds to load.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipelines.agent import Agent as Agent
    from pipelines.agent import serve as serve

__all__ = ["Agent", "serve"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from pipelines.threads import limit_threads

        limit_threads()
        from pipelines import agent

        return getattr(agent, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
