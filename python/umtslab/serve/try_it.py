"""The page "Try" of ``umts serve``: runs a scenario each time a visitor changes a key. Keeps no run.

`tried` returns either a summary of the run or the mistakes in the scenario. It runs in a separate
process and imports no data frame library, so that the result is there in a fraction of a second.
"""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from umtslab import _core
from umtslab.headline_metrics import headline_names
from umtslab.labels import metric_label
from umtslab.metrics import units
from umtslab.numbers import number
from umtslab.page.run import parts
from umtslab.run import finite
from umtslab.scenario import CodeNotAllowed, Scenario
from umtslab.serve.files import NoSuchFile
from umtslab.serve.form import unit_of
from umtslab.serve.scenarios import OutsideFolder, Request, SyntaxMistake, load

_SHOWN = (
    "page_time_s",
    "download_time_s",
    "transfer_time_s",
    "goodput_kbps",
    "mean_rtt_s",
    "tcp_retransmissions",
    "rto_count",
    "udp_loss_pct",
    "residual_loss_pct",
)
"""Metrics to show, the most important first."""

_MAX_SHOWN = 6
"""Maximum number of metrics to show."""

_COLUMNS = 800
"""Maximum number of points of a curve: one per pixel column of the figure."""

_MAX_TIMEOUTS = 500
"""Maximum number of timeouts that are marked in the figure."""


def tried(folder: Path, request: Request, allow_code: bool, report: object = None) -> dict[str, Any]:
    """Run a scenario, and return the result or the mistakes, as `models.TryResult`.

    `report` is the callback for progress that each job receives. It is not called: the run is short.
    """
    try:
        scenario = load(folder, request, allow_code=allow_code)
        began = time.perf_counter()
        # The page shows the time budget. Recording it changes no event of the run.
        scenario = scenario.with_overrides({"measure.budget": True})
        result = _core.simulate(scenario.core, scenario.seed, 0, series=True)
    except (_core.ScenarioError, CodeNotAllowed, NoSuchFile, OutsideFolder, SyntaxMistake) as error:
        return {"mistakes": list(mistakes(error, folder, request)), "result": None}
    took_ms = 1000 * (time.perf_counter() - began)
    return {"mistakes": [], "result": _shown(scenario, result, folder, request, took_ms)}


def _shown(
    scenario: Scenario, result: _core.RunResult, folder: Path, request: Request, took_ms: float
) -> dict[str, Any]:
    metrics = finite(result.metrics)
    times, kilobytes = _acknowledged(_rows(result.series["acked"]), scenario.duration_s)
    timeouts = [row["time_s"] for row in _rows(result.series["budget_rtos"])]
    return {
        "title": scenario.title or scenario.name,
        "took": f"{number(took_ms, 2)} ms",
        "duration_s": scenario.duration_s,
        "seed": scenario.seed,
        "warnings": list(scenario.warnings),
        "metrics": [
            _metric(name, metrics[name]) for name in headline_names(metrics, among=_SHOWN)[:_MAX_SHOWN]
        ],
        "acknowledged": {"time_s": times, "kilobytes": kilobytes},
        "timeouts_s": timeouts[:_MAX_TIMEOUTS],
        "budget": parts(metrics),
        "budget_total": f"{number(metrics.get('budget_total_s'), 4)} s",
        "command": command(folder, request),
    }


def _metric(name: str, value: float | None) -> dict[str, Any]:
    return {
        "name": name,
        "label": metric_label(name),
        "unit": units().get(name, ""),
        "value": value,
        "text": number(value),
    }


def command(folder: Path, request: Request) -> str:
    """Return the command for the same run, in the server's working directory."""
    path = folder / f"{request.name}.toml"
    with suppress(ValueError):
        path = path.relative_to(Path.cwd())
    words = ["umts", "run", str(path)]
    for key, value in request.overrides:
        words += ["--set", f"{key}={value}"]
    return shlex.join([*words, "--budget", "--series"])


def _rows(table: _core.Columns) -> list[dict[str, Any]]:
    return [json.loads(line) for line in table.json_lines().splitlines()]


def _acknowledged(rows: Sequence[dict[str, Any]], duration_s: float) -> tuple[list[float], list[float]]:
    """Return times in seconds and the acknowledged kilobytes of all connections at these times.

    `rows` are the arrivals of ACKs in order of time. The sum only grows, so one point per pixel column,
    the last one, draws the same steps as all points.
    """
    acknowledged_of: dict[int, int] = {}
    total = 0
    points_by_column: dict[int, tuple[float, float]] = {}
    for row in rows:
        # The SYN has sequence number 0, so the first byte of data has number 1.
        acknowledged = max(0, row["ack"] - 1)
        before = acknowledged_of.get(row["connection"], 0)
        if acknowledged > before:
            total += acknowledged - before
            acknowledged_of[row["connection"]] = acknowledged
            column = int(_COLUMNS * row["time_s"] / duration_s)
            points_by_column[column] = (row["time_s"], total / 1000)
    points = [(0.0, 0.0), *points_by_column.values(), (duration_s, total / 1000)]
    return [time_s for time_s, _ in points], [kilobytes for _, kilobytes in points]


# ── Mistakes ────────────────────────────────────────────────────────────────────────────────────────


def mistakes(error: Exception, folder: Path, request: Request) -> Iterator[dict[str, Any]]:
    """Yield each mistake: key or line, message, and a value that is right, if it can be guessed."""
    if isinstance(error, _core.ScenarioError):
        own_files = (f"{request.name}.toml", str(folder / f"{request.name}.toml"))
        for mistake in _each(error):
            # Lines of other files are not in the editor.
            is_in_editor = mistake.file in own_files
            by_override = mistake.file == "override"
            yield {
                "key": mistake.key,
                "line": mistake.line if is_in_editor else None,
                "column": mistake.column if is_in_editor else None,
                "message": _sentence(mistake.message, mistake.help),
                "repair": _repair(mistake, folder, request) if by_override else None,
            }
        return
    line, column = (error.line, error.column) if isinstance(error, SyntaxMistake) else (None, None)
    text = str(error)
    if isinstance(error, CodeNotAllowed):
        text = "This scenario names Python code. Start the page with umts serve --allow-code if you trust it."
    yield {"key": None, "line": line, "column": column, "message": _sentence(text, None), "repair": None}


def _each(error: Any) -> Iterable[Any]:
    """Return the mistakes of an error. An error without a list of mistakes is a single mistake."""
    return getattr(error, "mistakes", None) or (error,)


def _sentence(message: str, advice: str | None) -> str:
    text = message if advice is None else f"{message}: {advice}"
    return text if text.endswith((".", "?", ")")) else f"{text}."


def _repair(mistake: Any, folder: Path, request: Request) -> str | None:
    """Return the value that was probably meant instead of the typed one, or None.

    A number without a unit gets the unit of the value in the file; an unknown word is replaced by the
    most similar known word. Both cases are recognised by the text of the message.
    """
    typed = dict(request.overrides).get(mistake.key)
    if typed is None:
        return None
    if "has no unit" in mistake.message:
        unit = unit_of(_value_in_file(folder, request.name, mistake.key))
        return f"{typed} {unit}" if unit else None
    known = re.findall(r'"([^"]+)"', mistake.help or "") if "not a known value" in mistake.message else []
    nearest = get_close_matches(typed, known, 1)
    return nearest[0] if nearest else None


def _value_in_file(folder: Path, name: str, key: str) -> str | None:
    from umtslab.serve.form import form

    scenario = load(folder, Request(name, text=None, overrides=()), allow_code=True)
    return next((entry.value for entry in form(scenario) if entry.key == key), None)
