"""``umts replay``: repeats a recorded emulation in simulated time."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab import _core
from umtslab.cli.failures import UsageError
from umtslab.cli.options import add_out
from umtslab.cli.results import find_runs
from umtslab.emulate.faults import recorded_orders
from umtslab.emulate.session import RECORDING
from umtslab.exit_status import FAILED
from umtslab.scenario import Scenario, refuse_code

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts replay``."""
    parser.explain(
        "Sends the recorded packets at the same instants through the same network, at the speed of a "
        "simulation. Exit status: 0 if every event was the same; 1 if not; 2 for wrong input."
    )
    parser.add_argument(
        "result",
        metavar="RESULT",
        help="An emulation recorded with --record: its run folder, its key, or a results folder.",
    )
    files = parser.add_argument_group("files")
    add_out(files, "Results folder in which keys are looked up")
    files.add_argument(
        "--pcap", type=Path, metavar="FOLDER", help="Write captures (pcapng) into this folder."
    )


def replay(result: str, *, out: Path, pcap: Path | None) -> int:
    """Repeat a recorded emulation and compare. `options` declares the arguments."""
    run = find_runs(result, out)[0]
    folder = run.folder
    if folder is None or not (folder / RECORDING).is_file():
        raise UsageError(f"{result} is not a recorded emulation: record one with umts emulate --record")
    card = json.loads((folder / "emulation.json").read_text(encoding="utf-8"))
    if pcap is not None:
        pcap.mkdir(parents=True, exist_ok=True)
    scenario = Scenario.load(folder / "scenario.toml")
    refuse_code(scenario, allow_in_overrides=False)  # emulations have none
    replayed = _core.replay(
        scenario.core,
        run.seed,
        str(folder / RECORDING),
        real_ues=None if card["session"]["wires"] else 1 + len(card["session"]["ues"]),
        end_s=run.duration_s,
        faults=recorded_orders(card),
        has_internet=card["session"]["has_internet"],
        splits=bool(card["session"].get("proxy")),
        # Emulations recorded before this key existed always kept the flows.
        keep_flows=card["session"].get("keep_flows", True),
        pcap_dir=None if pcap is None else str(pcap),
        pdus=True,
    )
    for failure in replayed.lost:
        print(f"umts: {failure}", file=sys.stderr)
    print(f"replayed {replayed.duration_s:.3f} s with {replayed.events} events")
    if _fingerprint_format(replayed.digest) != _fingerprint_format(card["digest"]):
        print(
            f"umts: cannot verify the replay: {run.identity.code} recorded the emulation with another "
            "fingerprint format. Record it again with this version to compare",
            file=sys.stderr,
        )
        return FAILED
    if replayed.digest == card["digest"]:
        print("every event was the same as in the emulation")
        return FAILED if replayed.lost else 0
    print(
        f"umts: the replay differs from the emulation, which was recorded by {run.identity.code} "
        f"({run.events} events)",
        file=sys.stderr,
    )
    return FAILED


def _fingerprint_format(fingerprint: str | None) -> str:
    """Return the format of a fingerprint, its part before the colon. Old fingerprints have none."""
    return (fingerprint or "").rpartition(":")[0]
