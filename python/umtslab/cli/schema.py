"""``umts schema``: the JSON Schema of scenario files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts schema``: none."""
    parser.explain("Editors use it to complete and check scenario files while you type.")


def schema() -> int:
    """Print the JSON Schema of scenario files."""
    from umtslab import _core

    print(_core.schema())
    return 0
