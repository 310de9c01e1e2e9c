"""``umts why``: the causes of stalls, timeouts and retransmissions."""

from __future__ import annotations

import json as json_text
from collections.abc import Sequence
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.options import RESULT, add_all, add_json, add_out, add_value
from umtslab.cli.parser import whole_number

if TYPE_CHECKING:
    from pathlib import Path

    from umtslab.cli.parser import Parser
    from umtslab.run import Run
    from umtslab.why import Chain, Explanation, Stall

_MAX_STALLS = 20
"""Maximum number of rows of the table of stalls without ``--all``."""

_NAMES = {"rto": "Retransmission timeout", "retransmission": "Retransmission", "stall": "Stall"}


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts why``."""
    parser.explain(
        "Lists the stalls of a run, the longest first, and the chain of causes behind a stall, a "
        "timeout or a retransmission: the effect first, its first cause last. The run must be "
        "recorded with --timeline.",
        "By default the chain of the longest stall is printed. --connection prints all chains of a "
        "connection, --at those at an instant, --all every chain.",
        RESULT,
    )
    parser.add_argument("result", metavar="RESULT", help="The run to explain.")
    selection = parser.add_argument_group("selection")
    selection.add_argument(
        "--connection", type=whole_number, metavar="N", help="Number of a connection, from 0."
    )
    add_value(selection, "--at", "TIME", 'An instant of the run, for example "27.04 s".')
    add_all(selection, "Print all stalls and all chains.")
    add_json(parser, "one JSON object with all stalls and chains")
    add_out(parser, "Results folder in which names are looked up")


def why(result: str, *, connection: int | None, at: str | None, show_all: bool, json: bool, out: Path) -> int:
    """Print stalls and chains. `options` declares the arguments."""
    from umtslab.cli.results import find_run
    from umtslab.why import MissingTimeline, explain

    run = find_run(result, out, "one is explained")
    if connection is not None and (lacks := run.lacks_connection(connection)) is not None:
        raise UsageError(lacks)
    instant = None if at is None else _instant(at, run)
    try:
        explanation = explain(run, connection)
    except MissingTimeline as error:
        raise UsageError(str(error)) from None
    if json:
        print(json_text.dumps(_selected(explanation, instant), indent=1))
        return 0
    _print_stalls(explanation, show_all=show_all)
    for chain in _chains(explanation, connection, instant, show_all=show_all):
        _print_chain(chain)
    return 0


def _instant(text: str, run: Run) -> float:
    """Read a time within the run. Returns seconds."""
    from umtslab.quantity import quantity

    time = quantity(text)
    if time is None or time.kind != "time":
        raise UsageError(f'--at {text} is not a time: write it as in "27.04 s"')
    if not 0 <= time.base <= run.duration_s:
        raise UsageError(f"--at {text} is outside the run, which lasts {run.duration_s:g} s")
    return time.base


def _selected(explanation: Explanation, instant: float | None) -> dict[str, object]:
    """Return the JSON of an explanation.

    With an instant, it has only the stalls at the instant and the chains of the nearest events.
    """
    content = explanation.as_dict()
    if instant is not None:
        content["stalls"] = [
            stall for stall in content["stalls"] if stall["start_s"] <= instant <= stall["end_s"]
        ]
        content["chains"] = [chain.as_dict() for chain in _nearest(explanation.chains, instant)]
    return content


def _nearest(chains: Sequence[Chain], instant: float) -> list[Chain]:
    """Return the chains of the events closest to an instant."""
    if not chains:
        return []
    closest = min(abs(chain.time_s - instant) for chain in chains)
    return [chain for chain in chains if abs(chain.time_s - instant) <= closest]


def _chains(
    explanation: Explanation, connection: int | None, instant: float | None, *, show_all: bool
) -> list[Chain]:
    """Return the chains to print: by default the chain of the longest stall."""
    if instant is not None:
        stall_chains = [
            chain
            for stall, chain in zip(explanation.stalls, explanation.stall_chains, strict=True)
            if stall.start_s <= instant <= stall.end_s
        ]
        return [*stall_chains, *_nearest(explanation.chains, instant)]
    if show_all or connection is not None:
        return [*explanation.stall_chains, *explanation.chains]
    return list(explanation.stall_chains[:1] or explanation.chains[:1])


def _print_stalls(explanation: Explanation, *, show_all: bool) -> None:
    from umtslab.labels import cause_label
    from umtslab.text_table import Table, show
    from umtslab.why.links import count

    print(explanation.run.heading)
    limit = f"{explanation.limit_s:g}"
    if not explanation.stalls:
        print(f"No stall of {limit} s or more.")
    else:
        print(f"{count(len(explanation.stalls), 'stall')} of {limit} s or more")
        table = Table(">from (s)", ">to (s)", ">length (s)", ">connection", ">ue", ">timeouts", "cause")
        pairs = list(zip(explanation.stalls, explanation.stall_chains, strict=True))
        for stall, chain in pairs if show_all else pairs[:_MAX_STALLS]:
            table.add_row(*_cells(stall), cause_label(chain.label))
        show(table)
        if not show_all and len(pairs) > _MAX_STALLS:
            print(f"… and {len(pairs) - _MAX_STALLS} more: --all")
    timeouts = sum(chain.kind == "rto" for chain in explanation.chains)
    retransmissions = len(explanation.chains) - timeouts
    print(f"{count(timeouts, 'timeout')}, {count(retransmissions, 'retransmission')}")


def _cells(stall: Stall) -> list[str]:
    """Return the cells of a stall in the table, except its cause."""
    return [
        f"{stall.start_s:.3f}",
        f"{stall.end_s:.3f}",
        f"{stall.length_s:.3f}",
        str(stall.connection),
        str(stall.ue),
        str(stall.timeouts),
    ]


def _print_chain(chain: Chain) -> None:
    from umtslab.labels import cause_label
    from umtslab.text_table import heading

    print()
    heading(
        f"{_NAMES[chain.kind]} at {chain.time_s:.4f} s, connection {chain.connection}, UE {chain.ue}: "
        f"{cause_label(chain.label)}"
    )
    for index, link in enumerate(chain.links):
        arrow = "  " if index == 0 else "← "
        time = f"{link.time_s:.4f} s"
        clause = f"  [{link.clause}]" if link.clause else ""
        print(f"{arrow}{time:>12}  {link.text}{clause}")
    if chain.also:
        print(f"  also in this time: {'; '.join(chain.also)}")
