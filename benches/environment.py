"""Environment variables for measurements of whole commands."""

from __future__ import annotations

import os
from pathlib import Path


def with_byte_code(cache: Path, package: Path | None = None) -> dict[str, str]:
    """Return the environment with byte code cached in a folder, and with a package in the path.

    Users have cached byte code. Without it, each command compiles all modules again, which takes a
    third to a half of its time.
    """
    found = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache)}
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    if package is not None:
        found["PYTHONPATH"] = str(package)
    return found
