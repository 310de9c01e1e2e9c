"""Options that several verbs share, and readers of their values."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.parser import whole_number

if TYPE_CHECKING:
    from umtslab.cli.parser import Options

RESULTS = Path("results")
"""Default results folder."""

METRIC = "goodput_kbps"
"""Default metric to show, compare and reach a precision for."""

RESULT = (
    "RESULT is a run folder; a results folder, for its latest result; or the key of a run or result, "
    "or the name of a scenario, in the results folder of `--out`."
)
"""Explanation of RESULT in help texts."""


def add_set(options: Options, which: str = "`umts params` lists the keys") -> None:
    """Add ``--set`` for all keys of a scenario."""
    text = f"Set a scenario key to another value; may be repeated. {which[0].upper()}{which[1:]}."
    options.add_argument("--set", dest="changes", metavar="KEY=VALUE", action="append", default=[], help=text)


def add_seed(options: Options, otherwise: str = "the seed of the scenario") -> None:
    """Add ``--seed``."""
    text = f"Seed of the random streams (default: {otherwise})."
    options.add_argument("--seed", type=whole_number, metavar="N", help=text)


def add_jobs(options: Options, text: str = "Worker threads") -> None:
    """Add ``--jobs``."""
    text = f"{text} (default: the number of processors)."
    options.add_argument("--jobs", "-j", type=whole_number, metavar="N", help=text)


def add_dask(options: Options) -> None:
    """Add ``--dask``, for verbs with many runs."""
    options.add_argument(
        "--dask",
        metavar="ADDRESS",
        help=(
            "Run on the workers of the Dask scheduler at this address, for example tcp://host:8786, "
            "instead of threads; `local` starts workers on this machine."
        ),
    )


def add_out(options: Options, text: str = "Results folder") -> None:
    """Add ``--out``. The environment variable UMTS_OUT sets the default."""
    options.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        default=Path(os.environ.get("UMTS_OUT") or RESULTS),
        help=f"{text} (default: the environment variable UMTS_OUT, otherwise {RESULTS}).",
    )


def add_output(options: Options, text: str) -> None:
    """Add ``--output``, a file."""
    options.add_argument("--output", "-o", type=Path, metavar="FILE", help=text)


def add_json(options: Options, text: str = "one JSON object") -> None:
    """Add ``--json``."""
    add_flag(options, "--json", f"Print {text} as the only text on standard output.")


def add_quiet(options: Options, text: str = "Print no progress bar and no remarks.") -> None:
    """Add ``--quiet``."""
    add_flag(options, "--quiet", text, "-q")


def add_all(options: Options, text: str = "Show all metrics that have a value.") -> None:
    """Add ``--all``."""
    options.add_argument("--all", dest="show_all", action="store_true", help=text)


def add_budget(options: Options, more: str = " (the same as --set measure.budget=true)") -> None:
    """Add ``--budget``."""
    add_flag(options, "--budget", f"Assign the time of every TCP connection to causes{more}.")


def add_timeline(options: Options) -> None:
    """Add ``--timeline``."""
    add_flag(
        options,
        "--timeline",
        "Record all connections and UEs at full resolution for `umts why`: segments, SDUs, PDUs, "
        "transport block sets, STATUS reports, RRC states, timers and losses; implies --budget and "
        "--series.",
    )


def add_allow_code(options: Options) -> None:
    """Add ``--allow-code``, for verbs that run scenarios."""
    add_flag(
        options,
        "--allow-code",
        "Allow the Python classes that the file names. They run as programs with all your rights. "
        "Classes given with --set need no permission.",
    )


def add_flag(options: Options, name: str, text: str, *others: str) -> None:
    """Add an option without a value."""
    options.add_argument(name, *others, action="store_true", help=text)


def add_value(options: Options, name: str, metavar: str, text: str) -> None:
    """Add an option with a text value."""
    options.add_argument(name, metavar=metavar, help=text)


def add_values(options: Options, name: str, metavar: str, text: str) -> None:
    """Add an option that may be repeated."""
    options.add_argument(name, metavar=metavar, action="append", default=[], help=text)


def overrides(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Split values of ``--set``, KEY=VALUE, into pairs."""
    return tuple(_pair(text) for text in texts)


def _pair(text: str) -> tuple[str, str]:
    """Split ``KEY=VALUE``."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--set takes KEY=VALUE, for example --set tcp.variant=reno, not {text!r}")
    return key.strip(), value.strip()


def checked_seed(seed: int | None) -> int | None:
    """Check the range of a seed."""
    if seed is not None and not 0 <= seed < 2**64:
        raise UsageError(f"--seed takes a number from 0 to 2^64 - 1, not {seed}")
    return seed


def relative_precision(text: str) -> float:
    """Read a relative precision: ``5%`` and ``0.05`` are 0.05."""
    stripped = text.strip()
    try:
        value = float(stripped[:-1]) / 100 if stripped.endswith("%") else float(stripped)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise UsageError(
            f"--precision takes a share of the mean between 0 and 1, for example 5% or 0.05, not {text!r}"
        )
    return value


def workers(jobs: int | None, tasks: int) -> int:
    """Return the number of threads: `jobs` or the number of processors, at most `tasks`."""
    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs must be at least 1 (got {jobs})")
    return max(1, min(jobs or len(os.sched_getaffinity(0)), tasks))
