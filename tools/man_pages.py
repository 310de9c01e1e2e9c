"""Write the manual pages umts.1 and umts-VERB.1 from the parsers: tools/man_pages.py FOLDER.

Descriptions and options are the ones of `--help`. argparse-manpage cannot be used, because it
expands per cent signs in help texts, which the parsers of umts do not.
"""

from __future__ import annotations

import sys
from argparse import Action
from collections.abc import Iterator
from pathlib import Path

from umtslab import _core
from umtslab.cli.parser import Parser, parser_of
from umtslab.cli.verbs import ABOUT, EXAMPLES, EXIT_STATUS, GROUPS, VERBS


def write(folder: Path) -> None:
    """Write all pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "umts.1").write_text("\n".join(overview()) + "\n", encoding="utf-8")
    for verb in VERBS:
        (folder / f"umts-{verb}.1").write_text("\n".join(page(verb)) + "\n", encoding="utf-8")


def overview() -> Iterator[str]:
    """Yield the lines of umts(1)."""
    yield from _head("umts", ABOUT)
    yield from (".SH SYNOPSIS", r"\fBumts\fR \fIVERB\fR \fR[\fIOPTION\fR \&...\fR]")
    for group, verbs in GROUPS.items():
        yield f".SH {_text(group.upper())}"
        for name, verb in verbs.items():
            yield from (".TP", rf"\fBumts\-{_text(name)}\fR(1)", _text(verb.sentence))
    yield ".SH EXAMPLES"
    for command, meaning in EXAMPLES:
        yield from (".TP", rf"\fB{_text(command)}\fR", _text(meaning))
    yield from (".SH EXIT STATUS", _text(EXIT_STATUS.removeprefix("Exit status: ")))


def page(verb: str) -> Iterator[str]:
    """Yield the lines of the page of a verb."""
    parser = parser_of(verb)
    sentence, *paragraphs = (parser.description or "").split("\n\n")
    yield from _head(f"umts-{verb}", sentence)
    synopsis = parser.format_usage().removeprefix("usage: ").strip()
    yield from (".SH SYNOPSIS", _text(synopsis))
    if paragraphs:
        yield ".SH DESCRIPTION"
        for paragraph in paragraphs:
            yield from (".PP", *_literal_or_filled(paragraph))
    yield from _options(parser)
    if VERBS[verb].examples:
        yield from (".SH EXAMPLES", ".nf", *map(_text, VERBS[verb].examples), ".fi")
    yield from (".SH SEE ALSO", r"\fBumts\fR(1)")


def _options(parser: Parser) -> Iterator[str]:
    """Yield the sections with the options of a command."""
    for group in parser._action_groups:
        if group._group_actions:
            yield f".SH {_text((group.title or 'options').upper())}"
        for action in group._group_actions:
            yield from (".TP", _named(action), _text(action.help or ""))


def _named(action: Action) -> str:
    """Return an argument or an option with its names and its value, in roff."""
    value = rf" \fI{_text(str(action.metavar or action.dest))}\fR"
    if not action.option_strings:
        return value.strip()
    names = ", ".join(rf"\fB{_text(name)}\fR" for name in action.option_strings)
    return names if action.nargs == 0 else names + value


def _head(name: str, sentence: str) -> Iterator[str]:
    """Yield the title line and the section NAME."""
    version = _core.version()["version"]
    yield rf'.TH {_text(name).upper()} 1 "" "umtslab {version}" "umtslab"'
    yield from (".SH NAME", rf"{_text(name)} \- {_text(sentence).rstrip('.')}")


def _literal_or_filled(paragraph: str) -> Iterator[str]:
    """Yield a paragraph. Line breaks are kept in a paragraph of several lines."""
    if "\n" in paragraph:
        yield from (".nf", *map(_text, paragraph.splitlines()), ".fi")
    else:
        yield _text(paragraph)


def _text(text: str) -> str:
    """Escape a text for roff: backslashes, hyphens, and control characters at the start."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("…", r"\&...")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    write(Path(sys.argv[1]))
