"""Downloads models from the Hugging Face hub (or the mirror named by `HF_ENDPOINT`) and verifies their checksums.

They are kept in the hub's own cache, which other programs share.
"""

import errno
import hashlib
import os
import tempfile
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from voice.errors import ConfigurationError
from voice.models.table import VOICES, HubSource, Model, ModelFile, SourceError

if TYPE_CHECKING:
    from huggingface_hub.hf_api import ModelInfo, RepoSibling

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS)
PATIENCE = 10.0
"""Seconds that the hub may take to answer if there is no other source."""


class HubModel:
    """A model in the hub's cache, or on the hub.

    A reference in the cache, the mark, names the commit with verified files. Whisper models use the reference written
    by the hub's own programs, so that their downloads are found; a repository with several models has one mark for
    each.
    """

    def __init__(self, model: Model, source: HubSource) -> None:
        self._model, self._source = model, source
        marks = {"speech recognition": "main", "voice": f"checked/{model.name}", "language model": f"own/{model.name}"}
        self._mark = marks[model.kind]

    def find(self) -> Path | None:
        """The folder with the model's files, if the cache has all needed ones; does not use the network."""
        from huggingface_hub import try_to_load_from_cache

        found = None
        for name in self._model.needed:
            found = try_to_load_from_cache(self._source.repository, self._path(name), revision=self._mark)
            if not isinstance(found, str):
                return None
        return Path(found).parent if found else None

    def is_at(self, path: Path) -> bool:
        """Whether a path is in the cache's folder of the model's repository."""
        return f"models--{self._source.repository.replace('/', '--')}" in path.absolute().parts

    def ask(self, *, within: float) -> "ModelInfo":
        """The hub's description of the repository.

        Args:
            within: seconds that it may take to answer.

        Raises:
            SourceError: it does not answer, or does not have the repository.
        """
        from huggingface_hub import HfApi

        try:
            return HfApi().model_info(
                self._source.repository, revision=self._source.revision, files_metadata=True, timeout=within
            )
        except Exception as error:
            raise self._failed(error) from error

    def download(self, info: "ModelInfo") -> Path:
        """Download the files of one commit, verify each, then mark the copy in the cache as verified.

        A terminal shows a progress bar for each file. Files left by an earlier attempt are verified again, not
        downloaded again.

        Returns:
            The folder with the model's files.

        Raises:
            SourceError: they cannot be downloaded, or do not have the pinned checksums or those of the hub.
            ConfigurationError: the repository lacks a file that the model needs.
        """
        files = self._announced(info)
        try:
            paths = [self._fetch(file, info.sha) for file in files]
        except SourceError:
            raise
        # The libraries under huggingface_hub (requests, httpx) raise errors of their own, which differ between versions
        # and share no base but Exception.
        except Exception as error:
            if isinstance(error, OSError) and error.errno in _DISK:
                raise
            raise self._failed(error) from error
        depth = files[-1].rfilename.count("/")
        _publish(paths[-1].parents[depth], self._mark)
        return paths[-1].parent

    def remove(self) -> None:
        """Remove the model's files from the cache, and the whole repository if it has no others."""
        from huggingface_hub import scan_cache_dir
        from huggingface_hub.errors import CacheNotFound

        try:
            cache = scan_cache_dir()
        except CacheNotFound:
            return
        ours = {self._path(name) for name in (*self._model.needed, *self._source.optional)}
        for repository in cache.repos:
            if repository.repo_id != self._source.repository or repository.repo_type != "model":
                continue
            files = [
                (file, file.file_path.relative_to(revision.snapshot_path).as_posix() in ours)
                for revision in repository.revisions
                for file in revision.files
            ]
            if all(is_ours for _, is_ours in files):
                cache.delete_revisions(*(revision.commit_hash for revision in repository.revisions)).execute()
            else:
                cache.delete_files(*(file for file, is_ours in files if is_ours)).execute()

    def _path(self, name: str) -> str:
        return f"{self._source.folder}{name}"

    def _announced(self, info: "ModelInfo") -> list["RepoSibling"]:
        """The files to download, with the weights last, since a model without them is incomplete."""
        there = {file.rfilename: file for file in info.siblings or ()}
        needed = [self._path(name) for name in self._model.needed]
        if missing := [path for path in needed if path not in there]:
            similar = []
            if self._model.kind == "voice":
                voices = [PurePosixPath(path).stem for path in there if path.endswith(".onnx")]
                similar = get_close_matches(self._model.name, voices, n=3)
            raise ConfigurationError(
                f"{self._source.repository} on the hub has no {', '.join(missing)}, which {self._model.name} needs: "
                f"pull {' or '.join(similar) if similar else 'another model'}; `voice models` lists some."
            )
        optional = [path for name in self._source.optional if (path := self._path(name)) in there]
        files = [there[path] for path in (*optional, *needed)]
        if unsigned := [file.rfilename for file in files if file.lfs is None and file.blob_id is None]:
            raise SourceError(f"gives no checksum of {', '.join(unsigned)}")
        for file in files:
            pinned = self._pinned(file)
            if pinned and file.lfs and file.lfs.sha256 != pinned.sha256:
                raise SourceError(
                    f"has another {file.rfilename}, with the checksum {file.lfs.sha256} and not the pinned "
                    f"{pinned.sha256}"
                )
        return files

    def _pinned(self, file: "RepoSibling") -> ModelFile | None:
        return next((one for one in self._model.files if self._path(one.name) == file.rfilename), None)

    def _fetch(self, file: "RepoSibling", commit: str | None) -> Path:
        """Download one file into the cache and compare its digest; a file that does not match is deleted."""
        from huggingface_hub import hf_hub_download

        path = Path(hf_hub_download(self._source.repository, file.rfilename, revision=commit))
        is_right = False
        try:
            is_right = _is_right(path, file, self._pinned(file))
        finally:
            if not is_right:
                path.resolve().unlink(missing_ok=True)
                path.unlink(missing_ok=True)
        if not is_right:
            whose = "pinned" if self._pinned(file) else "announced"
            raise SourceError(f"sent a {file.rfilename} that does not have the {whose} checksum and was deleted")
        return path

    def _failed(self, error: Exception) -> SourceError:
        from huggingface_hub import constants, errors

        if isinstance(error, errors.OfflineModeIsEnabled):
            return SourceError("is not asked, as HF_HUB_OFFLINE is set", is_silent=True)
        if isinstance(error, errors.GatedRepoError):
            return SourceError(f"gives {self._source.repository} to nobody without a grant (set HF_TOKEN)")
        if isinstance(error, errors.RepositoryNotFoundError):
            return SourceError(f"has no repository {self._source.repository}, or it is private")
        if isinstance(error, errors.RevisionNotFoundError):
            return SourceError(f"has no revision {self._source.revision} of {self._source.repository}")
        why = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        return SourceError(f"does not answer at {constants.ENDPOINT} ({why})", is_silent=True)


def _is_right(path: Path, file: "RepoSibling", pinned: ModelFile | None) -> bool:
    """Compare a file with its pin, or with the hub's digest: SHA-256 for large files, git's SHA-1 for small ones."""
    if pinned is None and file.lfs is None:
        content = path.read_bytes()
        return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest() == file.blob_id
    expected = pinned.sha256 if pinned else file.lfs and file.lfs.sha256
    return sha256(path) == expected


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _publish(snapshot: Path, mark: str) -> None:
    """Point the cache's reference `mark` at a verified snapshot.

    Without this reference, files downloaded by commit are not found by `mark`, so an interrupted or unverified download
    never counts as complete.
    """
    reference = snapshot.parents[1] / "refs" / mark
    reference.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=reference.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(snapshot.name)
        os.replace(temporary, reference)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def marked_voices() -> list[str]:
    """Names of the Piper voices with a mark in the cache."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    folder = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=VOICES, repo_type="model")
    return sorted(path.name for path in (folder / "refs" / "checked").glob("*"))
