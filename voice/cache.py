"""The cache folder, for files that can be regenerated."""

import os
import sys
from pathlib import Path


def user_cache() -> Path:
    """The folder for files that can be regenerated: in $XDG_CACHE_HOME, ~/.cache or ~/Library/Caches."""
    if configured := os.environ.get("XDG_CACHE_HOME"):
        return Path(configured) / "turnaround"
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "turnaround"
