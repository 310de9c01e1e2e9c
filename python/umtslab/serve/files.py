"""Files that visitors name: only those in a folder, without links out of the folder."""

from __future__ import annotations

from pathlib import Path


class NoSuchFile(LookupError):
    """A name does not stand for a file of the folder. The message does not repeat the name."""


def stems(folder: Path, suffix: str) -> list[str]:
    """Return the sorted names of the files with a suffix, without the suffix.

    Links out of the folder are left out, and names that are not UTF-8, which JSON cannot have.
    """
    return sorted(path.stem for path in folder.glob(f"*{suffix}") if _can_be_named(folder, path.name))


def _can_be_named(folder: Path, name: str) -> bool:
    if any("\ud800" <= character <= "\udfff" for character in name):
        return False
    try:
        file_in(folder, name)
    except NoSuchFile:
        return False
    return True


def file_in(folder: Path, name: str) -> Path:
    """Return the file `name` of a folder.

    Raises
    ------
    NoSuchFile
        If there is no such regular file, or a symbolic link leads out of the folder.
    """
    if name in ("", ".", "..") or any(ord(character) < 32 or character in "/\\" for character in name):
        raise NoSuchFile("this is not the name of a file here")
    try:
        root, path = folder.resolve(strict=True), (folder / name).resolve(strict=True)
    except (OSError, ValueError):
        raise NoSuchFile("there is no such file here") from None
    if not path.is_relative_to(root) or not path.is_file():
        raise NoSuchFile("there is no such file here")
    return path
