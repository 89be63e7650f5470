"""The software of a pipeline and its simulated parts, for the report."""

from collections.abc import Mapping
from functools import cache
from importlib import metadata

REPORTED_PACKAGES = (
    "turnaround",
    "pipecat-ai",
    "pocketsphinx",
    "faster-whisper",
    "ctranslate2",
    "piper-tts",
    "onnxruntime",
)
# Each look-up reads files, which /healthz must not do while calls are under way; loading fills the cache.
version = cache(metadata.version)


def versions() -> dict[str, str]:
    """Versions of the packages that a measurement depends on."""
    found = {}
    for package in REPORTED_PACKAGES:
        try:
            found[package] = version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def simulated(components: Mapping[str, str]) -> list[str]:
    """The simulated components, by their names."""
    marks = ("sim:", "scripted:")
    return [name for name in components.values() if any(mark in name for mark in marks)]
