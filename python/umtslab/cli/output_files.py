"""Files that a command is to write, looked at before anything is done for them."""

from __future__ import annotations

from pathlib import Path

from umtslab.cli.failures import UsageError


def check_figure_file(path: Path) -> None:
    """Refuse a file that no figure can be written into."""
    from umtslab.plot import FORMATS

    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: the suffix says the format, one of {', '.join(FORMATS)}")
    check_folder(path)


def check_folder(path: Path) -> None:
    """Refuse a file whose folder is not there."""
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}")
