"""`voice models`: what is on this machine (Whisper weights, voices, language models), and `voice models pull`."""

import sys
from collections.abc import Iterator

from latency.command_line import folded
from voice.errors import ConfigurationError
from voice.llm.local.published import PUBLISHED, PublishedModel, compare, first_pull, published

SHOWN = 12
"""Characters of a checksum or commit that a list shows."""


def list_models() -> list[str]:
    """Lines that list what is here, with sizes, licences and what vouches for them. The network is not used."""
    return ["Speech recognition", *_whisper(), "Voices", *_voices(), "Language models in this process", *_own()]


def pull_model(name: str) -> None:
    """Download a model, or check one that is here, byte by byte; says what was got on standard error.

    Raises:
        ConfigurationError: there is no model of that name.
        ComponentError: it cannot be downloaded, or is not what it should be.
    """
    model = published(name)
    if model is None:
        names = ", ".join(model.name for model in PUBLISHED)
        raise ConfigurationError(f"There is no model {name} to pull; there is {names}.")
    _say(f"{name}: {_size(model.size, exact=model.is_pinned)}, {model.licence}, {_vouched(model)}")
    path = model.cached() or model.pull()
    here, is_first = compare(model, path)
    weights = model.file or "model.bin"
    if model.is_pinned:
        _say(f"{weights} has the pinned SHA-256 {here.sha256[weights]}.")
    elif is_first:
        _say(
            f"Nothing is pinned for it: this first pull got commit {here.commit} with the SHA-256 "
            f"{here.sha256[weights]} of {weights}, and later ones are compared with it."
        )
    else:
        _say(f"{weights} is what the first pull got: SHA-256 {here.sha256[weights]}.")
    _say(f'Use it as a tier with provider = "own", model = "{name}"; `--pipeline auto` takes it by itself.')


def _whisper() -> Iterator[str]:
    from voice.asr.whisper.weights import REPOSITORIES, cached

    here = {name: path for name in REPOSITORIES if (path := cached(name))}
    for name, path in here.items():
        yield _row(name, (path / "model.bin").stat().st_size, "MIT", f"hub's checksum, commit {path.name[:SHOWN]}")
    if others := [name for name in REPOSITORIES if name not in here]:
        yield folded(", ".join(others), first="  not here (downloaded when first used): ", indent=4)


def _voices() -> Iterator[str]:
    from voice.tts.piper.published import cached_voices
    from voice.tts.piper.voice import embedded_voice

    yield _row("embedded", embedded_voice().stat().st_size, "BSD-2-Clause, see its NOTICE.md", "part of this package")
    for name, path in cached_voices().items():
        yield _row(name, path.stat().st_size, "see its MODEL_CARD", "hub's checksum")


def _own() -> Iterator[str]:
    for model in PUBLISHED:
        path = model.cached()
        if path is None:
            how = f"not here: `voice models pull {model.name}`; {_vouched(model)}"
            yield _row(model.name, model.size, model.licence, how, exact=model.is_pinned)
        else:
            weights = path if model.file else path / "model.bin"
            yield _row(model.name, weights.stat().st_size, model.licence, f"here, {_vouched(model)}")


def _vouched(model: PublishedModel) -> str:
    """What says that the bytes are the right ones."""
    if model.sha256 is not None:
        return f"pinned to SHA-256 {model.sha256[:SHOWN]}…"
    if before := first_pull(model):
        return f"not pinned; first pulled at commit {before.commit[:SHOWN]}"
    return "not pinned: the first pull is recorded"


def _row(name: str, size: int, licence: str, state: str, *, exact: bool = True) -> str:
    return folded(state, first=f"  {name:18} {_size(size, exact=exact):>12}  {licence}  ", indent=4)


def _size(size: int, *, exact: bool = True) -> str:
    return f"{'' if exact else 'about '}{size / 1e6:.0f} MB"


def _say(text: str) -> None:
    print(text, file=sys.stderr)
