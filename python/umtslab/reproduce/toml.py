"""Reader of TOML files. Its errors name the file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from umtslab.reproduce.errors import BadData


def read(path: Path) -> dict[str, Any]:
    """Read a file.

    Raises
    ------
    BadData
        If it is not TOML in UTF-8.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadData(f"{path}: {error}") from error
