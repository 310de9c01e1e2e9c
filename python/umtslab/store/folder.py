"""The files of a stored run: one folder per run.

``run.json``, the card, identifies the run and lists the digests of the other files. The card is
written last and seals the folder: a folder without card is not a run, and changes of files are
detected.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umtslab import _core
from umtslab.atomic_files import stored_text
from umtslab.former_names import current_metrics
from umtslab.run import Identity, Run
from umtslab.store.seal import Damage, Damaged, flaws_of_run, sealed
from umtslab.version import CodeVersion

if TYPE_CHECKING:
    from umtslab.scenario import Scenario


class OtherLayout(ValueError):
    """The store was written by a version of the program with another layout of files."""


class UnusablePath(ValueError):
    """The path of a store is not text."""


FORMAT = 1
"""Version of the folder's layout."""

_CARD = "run.json"
_PARTS = ("series", "captures")
"""Optional folders in a run folder."""


def write_run(folder: Path, run: Run, scenario: Scenario) -> None:
    """Write all files except captures and tables that the core has written.

    Equal runs give equal bytes: keys are sorted, floats have their shortest exact form, and there
    are no timestamps. The folder is not a run until it is sealed.
    """
    (folder / "scenario.toml").write_text(scenario.to_toml(), encoding="utf-8")
    (folder / "metrics.json").write_text(_in_lines(run.metrics), encoding="utf-8")
    for name, table in sorted(run.tables.items()):
        _write_table(folder, name, table)


def _write_table(folder: Path, name: str, table: Any) -> None:
    """Write a table of the core, or a data frame made by an emulation."""
    if isinstance(table, _core.Columns):
        table.write(str(folder), name)
        return
    path = folder / ("connections.parquet" if name == "connections" else f"series/{name}.parquet")
    path.parent.mkdir(exist_ok=True)
    octets = io.BytesIO()
    table.write_parquet(octets, compression="zstd")
    path.write_bytes(octets.getbuffer())


def seal_run(folder: Path, run: Run, digests: Mapping[str, str]) -> None:
    """Write the identity of the run and the digests of its files, which must be complete."""
    card = {**_identity_card(run), "files": digests}
    (folder / _CARD).write_text(sealed(card, sort_keys=True), encoding="utf-8")


def read_run(folder: Path) -> Run:
    """Read a run folder. Its tables are read on demand.

    Raises
    ------
    OtherLayout
        If the folder has the layout of another version.
    Damaged
        If a file is damaged.
    """
    if (layout := other_layout(folder)) is not None:
        raise OtherLayout(f"{folder}: layout {layout}, but this version reads layout {FORMAT}")
    flaws = flaws_of_run(folder)
    if not flaws:
        try:
            return _read(folder)
        except (KeyError, TypeError, ValueError, OSError):
            # The folder was written before seals existed and was changed, or changes right now.
            flaws = (f"{_CARD} is not as it was written",)
    raise Damaged(Damage("run", folder.name, flaws))


def _read(folder: Path) -> Run:
    card = json.loads(stored_text(folder / _CARD))
    code = CodeVersion(card["version"], card["commit"], card["code"])
    identity = Identity(card["scenario_hash"], code, card["seed"], card["run"])
    metrics = current_metrics(json.loads(stored_text(folder / "metrics.json")))
    return Run(
        scenario=card["scenario"],
        identity=identity,
        metrics=metrics,
        events=card["events"],
        duration_s=card["duration_s"],
        folder=folder,
    )


def other_layout(folder: Path) -> int | None:
    """Return the layout of a run folder if it is another version's, else None."""
    try:
        card = json.loads(stored_text(folder / _CARD))
    except (OSError, ValueError, RecursionError):
        return None
    layout = card.get("format") if isinstance(card, dict) else None
    return layout if isinstance(layout, int) and is_other_layout(layout, FORMAT) else None


def is_other_layout(number: int, ours: int) -> bool:
    """Whether a number is another version's layout, and not ours with a flipped bit or garbage.

    Layout numbers of different versions differ in at least two bits, and are below 1000.
    """
    return 0 < number < 1000 and (number ^ ours).bit_count() >= 2


def is_run_folder(folder: Path) -> bool:
    """Whether the folder has a ``run.json``, readable or not."""
    return os.path.lexists(folder / _CARD)


def carry_over(old: Path, new: Path, digests: Mapping[str, str]) -> bool:
    """Copy series and captures from an old folder of a run to the new one, if they are missing there.

    Damaged parts are not copied. If the metrics of the two folders differ, nothing is copied,
    because the series would not belong to the new metrics. Returns whether anything was copied.
    """
    damaged_parts = {file.partition("/")[0] for file, _ in _core.check_run(str(old))}
    if _CARD in damaged_parts:
        return False
    files = json.loads(stored_text(old / _CARD)).get("files", {})
    if files.get("metrics.json") != digests["metrics.json"]:
        return False
    missing_parts = [part for part in _PARTS if (old / part).is_dir() and not (new / part).exists()]
    copied = [part for part in missing_parts if part not in damaged_parts]
    if not copied:
        return False
    import shutil

    for part in copied:
        shutil.copytree(old / part, new / part)
    return True


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


def _in_lines(content: Mapping[str, object]) -> str:
    """Format names and values as JSON, one per line."""
    return json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n"
