"""Ledgers and plans are TOML; what is wrong with a file is told with its name."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from umtslab.reproduce.errors import BadData


def read(path: Path) -> dict[str, Any]:
    """The content of a file.

    Raises
    ------
    BadData
        If it is not TOML in UTF-8.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadData(f"{path}: {error}") from error
