"""Reasons of known mismatches (`reasons.toml`), with commands that print the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from umtslab.reproduce import toml
from umtslab.reproduce.errors import BadData

_REASON = {"claims", "text", "shown"}
_SHOWN = {"command", "quick", "numbers"}
_NUMBER = {"row", "column", "is", "within"}


@dataclass(frozen=True)
class Number:
    """A number in the text of a reason, and its place in the output of a command.

    `row` are words of the printed row. `column` is the heading of the column; if empty, the row has
    one value. `stated` is the number. `within` is the maximum relative deviation from it of the
    number that the command prints with its `quick` options.
    """

    row: tuple[str, ...]
    column: str
    stated: float
    within: float


@dataclass(frozen=True)
class Shown:
    """A command, the options that shorten it (`quick`), and the numbers that it prints."""

    command: str
    quick: str
    numbers: tuple[Number, ...]


@dataclass(frozen=True)
class Reason:
    """The explanation of a mismatch, with commands that print its numbers."""

    text: str
    shown: tuple[Shown, ...] = ()

    def __str__(self) -> str:
        commands = dict.fromkeys(shown.command for shown in self.shown)
        return f"{self.text} Shown by: {'; '.join(commands)}" if commands else self.text


def load_reasons(path: Path) -> dict[str, list[Reason]]:
    """Read the reasons of one document, by claim. Empty if there is no such file.

    Raises
    ------
    BadData
        If a row lacks a field or has an unknown one.
    """
    if not path.is_file():
        return {}
    reasons: dict[str, list[Reason]] = {}
    for row in toml.read(path).get("reason", []):
        _check(row, {"claims", "text"}, _REASON, "a reason", path)
        reason = Reason(row["text"], tuple(_shown(shown, path) for shown in row.get("shown", [])))
        for claim in row["claims"]:
            reasons.setdefault(claim, []).append(reason)
    return reasons


def _shown(row: Mapping[str, Any], path: Path) -> Shown:
    _check(row, {"command", "numbers"}, _SHOWN, "a command of a reason", path)
    numbers = tuple(_number(number, path) for number in row["numbers"])
    return Shown(str(row["command"]), str(row.get("quick", "")), numbers)


def _number(row: Mapping[str, Any], path: Path) -> Number:
    _check(row, {"row", "is"}, _NUMBER, "a number of a reason", path)
    texts = row["row"] if isinstance(row["row"], list) else [row["row"]]
    return Number(tuple(texts), str(row.get("column", "")), float(row["is"]), float(row.get("within", 0.05)))


def _check(row: Mapping[str, Any], needed: set[str], known: set[str], subject: str, path: Path) -> None:
    if lacking := needed - row.keys():
        raise BadData(f"{path}: {subject} lacks the field {min(lacking)}")
    if unknown := row.keys() - known:
        raise BadData(f"{path}: {subject} has the unknown field {min(unknown)}")
