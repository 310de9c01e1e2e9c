"""Help texts: paragraphs, groups of options and examples."""

from __future__ import annotations

import re
import sys
from argparse import Action, HelpFormatter

from umtslab.cli.verbs import ABOUT, EXAMPLES, EXIT_STATUS, GROUPS
from umtslab.terminal_escape import without_escaping
from umtslab.text_table import is_terminal, terminal_width

_MAX_WIDTH = 110
_NAMES_END = 15
"""Column in which the descriptions of the verbs begin."""


class Layout(HelpFormatter):
    """Formats the help of a verb.

    Each paragraph is wrapped by itself. Paragraphs with line breaks stay as they are.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=24, width=width())

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        import textwrap

        return "\n\n".join(
            part if "\n" in part else textwrap.fill(part, width, break_on_hyphens=False)
            for part in text.split("\n\n")
        )

    def _split_lines(self, text: str, width: int) -> list[str]:
        import textwrap

        return textwrap.wrap(text, width, break_on_hyphens=False)

    def _expand_help(self, action: Action) -> str:
        """Return the help without ``%`` formatting, so that per cent signs need no escape."""
        return action.help or ""

    def _format_action_invocation(self, action: Action) -> str:
        if not action.option_strings:
            return str(action.metavar or action.dest)
        names = ", ".join(action.option_strings)
        return names if action.nargs == 0 else f"{names} {action.metavar}"


def overview() -> str:
    """Return the text of ``umts --help``."""
    import textwrap

    def wrapped(text: str, first_indent: str = "", indent: str = "") -> str:
        return textwrap.fill(
            text, width(), initial_indent=first_indent, subsequent_indent=indent, break_on_hyphens=False
        )

    parts = ["usage: umts VERB …", wrapped(ABOUT)]
    for title, verbs in GROUPS.items():
        lines = [
            wrapped(verb.sentence, f"  {name}".ljust(_NAMES_END), " " * _NAMES_END)
            for name, verb in verbs.items()
        ]
        parts.append("\n".join([f"{title}:", *lines]))
    parts.append("\n".join(["examples:", *(f"  {command}\n      {result}" for command, result in EXAMPLES)]))
    parts.append("`umts VERB --help` describes a verb; `umts --version` prints version and commit.")
    parts.append(wrapped(EXIT_STATUS))
    return "\n\n".join(parts) + "\n"


def print_help(text: str) -> None:
    """Print a help text. On a terminal, titles and text in backquotes are bold."""
    if is_terminal(sys.stdout):
        text = re.sub(r"(?m)^([a-z][^\n]*:)$|`([^`\n]+)`", "\x1b[1m\\1\\2\x1b[0m", text)
    without_escaping(sys.stdout).write(text)


def width() -> int:
    """Return the width of help texts in characters."""
    return min(terminal_width(sys.stdout), _MAX_WIDTH)
