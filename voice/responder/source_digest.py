"""Identifies the responder's source, so that what is derived from it can be cached until the source changes."""

import hashlib
from pathlib import Path


def source_digest() -> str:
    """A SHA-256 digest of the responder's source, including its words and templates."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
