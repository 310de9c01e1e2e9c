"""Checks of output files before the work for them starts."""

from __future__ import annotations

from pathlib import Path

from umtslab.cli.failures import UsageError


def check_figure_file(path: Path) -> None:
    """Refuse a file whose suffix is not a figure format, or whose folder does not exist."""
    from umtslab.plot import FORMATS

    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: the suffix says the format, one of {', '.join(FORMATS)}")
    check_folder(path)


def check_folder(path: Path) -> None:
    """Refuse a file whose folder does not exist."""
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}")
