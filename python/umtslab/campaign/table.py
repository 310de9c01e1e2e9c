"""Tables of a TOML file, read key by key. A key that no call has read is an unknown key: an error."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from umtslab.atomic_files import bounded_text
from umtslab.campaign.errors import CampaignError

VERSION = 1
"""Supported version of campaign and study files."""

Value = str | int | float | bool
"""A value of a scenario key."""


def read_toml(path: Path) -> Table:
    """Read a file as a table.

    Raises
    ------
    CampaignError
        If it cannot be read, or is not TOML.
    """
    try:
        text = bounded_text(path)
        content = tomllib.loads(text)
    except OSError as error:
        raise CampaignError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, or lists in lists in lists
        raise CampaignError(f"{path}: not valid TOML: {error}") from error
    return Table(content, "", path, text)


def location_in(path: Path, key: str, tables: Collection[str]) -> str:
    """Return file and line of a key in one of `tables`. The file alone if the line is unknown."""
    table = read_toml(path)
    lines = (table.line_of(key, name) for name in tables)
    line_number = next((line for line in lines if line is not None), None)
    return f"{path}:{line_number}" if line_number else str(path)


class Table:
    """One table of a file. Errors name the file, the line if known, and the key."""

    def __init__(self, content: Mapping[str, Any], name: str, path: Path, text: str) -> None:
        self.name = name
        self.path = path
        self._content = dict(content)
        self._known: set[str] = set()
        self._text = text

    def wrong(self, key: str, why: str) -> CampaignError:
        """Return an error about a key of this table."""
        outer, _, inner = self.name.partition(".")
        # A key in an inline table is on the line of that table's key.
        line = self.line_of(key, self.name) or self.line_of(inner, outer)
        location = f"{self.path}:{line}" if line else str(self.path)
        where = f"[{self.name}] {key}" if self.name and key else key or f"[{self.name}]"
        return CampaignError(f"{location}: {where}: {why}")

    def version(self) -> None:
        """Read the file's version, which must be supported."""
        written = self._take("version", None)
        if written is None:
            raise self.wrong("version", f"missing: begin the file with version = {VERSION}")
        if written != VERSION or isinstance(written, bool):
            raise self.wrong(
                "version", f"version {written!r} is not supported: this program reads version {VERSION}"
            )

    def text(self, key: str, default: str | None = None) -> str:
        """Read a text. Without a default the key is required."""
        return str(self._of_type(key, default, str, "a text"))

    def boolean(self, key: str, default: bool) -> bool:
        """Read a boolean."""
        return bool(self._of_type(key, default, bool, "true or false"))

    def whole(self, key: str, default: int | None, minimum: int = 0) -> int:
        """Read an integer of at least `minimum`."""
        value = self._of_type(key, default, int, "a whole number")
        if isinstance(value, bool) or value < minimum:
            raise self.wrong(key, f"{value!r} is not a whole number of at least {minimum}")
        return int(value)

    def table(self, key: str) -> Table:
        """Read a table, empty if it is missing."""
        content = self._take(key, {})
        if not isinstance(content, dict):
            raise self.wrong(key, f"must be a table: write [{key}]")
        return Table(content, f"{self.name}.{key}" if self.name else key, self.path, self._text)

    def rows(self, key: str) -> list[Table]:
        """Read an array of tables, empty if it is missing."""
        rows = self._take(key, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self.wrong(key, f"must be a list of tables: write [[{key}]] before each")
        return [Table(row, key, self.path, self._text) for row in rows]

    def values(self) -> dict[str, Value]:
        """Read all keys as scenario keys with one value each. Nested tables are dotted keys."""
        return {key: self._value(key, value) for key, value in self._flat().items()}

    def lists(self, *, may_repeat: bool = False) -> dict[str, list[Value]]:
        """Read all keys as scenario keys with a list of values each.

        A list with the same value twice is refused unless it `may_repeat` values.
        """
        lists: dict[str, list[Value]] = {}
        for key, values in self._flat().items():
            if not isinstance(values, list):
                raise self.wrong(key, f"must be a list of values, for example {key} = [{values!r}]")
            if not values:
                raise self.wrong(key, "the list is empty: give at least one value")
            lists[key] = [self._value(key, value) for value in values]
            texts = [] if may_repeat else [str(value) for value in lists[key]]
            if repeated := {text for text in texts if texts.count(text) > 1}:
                raise self.wrong(key, f"{min(repeated)} is listed twice")
        return lists

    def value(self, key: str) -> Value:
        """Read a required text, number or boolean."""
        if key not in self._content:
            raise self.wrong(key, "missing")
        return self._value(key, self._take(key, None))

    def listed(self, key: str) -> list[Value]:
        """Read a list of values, which must not be empty."""
        values = self._of_type(key, None, list, "a list of values")
        if not values:
            raise self.wrong(key, "the list is empty: give at least one value")
        return [self._value(key, value) for value in values]

    def tables(self, marks: Collection[str]) -> dict[str, Table]:
        """Read all keys as scenario keys with a table each, such as ``{ from = 1, to = 10 }``.

        A table that has one of the keys `marks` is the table of a scenario key. Any other table is
        a part of a dotted key.
        """
        tables: dict[str, Table] = {}

        def walk(prefix: str, content: Mapping[str, Any]) -> None:
            for key, value in content.items():
                name = prefix + key
                if not isinstance(value, dict):
                    raise self.wrong(name, f"must be a table with {' or '.join(sorted(marks))}")
                if any(mark in value for mark in marks):
                    tables[name] = Table(value, f"{self.name}.{name}", self.path, self._text)
                else:
                    walk(f"{name}.", value)

        walk("", self._content)
        self._content = {}
        return tables

    def done(self) -> None:
        """Refuse keys that were not read."""
        for key in self._content:
            from difflib import get_close_matches

            similar = get_close_matches(key, self._known, 1)
            hint = f"did you mean {similar[0]}?" if similar else f"there are {', '.join(sorted(self._known))}"
            raise self.wrong(key, f"unknown key; {hint}")

    def line_of(self, key: str, name: str) -> int | None:
        """Return the line of a key in the table `name`: the first line that begins with the key."""
        table_of_key = f"{name}.{key}" if name else key
        is_inside = not name
        for number, line in enumerate(self._text.splitlines(), 1):
            if header := re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line):
                if header[1] == table_of_key:
                    return number
                is_inside = header[1] == name
            match = re.match(r"""\s*["']?([\w.\-"']+?)["']?\s*=""", line)
            if is_inside and match and _is_key(match[1], key):
                return number
        return None

    def __contains__(self, key: str) -> bool:
        return key in self._content

    def _take(self, key: str, default: Any) -> Any:
        """Remove and return the value of a key."""
        self._known.add(key)
        return self._content.pop(key, default)

    def _of_type(self, key: str, default: Any, kind: type, description: str) -> Any:
        """Remove and return a value of this type, or the default."""
        if default is None and key not in self._content:
            raise self.wrong(key, f"missing: give {description}")
        value = self._take(key, default)
        if not isinstance(value, kind):
            raise self.wrong(key, f"{value!r} is not {description}")
        return value

    def _flat(self) -> dict[str, Any]:
        """Return dotted keys with their values. ``a.b = 1`` equals ``[a]`` with ``b = 1``."""
        flat: dict[str, Any] = {}

        def walk(prefix: str, content: Mapping[str, Any]) -> None:
            for key, value in content.items():
                if isinstance(value, dict):
                    walk(f"{prefix}{key}.", value)
                else:
                    flat[prefix + key] = value

        walk("", self._content)
        self._content = {}
        return flat

    def _value(self, key: str, value: object) -> Value:
        """Return a value of a scenario key: text, number or truth value, or a list of them as text."""
        if isinstance(value, str | int | float | bool):
            return value
        if isinstance(value, list) and all(isinstance(item, str | int | float | bool) for item in value):
            # Lists in JSON are lists in TOML, too.
            return json.dumps(value)
        raise self.wrong(key, f"{value!r} is not a text, a number, true, false or a list of them")


def _is_key(text: str, key: str) -> bool:
    """Whether the left side of a line ``text = …`` is `key` or the beginning of this dotted key."""
    return text.replace('"', "").replace("'", "") == key or key.startswith(text + ".")


def no_overlap(first: Collection[str], second: Collection[str]) -> str | None:
    """Return a key that is in both, or None."""
    return next((key for key in first if key in second), None)
