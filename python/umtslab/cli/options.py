"""Words of the command line, read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from umtslab.cli.failures import UsageError

RESULTS = Path("results")
"""Where results go and are looked up if nobody says otherwise."""

Out = Annotated[Path, Parameter(env_var="UMTS_OUT")]
"""The option ``--out``, which the environment can give too, for all commands of a shell."""


def overrides(words: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """``key=value`` as pairs."""
    return tuple(_pair(word) for word in words)


def _pair(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--set takes key=value, as in --set tcp.variant=reno, not {word!r}")
    return key.strip(), value.strip()


def relative_precision(word: str) -> float:
    """``5%`` and ``0.05`` as 0.05."""
    text = word.strip()
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise UsageError(
            f"--precision takes a share of the mean, below all of it, as in 5% or 0.05, not {word!r}"
        )
    return value


def workers(jobs: int | None, tasks: int) -> int:
    """How many threads: as asked for, else as many as there are processors, and never more than tasks."""
    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs takes a number of worker threads, at least 1, not {jobs}")
    return max(1, min(jobs or len(os.sched_getaffinity(0)), tasks))
