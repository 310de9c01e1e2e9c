"""Environment variables for measurements of whole commands."""

from __future__ import annotations

import os
from pathlib import Path


def with_byte_code(cache: Path, package: Path | None = None) -> dict[str, str]:
    """Return the environment with byte code cached in `cache`, and with `package` in Python's path.

    Users have cached byte code. Without it, each command compiles all modules again, which takes a
    third to a half of its time.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if package is not None:
        environment["PYTHONPATH"] = str(package)
    return environment
