"""The command ``umts``: one module per verb, imported when the verb is used."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from umtslab.exit_status import INTERRUPTED
from umtslab.terminal_escape import escape_output


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    0: done. 1: a run failed, a precision was missed, or results could not be written. 2: wrong
    usage or input. 130: interrupted.
    """
    with escape_output():
        return _main(list(sys.argv[1:] if arguments is None else arguments))


def _main(words: list[str]) -> int:
    from umtslab.cli.parser import dispatch

    try:
        status = dispatch(words)
        sys.stdout.flush()
    except Exception as error:
        from umtslab.cli.failures import status_of

        return status_of(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    return status
