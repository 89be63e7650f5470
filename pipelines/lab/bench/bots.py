"""The other agents' bots: their entry points and their frameworks."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot of another framework.

    Parameters:
        function: the function `(websocket, parts)` that serves one accepted call, as `module:name`.
        package: the package of its framework.
        tuned: whether it gets our environment variables, which limit native threads as for our own server.
    """

    function: str
    package: str
    tuned: bool = False


BOTS = {
    "stock-pipecat": Bot("pipelines.lab.bench.stock_pipecat:run_bot", "pipecat-ai"),
    "tuned-pipecat": Bot("pipelines.lab.bench.tuned_pipecat:run_bot", "pipecat-ai", tuned=True),
    "tuned-pipecat-words": Bot("pipelines.lab.bench.tuned_pipecat:run_bot_of_words", "pipecat-ai", tuned=True),
    "livekit-agents": Bot("pipelines.lab.bench.livekit_agents:run_bot", "livekit-agents"),
    "tuned-livekit": Bot("pipelines.lab.bench.tuned_livekit:run_bot", "livekit-agents", tuned=True),
}
"""The bots by their names in variants.toml."""
