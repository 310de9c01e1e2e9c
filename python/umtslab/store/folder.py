"""The files of one run folder, written and read."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umtslab import _core
from umtslab.run import CodeVersion, Identity, Run

if TYPE_CHECKING:
    from umtslab.scenario import Scenario


class OtherLayout(ValueError):
    """A version of the program made this store that keeps runs differently."""


FORMAT = 1
"""Version of the folder's layout."""


def write_run(folder: Path, run: Run, scenario: Scenario) -> None:
    """Write everything but captures and what tables of the run the core has written itself.

    Equal runs give equal bytes: keys are sorted, floats have their shortest exact form, and no clock is
    asked.
    """
    _write_json(folder / "run.json", _identity_card(run))
    (folder / "scenario.toml").write_text(scenario.to_toml(), encoding="utf-8")
    _write_json(folder / "metrics.json", run.metrics)
    for name, table in sorted(run.tables.items()):
        _write_table(folder, name, table)


def _write_table(folder: Path, name: str, table: Any) -> None:
    """A table of the core's, or a data frame, which an emulation makes of its packets."""
    if isinstance(table, _core.Columns):
        table.write(str(folder), name)
        return
    place = folder / ("connections.parquet" if name == "connections" else f"series/{name}.parquet")
    place.parent.mkdir(exist_ok=True)
    octets = io.BytesIO()
    table.write_parquet(octets, compression="zstd")
    place.write_bytes(octets.getbuffer())


def read_run(folder: Path) -> Run:
    """Read a run folder; its tables stay on disk until asked for."""
    card = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    if card["format"] != FORMAT:
        raise OtherLayout(f"{folder}: layout {card['format']}, but this version reads layout {FORMAT}")
    code = CodeVersion(card["version"], card["commit"], card["code"])
    identity = Identity(card["scenario_hash"], code, card["seed"], card["run"])
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    return Run(card["scenario"], identity, metrics, card["events"], card["duration_s"], folder)


def is_run_folder(folder: Path) -> bool:
    """Whether `folder` looks like a run folder."""
    return (folder / "run.json").is_file()


def same_metrics(one: Path, other: Path) -> bool:
    """Whether two folders of the same run have the same outcome."""
    return (one / "metrics.json").read_bytes() == (other / "metrics.json").read_bytes()


def _identity_card(run: Run) -> Mapping[str, object]:
    return {
        "format": FORMAT,
        "scenario": run.scenario,
        "scenario_hash": run.identity.scenario_hash,
        "version": run.identity.code.version,
        "commit": run.identity.code.commit,
        "code": run.identity.code.code,
        "seed": run.seed,
        "run": run.run,
        "events": run.events,
        "duration_s": run.duration_s,
    }


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")
