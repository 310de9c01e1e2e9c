"""Information about a run that the run itself lacks: parameters, and the command to repeat it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.run import Identity

if TYPE_CHECKING:
    from umtslab.scenario import Scenario


def now() -> str:
    """Return the current time in the format of the catalogue."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def parameters(scenario_toml: str) -> str:
    """Return a whole scenario as JSON."""
    import tomllib

    return json.dumps(tomllib.loads(scenario_toml), sort_keys=True, default=str)


def repeating_command(
    scenario: Scenario, identity: Identity, store: Path, folder: Path, *, series: bool, pcap: bool
) -> str:
    """Return the command for a run, with the scenario's file and overrides, or its copy."""
    if scenario.path is None:
        return run_command(folder / "scenario.toml", (), identity, store, series=series, pcap=pcap)
    command = run_command(Path(scenario.path), scenario.overrides, identity, store, series=series, pcap=pcap)
    file_names_code = any(not by_override for _, by_override in scenario.python_classes)
    return f"{command} --allow-code" if file_names_code else command


def run_command(
    scenario_file: Path,
    overrides: Sequence[tuple[str, str]],
    identity: Identity,
    store: Path,
    *,
    series: bool,
    pcap: bool,
) -> str:
    """Return the command for a run of a scenario file with these overrides."""
    words = ["umts", "run", str(scenario_file.absolute())]
    for key, value in overrides:
        words += ["--set", f"{key}={value}"]
    words += ["--seed", str(identity.seed), "--first-run", str(identity.run)]
    words += ["--series"] * series + ["--pcap"] * pcap
    return shlex.join([*words, "--out", str(store.absolute())])
