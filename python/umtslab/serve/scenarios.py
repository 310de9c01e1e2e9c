"""Scenarios that visitors of the page may run: files of the served folder, with changed values.

Both the text and the overrides come from a browser. Before a scenario is loaded, every file that
it may name is checked, so that no other file of this machine can be read.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from umtslab.scenario import Scenario, refuse_code
from umtslab.serve.files import NoSuchFile, file_in, stems

_LONGEST_CHAIN = 16
"""Limit on scenarios that extend one another."""

_LONGEST_PATH = 4096
"""Limit of Linux on the length of a path, in bytes (PATH_MAX)."""

_FREE_TEXT = frozenset({"name", "title", "source"})
"""Keys with texts that are never file names."""

LARGEST_TEXT = 200_000
"""Limit on the text of a scenario, in characters."""


class OutsideFolder(ValueError):
    """A scenario names a file outside the served folder. The message does not repeat the name."""


class SyntaxMistake(ValueError):
    """The text of a scenario is not TOML. `line` and `column` are the place of the mistake, if known."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line, self.column = line, column


@dataclass(frozen=True)
class Request:
    """A scenario that a visitor wants to load."""

    name: str
    """Name of the file, without ``.toml``."""
    text: str | None
    """Text from the editor to use instead of the file's content, or None."""
    overrides: tuple[tuple[str, str], ...]
    """Key and value of each changed setting."""


def names(folder: Path) -> list[str]:
    """Return the names of the scenarios in a folder, without ``.toml``."""
    return stems(folder, ".toml")


def path_of(folder: Path, name: str) -> Path:
    """Return the file of a scenario.

    Raises
    ------
    NoSuchFile
        If the folder has no such scenario.
    """
    try:
        return file_in(folder, f"{name}.toml")
    except NoSuchFile:
        raise NoSuchFile("the scenarios' folder has no scenario of this name") from None


def text_of(path: Path) -> str:
    """Return the text of a scenario's file.

    Raises
    ------
    SyntaxMistake
        If the file is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8 text: write it in UTF-8 (byte {error.start + 1} is wrong)"
        raise SyntaxMistake(message) from None


def load(folder: Path, request: Request, *, allow_code: bool) -> Scenario:
    """Load a scenario after checking the files named there.

    Raises
    ------
    NoSuchFile, OutsideFolder, SyntaxMistake
        If the scenario does not exist, names a file outside the folder, or is not TOML.
    umtslab.scenario.CodeNotAllowed
        If the scenario names Python code and that is not allowed.
    umtslab.ScenarioError
        If the scenario is wrong.
    """
    path = path_of(folder, request.name)
    text = text_of(path) if request.text is None else request.text
    check_files(folder, text, request.overrides)
    if request.text is None:
        loaded = Scenario.load(path, request.overrides)
    else:
        loaded = Scenario.parse(text, name=path.name, base_dir=str(path.parent), overrides=request.overrides)
    if not allow_code:
        # Overrides come from the page too, so they get no more rights than the file.
        refuse_code(loaded, allow_in_overrides=False)
    return loaded


def check_files(folder: Path, text: str, overrides: Sequence[tuple[str, str]] = ()) -> None:
    """Check that every file that a scenario may name is in the folder, or a trace beside it.

    Every text of the scenario counts as a file name, under any key, so that new keys are covered.

    Raises
    ------
    OutsideFolder, SyntaxMistake
        If a file is outside, or a text is not TOML.
    """
    if len(text) > LARGEST_TEXT:
        raise OutsideFolder(f"a scenario has at most {LARGEST_TEXT:,} characters here")
    for key, value in overrides:
        if key.rpartition(".")[2] not in _FREE_TEXT:
            for text_in_value in _texts_of_override(value):
                _check_name(folder, key, text_in_value)
    _check_text(folder, text, 1)


def _check_text(folder: Path, text: str, depth: int) -> None:
    """Check a scenario's text, and the scenarios that it extends."""
    content = _parsed(text)
    for key, value in _texts(content, ""):
        _check_name(folder, key, value)
    base = content.get("extends")
    if isinstance(base, str) and depth < _LONGEST_CHAIN:
        path = folder / base
        # If the file cannot be read, for example because its name is too long, loading says so.
        with suppress(OSError):
            if path.is_file():
                _check_text(folder, path.read_text(encoding="utf-8", errors="replace"), depth + 1)


def _check_name(folder: Path, key: str, value: str) -> None:
    """Check a text as a file name. A class of Python is written FILE:CLASS."""
    for name in {value, value.partition(":")[0]}:
        if "\0" in name or not _is_inside(folder, name):
            raise OutsideFolder(
                f"{key} names a file outside the scenarios' folder: name a file in the folder instead"
            )


def _is_inside(folder: Path, name: str) -> bool:
    # No file has an empty or such a long name, so the text is harmless.
    if not name.strip() or len(name) > _LONGEST_PATH:
        return True
    allowed = [folder.resolve(), (folder.parent / "traces").resolve()]
    try:
        path = (folder / name).resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    # A text that is no path, such as "32 kbit/s", has no ".." and no root, and counts as inside.
    return any(path.is_relative_to(allowed_folder) for allowed_folder in allowed)


def _texts(content: object, key: str) -> Iterator[tuple[str, str]]:
    """Yield every text of a parsed file, with the dotted key."""
    if isinstance(content, dict):
        for name, value in content.items():
            if name not in _FREE_TEXT or not isinstance(value, str):
                yield from _texts(value, f"{key}.{name}" if key else name)
    elif isinstance(content, list):
        for value in content:
            yield from _texts(value, key)
    elif isinstance(content, str):
        yield key, content


def _texts_of_override(value: str) -> list[str]:
    """Return every text of an override's value, which is TOML or a bare word."""
    candidates = [value.strip(), *re.findall(r'"([^"]*)"', value), *re.findall(r"'([^']*)'", value)]
    with suppress(tomllib.TOMLDecodeError, RecursionError):
        candidates += [text for _, text in _texts(tomllib.loads(f"v = {value}"), "")]
    return candidates


def _parsed(text: str) -> dict[str, object]:
    """Parse TOML. The line and column of a mistake are read from the message of the parser."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise SyntaxMistake("the tables are nested too deeply", None, None) from None
    except tomllib.TOMLDecodeError as error:
        message, _, place = str(error).partition(" (at ")
        match = re.search(r"line (\d+), column (\d+)", place)
        line, column = (int(match[1]), int(match[2])) if match else (None, None)
        raise SyntaxMistake(message[:1].lower() + message[1:], line, column) from None
