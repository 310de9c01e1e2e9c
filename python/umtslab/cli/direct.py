"""Calls that need no parser: `umts analyse CAPTURE… [--json] [--all] [--quiet]`.

The parser's libraries take as long to import as tens of megabytes of a capture take to analyse. Captures
and flags by their whole names are taken as they are; all other words are left to the parser, with whatever
is wrong in them.
"""

from __future__ import annotations

from collections.abc import Sequence

_FLAGS = {"--json": "json", "--all": "show_all", "--quiet": "quiet", "-q": "quiet"}


def arguments(words: Sequence[str]) -> tuple[list[str], set[str]] | None:
    """Captures and flags of a call of ``umts analyse``; None if it is for the parser."""
    if not words or words[0] != "analyse":
        return None
    captures: list[str] = []
    flags: set[str] = set()
    for word in words[1:]:
        if not word.startswith("-") or word == "-":
            captures.append(word)
        elif word in _FLAGS and _FLAGS[word] not in flags:
            flags.add(_FLAGS[word])
        else:
            return None
    return (captures, flags) if captures and all(captures) else None


def run(words: Sequence[str]) -> int | None:
    """Do what `words` ask for, and give the exit status; None if that is for the parser."""
    found = arguments(words)
    if found is None:
        return None
    from pathlib import Path

    from umtslab.cli.capture_report import report

    captures, flags = found
    paths = tuple(map(Path, captures))
    return report(paths, json="json" in flags, show_all="show_all" in flags, quiet="quiet" in flags)
