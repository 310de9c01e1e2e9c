"""Finds the scenarios, campaigns and reproductions that are shipped with the package."""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

INSTALLED = _PACKAGE / "share"
"""The shipped folders of an installed wheel. In a source tree these are links."""


def shipped_folder() -> Path | None:
    """Return the folder that contains ``reproductions`` and ``scenarios``; None if there is none.

    Searches the working directory and its parents, then the parents of this package (the source
    tree), then the ``share`` of an installed wheel.
    """
    here = Path.cwd()
    for folder in (here, *here.parents, *_PACKAGE.parents, INSTALLED):
        if (folder / "reproductions").is_dir() and (folder / "scenarios").is_dir():
            return folder
    return None


def scenario_path(path: str | os.PathLike[str]) -> str:
    """Return the path of a scenario file.

    A name such as ``ftp-on-fach``, without folder and ending, means the shipped scenario of that
    name, unless there is a file with this name.
    """
    text = os.fspath(path)
    is_name = text == Path(text).stem and not os.path.lexists(text)
    folder = shipped_folder() if is_name else None
    if folder is not None and (folder / "scenarios" / f"{text}.toml").is_file():
        return str(folder / "scenarios" / f"{text}.toml")
    return text
