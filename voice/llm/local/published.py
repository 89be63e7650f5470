"""Models that can be pulled by name, and where a model is that a setting names. Nothing is downloaded unless asked."""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from voice.cache import user_cache
from voice.errors import ComponentError, ConfigurationError
from voice.hub import HubFiles
from voice.llm.local.gguf_header import read_gguf
from voice.llm.local.model_folder import NEEDED, OPTIONAL, read_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedModel:
    """A model on the hub.

    Parameters:
        name: as settings name it.
        repository: on the hub.
        licence: as its repository states it.
        size: bytes to download; about, where nothing is pinned.
        file: the GGUF file; None for a folder in CTranslate2's format.
        revision: the commit; None where none is pinned.
        sha256: the checksum of `file`; None where none is pinned.
    """

    name: str
    repository: str
    licence: str
    size: int
    file: str | None = None
    revision: str | None = None
    sha256: str | None = None

    @property
    def is_pinned(self) -> bool:
        """Whether exactly these bytes are taken, whatever the hub says."""
        return self.sha256 is not None

    @property
    def is_usable(self) -> bool:
        """Whether what runs its format is installed."""
        return self.file is None or find_spec("xllamacpp") is not None

    def cached(self) -> Path | None:
        """The folder or file, if the hub's cache has a verified copy; does not use the network."""
        files = self._on_hub()
        if self.file is not None:
            return files.cached(self.file)
        found = [files.cached(name) for name in NEEDED]
        return found[0].parent if found[0] is not None and None not in found else None

    def pull(self) -> Path:
        """Download and verify it; what an earlier attempt has left is not downloaded again.

        Raises:
            ComponentError: it cannot be downloaded, or is not what it should be.
            ConfigurationError: its repository lacks files.
        """
        files = self._on_hub()
        folder = files.download(self._wanted)
        return folder / self.file if self.file is not None else folder

    def _wanted(self, there: Collection[str]) -> list[str]:
        needed = (self.file,) if self.file is not None else NEEDED
        if missing := [name for name in needed if name not in there]:
            raise ConfigurationError(f"{self.repository} on the hub lacks {', '.join(missing)}; {_offline(self)}.")
        optional = () if self.file is not None else OPTIONAL
        # The weights last: until they are there, nothing is complete.
        return [*(name for name in optional if name in there), *reversed(needed)]

    def _on_hub(self) -> HubFiles:
        return HubFiles(
            what=f"The model {self.name}",
            repository=self.repository,
            alternative=_offline(self),
            revision=self.revision or "main",
            mark=f"own/{self.name}",
            pinned={self.file: self.sha256} if self.file and self.sha256 else {},
        )


PUBLISHED = (
    PublishedModel(
        name="qwen2.5-0.5b",
        repository="jncraton/Qwen2.5-0.5B-Instruct-ct2-int8",
        licence="Apache-2.0",
        size=500_000_000,
    ),
    # Commits, sizes and checksums as a dozen independent public projects pin them (looked up on 23 November 2026).
    PublishedModel(
        name="qwen3-0.6b-gguf",
        repository="Qwen/Qwen3-0.6B-GGUF",
        licence="Apache-2.0",
        size=639_446_688,
        file="Qwen3-0.6B-Q8_0.gguf",
        revision="23749fefcc72300e3a2ad315e1317431b06b590a",
        sha256="9465e63a22add5354d9bb4b99e90117043c7124007664907259bd16d043bb031",
    ),
    PublishedModel(
        name="qwen2.5-0.5b-gguf",
        repository="Qwen/Qwen2.5-0.5B-Instruct-GGUF",
        licence="Apache-2.0",
        size=491_400_032,
        file="qwen2.5-0.5b-instruct-q4_k_m.gguf",
        revision="9217f5db79a29953eb74d5343926648285ec7e67",
        sha256="74a4da8c9fdbcd15bd1f6d01d621410d31c6fc00986f5eb687824e7b93d7a9db",
    ),
)
"""In order of preference: the first needs no optional package."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """What the first pull of a model got.

    Parameters:
        commit: of the repository.
        sha256: of each file, by name.
    """

    commit: str
    sha256: Mapping[str, str] = field(default_factory=dict)


def published(name: str) -> PublishedModel | None:
    """The published model of that name."""
    return next((model for model in PUBLISHED if model.name == name), None)


def find_model(model: str) -> Path | None:
    """Where the model is that a setting names: a path, or the name of a model that was pulled; None if not here.

    Raises:
        ConfigurationError: it is neither a path nor a published name.
    """
    if known := published(model):
        return known.cached()
    path = Path(model).expanduser()
    if path.exists() or "/" in model or model.startswith(".") or path.suffix == ".gguf":
        return path
    names = ", ".join(model.name for model in PUBLISHED)
    raise ConfigurationError(
        f"{model!r} names no model: use a folder in CTranslate2's format, a GGUF file, or one of {names}."
    )


def check_model(model: str, *, template: str | None = None) -> Path:
    """The model that a setting names, checked as far as that goes without loading it.

    Raises:
        ConfigurationError: the name or the chat template is not known.
        ComponentError: it is not here, is no model, or what runs it is not installed.
    """
    path = find_model(model)
    if path is None:
        known = published(model)
        assert known is not None
        raise ComponentError(f"The model {model} is not here: run `voice models pull {model}`, or {_offline(known)}.")
    if path.is_file() or path.suffix == ".gguf":
        from voice.llm.local.gguf_engine import require_library

        read_gguf(path)
        require_library()
    else:
        read_folder(path, template=template)
    return path


def name_of(path: Path) -> str:
    """The model's own name.

    Raises:
        ComponentError: it is no model.
    """
    if path.is_file() or path.suffix == ".gguf":
        return read_gguf(path).name
    return read_folder(path, template="chatml").name


def first_pull(model: PublishedModel) -> Pulled | None:
    """What the first pull got; None if there was none.

    Raises:
        ComponentError: the record of it is damaged.
    """
    file = _record(model)
    if not file.is_file():
        return None
    try:
        table = json.loads(file.read_text(encoding="utf-8"))
        return Pulled(table["commit"], dict(table["sha256"]))
    except (ValueError, KeyError, TypeError) as error:
        raise ComponentError(
            f"{file}, which says what the first pull of {model.name} got, is damaged: delete it, and "
            f"`voice models pull {model.name}` records what is here now."
        ) from error


def compare(model: PublishedModel, path: Path) -> tuple[Pulled, bool]:
    """Read every byte of a pulled model and compare it with the pin or the first pull; the first one is recorded.

    Returns:
        What is here, and whether it was the first.

    Raises:
        ComponentError: it is something else.
    """
    folder = path.parent if model.file else path
    names = (model.file,) if model.file else (*NEEDED, *(name for name in OPTIONAL if (path / name).is_file()))
    here = Pulled(folder.name, {name: _sha256(folder / name) for name in names})
    before = first_pull(model)
    expected = {model.file: model.sha256} if model.file and model.sha256 else before.sha256 if before else None
    if expected is not None and any(here.sha256.get(name) != digest for name, digest in expected.items()):
        raise ComponentError(
            f"The model {model.name} in {path} is not what was {'pinned' if model.is_pinned else 'pulled first'}: "
            f"delete {path.resolve()} and run `voice models pull {model.name}` again."
        )
    if before is None:
        record = _record(model)
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(json.dumps({"commit": here.commit, "sha256": here.sha256}), encoding="utf-8")
    return here, before is None


def _record(model: PublishedModel) -> Path:
    return user_cache() / "pulled" / f"{model.name}.json"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _offline(model: PublishedModel) -> str:
    what = f"the file {model.file}" if model.file else f"a folder with {', '.join(NEEDED)} and tokenizer_config.json"
    return f'copy {what} here from another machine and set model = "/path/to/it"'
