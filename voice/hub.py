"""Downloads files from the Hugging Face hub (or the mirror named by `HF_ENDPOINT`) and verifies their checksums.

It knows nothing of their contents. They are kept in the hub's own cache, shared with all other programs that use it.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from voice.errors import ComponentError, VoiceError

if TYPE_CHECKING:
    from huggingface_hub.hf_api import ModelInfo, RepoSibling

_METADATA_TIMEOUT = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFiles:
    """Files of one repository that are useful only if all are complete, such as those of a model."""

    what: str
    """Their name in messages: "Whisper model tiny.en"."""
    repository: str
    alternative: str
    """What the user can do without the hub: the end of every error message, without the full stop."""
    revision: str = "main"
    """Branch, tag or commit."""
    mark: str | None = None
    """The reference in the cache that marks these files as verified; None for the one named `revision`.

    Needed for a repository with several such sets, which are verified separately.
    """
    cache_dir: Path | None = None
    """The hub's cache folder; None for the usual one."""
    pinned: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 that large files must have, by path; of all others the hub's word is taken."""

    def cached(self, file: str) -> Path | None:
        """A file, by its path in the repository, if the cache has a verified copy; does not use the network."""
        from huggingface_hub import try_to_load_from_cache

        mark = self.mark or self.revision
        found = try_to_load_from_cache(self.repository, file, cache_dir=self.cache_dir, revision=mark)
        return Path(found) if isinstance(found, str) else None

    def download(self, choose: Callable[[Collection[str]], Sequence[str]]) -> Path:
        """Download the files of one commit, verify each, then mark the copy in the cache as verified.

        Prints on stderr what it fetches and from where, and shows a bar for each file on a terminal. Files that an
        earlier attempt left in the cache are verified again, not downloaded again.

        Args:
            choose: Returns those of the repository's paths to download, in order; what it raises is passed on.

        Returns:
            The folder with the repository's files, named after the commit.

        Raises:
            ComponentError: They cannot be downloaded, or do not match the hub's checksums.
        """
        from huggingface_hub import HfApi, constants

        endpoint = constants.ENDPOINT
        try:
            # The libraries under huggingface_hub (requests, httpx) raise errors of their own, which differ between
            # versions and share no base but Exception.
            info = HfApi().model_info(
                self.repository, revision=self.revision, files_metadata=True, timeout=_METADATA_TIMEOUT
            )
            files = self._announced(info, choose)
            size = sum(file.size or 0 for file in files) / 1e6
            print(f"Downloading {self.what} ({self.repository}, {size:.1f} MB) from {endpoint}", file=sys.stderr)
            paths = [self._fetch(file, info.sha) for file in files]
        except VoiceError:
            raise
        except Exception as error:
            raise self._unavailable(f"cannot be downloaded from {endpoint}: {self._cause(error)}") from error
        snapshot = paths[-1].parents[files[-1].rfilename.count("/")]
        _publish(snapshot, self.mark or self.revision)
        print(f"{self.what} is complete, checksums verified: {snapshot}", file=sys.stderr)
        return snapshot

    def _announced(self, info: "ModelInfo", choose: Callable[[Collection[str]], Sequence[str]]) -> list["RepoSibling"]:
        there = {file.rfilename: file for file in info.siblings or ()}
        files = [there[name] for name in choose(there)]
        if unsigned := [file.rfilename for file in files if file.lfs is None and file.blob_id is None]:
            raise self._unavailable(f"cannot be verified: the hub gives no checksum of {', '.join(unsigned)}")
        for file in files:
            expected, announced = self.pinned.get(file.rfilename), file.lfs.sha256 if file.lfs else file.blob_id
            if expected is not None and announced != expected:
                raise self._unavailable(
                    f"is not what it was: the hub's {file.rfilename} has the checksum {announced}, and not the pinned "
                    f"{expected}"
                )
        return files

    def _fetch(self, file: "RepoSibling", commit: str | None) -> Path:
        """Download one file into the cache and compare its digest; a file that does not match is deleted."""
        from huggingface_hub import hf_hub_download

        path = Path(hf_hub_download(self.repository, file.rfilename, revision=commit, cache_dir=self.cache_dir))
        is_right = False
        try:
            is_right = _digest_is_right(path, file)
        finally:
            if not is_right:
                path.resolve().unlink(missing_ok=True)
                path.unlink(missing_ok=True)
        if not is_right:
            raise self._unavailable(
                f"arrived damaged: {file.rfilename} does not have the hub's checksum and was deleted"
            )
        return path

    def _cause(self, error: Exception) -> str:
        from huggingface_hub import errors

        if isinstance(error, errors.OfflineModeIsEnabled):
            return "HF_HUB_OFFLINE is set"
        if isinstance(error, errors.GatedRepoError):
            return "its owner must grant access first (set HF_TOKEN)"
        if isinstance(error, errors.RepositoryNotFoundError):
            return "there is no such repository, or it is private"
        if isinstance(error, errors.RevisionNotFoundError):
            return f"the repository has no revision {self.revision}"
        return (str(error).splitlines() or [type(error).__name__])[0]

    def _unavailable(self, why: str) -> ComponentError:
        return ComponentError(f"{self.what} {why}; {self.alternative}.")


def _digest_is_right(path: Path, file: "RepoSibling") -> bool:
    """Compare a file with the hub's digest: SHA-256 for large files, git's SHA-1 of a blob for small ones."""
    if file.lfs is None:
        content = path.read_bytes()
        return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest() == file.blob_id
    with path.open("rb") as content_file:
        return hashlib.file_digest(content_file, "sha256").hexdigest() == file.lfs.sha256


def _publish(snapshot: Path, mark: str) -> None:
    """Point the cache's reference `mark` at a verified snapshot.

    Without this reference, files that were downloaded by commit are not found by `mark`, so an interrupted or
    unverified download never counts as complete.
    """
    if mark == snapshot.name:
        return
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
