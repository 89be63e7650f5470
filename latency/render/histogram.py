"""Latencies as one line of bars against the 800 ms that a turn may take."""

from collections.abc import Iterable

TARGET_MS = 800
BIN_MS = 50
BINS = 40
_BARS = " ▁▂▃▄▅▆▇█"
_ASCII_BARS = " .:-=+*#@"


def histogram(latencies: Iterable[float], *, ascii_only: bool = False) -> list[str]:
    """One line of bars of 50 ms from 0 to 2 s, split at 800 ms, and a scale below; the last bar holds everything later.

    Args:
        latencies: Seconds.
        ascii_only: Draw with ASCII characters.
    """
    counts = [0] * (BINS + 1)
    for latency in latencies:
        # A latency of exactly 800 ms is within 800 ms, so a bar holds its upper edge.
        counts[min(max(-int(-latency * 1000 // BIN_MS) - 1, 0), BINS)] += 1
    bars, tallest = _ASCII_BARS if ascii_only else _BARS, max(counts)
    if not tallest:
        return []
    drawn = "".join(bars[-(-count * (len(bars) - 1) // tallest)] for count in counts)
    split = TARGET_MS // BIN_MS
    scale = "".join(f"{ms:<{400 // BIN_MS}}" for ms in (0, 400)) + " "
    scale += "".join(f"{ms:<{400 // BIN_MS}}" for ms in (800, 1200, 1600)) + "2000+ ms"
    return [f"  {drawn[:split]}{'|' if ascii_only else '│'}{drawn[split:]}", f"  {scale}"]
