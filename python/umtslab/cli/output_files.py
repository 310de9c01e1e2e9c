"""Checks of output files before the work for them starts."""

from __future__ import annotations

from pathlib import Path

from umtslab.cli.failures import UsageError


def check_figure_file(path: Path, *, other: str = "") -> None:
    """Refuse a file with a suffix of no figure format, or in a missing folder.

    `other` is another suffix that the user may give, for the message.
    """
    from umtslab.plot import FORMATS

    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: the suffix must be one of {', '.join([*FORMATS, *filter(None, [other])])}")
    check_folder(path)


def check_folder(path: Path) -> None:
    """Refuse a file in a missing folder."""
    if not path.parent.is_dir():
        raise UsageError(f"{path}: the folder {path.parent} does not exist")
