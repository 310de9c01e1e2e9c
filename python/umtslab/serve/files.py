"""Files that visitors name: only those in a folder, without links out of the folder."""

from __future__ import annotations

from pathlib import Path


class NoSuchFile(LookupError):
    """A name does not stand for a file of the folder. The message does not repeat the name."""


def stems(folder: Path, suffix: str) -> list[str]:
    """Return the sorted names of the files with a suffix, without the suffix.

    Names that are not UTF-8 are left out, because an answer in JSON cannot have them.
    """
    found = (path.stem for path in folder.glob(f"*{suffix}") if path.is_file())
    return sorted(stem for stem in found if _is_unicode(stem))


def _is_unicode(name: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in name)


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
