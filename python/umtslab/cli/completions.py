"""``umts completions``: completion scripts for shells."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import TYPE_CHECKING

from umtslab.cli.help import Layout
from umtslab.cli.verbs import ABOUT, VERBS

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser

_SHELLS = ("bash", "zsh", "tcsh", "fish")
_FILES = ("CAMPAIGN", "CAPTURE", "FILE", "FOLDER", "RESULT", "SCENARIO", "STUDY")
"""Metavars of arguments that are, or may be, files."""


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts completions``."""
    parser.explain(
        "Write the script where the shell reads completions. bash: "
        "~/.local/share/bash-completion/completions/umts; zsh: a file _umts in a folder of its "
        "fpath; fish: ~/.config/fish/completions/umts.fish."
    )
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=f"One of {', '.join(_SHELLS)}.")


def completions(shell: str) -> int:
    """Print the completions of all verbs and their options."""
    import shtab

    print(shtab.complete(_combined_parser(), shell))
    return 0


def _combined_parser() -> ArgumentParser:
    """Combine all verbs in one parser, as shtab requires."""
    import shtab

    from umtslab.cli.parser import parser_of

    combined = ArgumentParser("umts", description=ABOUT, formatter_class=Layout)
    combined.add_argument("--version", action="store_true", help="Print version and commit.")
    verbs = combined.add_subparsers()
    for name, verb in VERBS.items():
        parser = parser_of(name)
        for action in parser._actions:
            if action.metavar in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
        verbs.add_parser(name, parents=[parser], formatter_class=Layout, help=verb.sentence)
    return combined
